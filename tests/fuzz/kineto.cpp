// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "profiles/import/kineto_trace.hpp"
#include "profiles/import/trace_layers.hpp"
#include "profiles/import/trace_timeline.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

// Sums of nanoseconds, as seconds in doubles.
bool same(Seconds a, Seconds b) {
  return std::abs(a.si - b.si) <= 1e-9 * (1e-3 + std::abs(a.si) + std::abs(b.si));
}

std::string told(const KinetoTrace& trace) {
  std::string text;
  for (const Finding& finding : trace.findings) {
    if (finding.message.empty()) {
      broken("a finding says something");
    }
    text += to_text(finding) + "\n";
  }
  return text;
}

// docs/import.md: what a step and what a stream add up to.
std::string told(const TraceTimeline& timeline) {
  std::string text;
  for (const TracedStep& step : timeline.steps) {
    if (!same(step.wall, step.compute + step.exposed + step.idle)) {
      broken("a step is computation, exposed communication and nothing else but idle");
    }
    text += step.name + " " + std::to_string(step.wall.si) + "\n";
  }
  for (const TracedStream& stream : timeline.streams) {
    if (!same(stream.busy - stream.overlap + stream.idle, stream.span)) {
      broken("durations and gaps of a stream add up to its span");
    }
  }
  return text;
}

std::string told(const TracedLayers& layers) {
  if (layers.attributed > layers.all && !same(layers.attributed, layers.all)) {
    broken("layers do not take longer than all there is");
  }
  const std::string table = layer_times_csv(layers, {4, 1, 1, 1, 1});
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (std::count(line.begin(), line.end(), ',') != 7) {
      broken("a line of the table of layers has eight cells");
    }
  }
  return table;
}

}  // namespace

std::string read_kineto_trace(std::string_view input) {
  std::istringstream text{std::string(input)};
  const KinetoTrace trace = read_kineto(text, "input");
  return told(trace) + told(timeline_of(trace)) + told(layers_of(trace, usual_layer_rules()));
}

}  // namespace payoff::fuzz
