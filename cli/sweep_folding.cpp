// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_folding.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/counted.hpp"
#include "sim/not_folded.hpp"

namespace payoff {

std::string why_not_folded(const sim::FoldReport& fold, const ReadExperiment& read) {
  const ParallelLayout& layout = read.experiment.layout;
  return fold.ranks > 0 && fold.places == fold.ranks && layout.ranks() > layout.pp
             ? sim::why_not_folded(read.cluster_state, layout, {})
             : std::string();
}

// Quotes inside of a value are written with a backslash: the text is the key's.
void SweepFolding::add(const std::string& lines) {
  constexpr std::string_view begins = "\"not_folded\":\"";
  ++all_;
  std::set<std::string> reasons;
  const std::string_view all = lines;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = all.substr(begin, end - begin);
    if (line.find(begins) != std::string_view::npos) {
      reasons.insert(nlohmann::json::parse(line).at("not_folded").get<std::string>());
    }
    begin = end + 1;
  }
  for (const std::string& reason : reasons) {
    ++jobs_[reason];
  }
}

void SweepFolding::report(Session& session) const {
  for (const auto& [reason, jobs] : jobs_) {
    session.note(
        fmt::format("of {} {} ran every rank by itself: {}", counted(all_, "job"), jobs, reason));
  }
}

}  // namespace payoff
