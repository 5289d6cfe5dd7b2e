// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "profiles/import/by_cause.hpp"
#include "profiles/import/samples.hpp"

namespace payoff {

std::string title_of(const SamplesPoint& point) {
  std::string title = point.kernel;
  if (!point.implementation.empty()) {  // a table may leave it to a default
    title += " (" + point.implementation + ")";
  }
  for (const std::string* part : {&point.state, &point.mode, &point.input}) {
    title += part->empty() ? "" : ", " + *part;
  }
  for (const auto& [name, value] : point.parameters) {
    title += fmt::format(", {}={}", name, value);
  }
  return title;
}

void report_twins(const std::vector<SamplesFile>& files, const SourceMap& sources,
                  Diagnostics& diagnostics) {
  std::map<std::string, Span> seen;
  const std::string two_runs =
      "two runs are two sets of samples: fit one, and `payoff calibrate check` judges it by the "
      "other";
  import_detail::ByCause causes(sources);  // one for each pair of files
  const auto add = [&](const std::string& title, Span place) {
    const auto [first, is_new] = seen.emplace(title, place);
    if (!is_new) {
      causes.add(fmt::format("{} {}", first->second.source, place.source),
                 {Severity::error,
                  "the point " + title + " is there twice",
                  place,
                  "first at " + sources.place(first->second),
                  first->second.source == place.source ? "one of them" : two_runs,
                  {}},
                 title);
    }
  };
  for (const SamplesFile& file : files) {
    for (const SamplesPoint& point : file.points) {
      add(title_of(point), point.place);
    }
    for (const SamplesTogether& together : file.together) {
      add(title_of(together), together.place);
    }
  }
  causes.tell(diagnostics);
}

}  // namespace payoff
