// SPDX-License-Identifier: Apache-2.0
#include "cli/observed_trace.hpp"

#include <istream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/import_files.hpp"
#include "cli/import_report.hpp"

namespace payoff {

std::optional<Observation> observe_trace(const Argument& named, Session& session) {
  OneTrace one;
  with_import_file(named.text, session,
                   [&](std::istream& stream) { one.trace = read_kineto(stream, named.text); });
  const std::size_t errors = session.diagnostics().error_count();
  for (const Finding& finding : one.trace.findings) {
    const bool is_error = finding.effect == Effect::rejected;
    session.diagnostics().add(
        {is_error ? Severity::error : Severity::warning, to_text(finding), named.span, "", {}, {}});
  }
  if (session.diagnostics().error_count() > errors) {
    return std::nullopt;
  }
  one.timeline = timeline_of(one.trace);
  const std::string why = why_no_measurement(one.timeline);
  TraceReport report;
  report.traces.push_back(std::move(one));
  const std::optional<TracedJob> job = job_of(report);
  if (!job || !why.empty()) {
    session.diagnostics().error(
        named.span, fmt::format("{} is no measurement of a step", backquoted(named.text)), why);
    return std::nullopt;
  }
  Observation observation;
  observation.step = job->step;
  observation.exposed = job->exposed;
  observation.noise = job->noise;
  return observation;
}

}  // namespace payoff
