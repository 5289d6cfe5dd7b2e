// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "profiles/import/chakra_trace.hpp"
#include "study/trace_pricing.hpp"
#include "study/trace_replay.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

// docs/import.md: what a step adds up to, and nothing begins before what it waits for has ended.
std::string told(const ChakraTrace& trace) {
  const std::vector<Seconds> durations = told_durations(trace);
  const TraceReplay again = replay(trace, durations);
  const auto near = [&](Seconds a, Seconds b) {
    return std::abs(a.si - b.si) <= 1e-9 * (1e-3 + again.times.wall.si);
  };
  const TraceTimes& times = again.times;
  if (!near(times.wall, times.compute + times.exposed + times.idle)) {
    broken("a step is computation, exposed communication and nothing else but idle");
  }
  if (again.chain > times.wall && !near(again.chain, times.wall)) {
    broken("no chain of dependencies takes longer than the whole");
  }
  Seconds path{};
  for (const std::size_t node : again.path) {
    path += durations[node];
  }
  if (!near(path, times.wall)) {
    broken("the nodes of the critical path follow each other from the first to the last moment");
  }
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    for (const std::size_t on : trace.nodes[i].waits) {
      const Seconds ended = again.begin[on] + durations[on];
      if (ended > again.begin[i] && !near(ended, again.begin[i])) {
        broken("a node begins when all that it waits for has ended");
      }
    }
  }
  std::size_t messages = 0;
  for (const TraceMessages& each : messages_of(trace)) {
    messages += each.nodes.size();
  }
  return std::to_string(messages) + " messages, " + std::to_string(times.wall.si) + "\n";
}

}  // namespace

std::string read_chakra_trace(std::string_view input) {
  std::istringstream stream{std::string(input)};
  const ChakraTrace trace = read_chakra(stream, "input");
  std::string text;
  for (const Finding& finding : trace.findings) {
    if (finding.message.empty()) {
      broken("a finding says something");
    }
    text += to_text(finding) + "\n";
  }
  if (!trace.is_whole()) {
    return text;
  }
  if (trace.order.size() != trace.nodes.size() || trace.nodes.empty()) {
    broken("a trace that is read has an order of all its nodes");
  }
  return text + told(trace);
}

}  // namespace payoff::fuzz
