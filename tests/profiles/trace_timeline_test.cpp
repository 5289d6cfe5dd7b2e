// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/trace_timeline.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/profiles/trace_writer.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using test::TraceWriter;

namespace {

constexpr double ns = 1e-9;

}  // namespace

TEST_CASE("communication is exposed where nothing else runs") {
  // compute   [0, 100)            [160, 200)
  // messages       [50, 150)
  // step  [0, 200): 50 hidden, 50 exposed, 10 idle.
  TraceWriter writer;
  writer.annotate("ProfilerStep#1", -10, 200);
  writer.kernel(TraceWriter::compute, 0, 100, -5);
  writer.all_reduce(50, 100, 40);
  writer.kernel(TraceWriter::compute, 160, 40, 60);
  const TraceTimeline timeline = timeline_of(writer.read());
  REQUIRE(timeline.steps.size() == 1);
  const TracedStep& step = timeline.steps[0];
  CHECK_THAT(step.host.si, WithinAbs(210e-6, ns));
  CHECK_THAT(step.wall.si, WithinAbs(200e-6, ns));
  CHECK_THAT(step.compute.si, WithinAbs(140e-6, ns));
  CHECK_THAT(step.hidden.si, WithinAbs(50e-6, ns));
  CHECK_THAT(step.exposed.si, WithinAbs(50e-6, ns));
  CHECK_THAT(step.idle.si, WithinAbs(10e-6, ns));
}

TEST_CASE(
    "a step begins with the first thing that it launched and ends where the next one begins") {
  // The host is ahead: both steps are launched before the first has run.
  TraceWriter writer;
  writer.annotate("ProfilerStep#1", 0, 10);
  writer.annotate("ProfilerStep#2", 10, 20);
  writer.kernel(TraceWriter::compute, 5, 100, 1);
  writer.kernel(TraceWriter::compute, 105, 100, 2);
  writer.kernel(TraceWriter::compute, 207, 90, 11);
  const TraceTimeline timeline = timeline_of(writer.read());
  CHECK(timeline.has_steps);
  REQUIRE(timeline.steps.size() == 2);
  CHECK_THAT(timeline.steps[0].wall.si, WithinAbs(202e-6, ns));
  CHECK(timeline.steps[0].is_whole);
  CHECK_THAT(timeline.steps[1].wall.si, WithinAbs(90e-6, ns));
  CHECK_FALSE(timeline.steps[1].is_whole);  // what the host does after it is not in the trace
}

TEST_CASE("without steps the trace is one, and without launches annotations are the steps") {
  TraceWriter whole;
  whole.kernel(TraceWriter::compute, 5, 10, 1);
  whole.kernel(TraceWriter::compute, 50, 10, 2);
  const TraceTimeline all = timeline_of(whole.read());
  REQUIRE(all.steps.size() == 1);
  CHECK(all.steps[0].name == "trace");
  CHECK_THAT(all.steps[0].wall.si, WithinAbs(55e-6, ns));

  TraceWriter unlaunched;
  unlaunched.annotate("ProfilerStep#1", 0, 40);
  unlaunched.event("kernel", "k", 0, 7, 10, 20, R"("device": 0, "stream": 7)");
  const TraceTimeline annotated = timeline_of(unlaunched.read());
  REQUIRE(annotated.steps.size() == 1);
  CHECK_THAT(annotated.steps[0].wall.si, WithinAbs(40e-6, ns));
  CHECK_THAT(annotated.steps[0].idle.si, WithinAbs(20e-6, ns));
}

TEST_CASE("a stream is a chain: durations and gaps are its span, and late launches part of gaps") {
  TraceWriter writer;
  writer.annotate("note", 0, 100);
  writer.kernel(TraceWriter::compute, 0, 10, -5);
  writer.kernel(TraceWriter::compute, 30, 10, 25);  // launched 15 after the end of the first
  writer.kernel(TraceWriter::compute, 60, 10, 26);  // launched in time, and waited
  writer.kernel(TraceWriter::compute, 68, 10, 27);  // begins before the end
  const TraceTimeline timeline = timeline_of(writer.read());
  REQUIRE(timeline.streams.size() == 1);
  const TracedStream& stream = timeline.streams[0];
  CHECK(stream.events == 4);
  CHECK_THAT(stream.span.si, WithinAbs(78e-6, ns));
  CHECK_THAT(stream.busy.si, WithinAbs(40e-6, ns));
  CHECK_THAT(stream.overlap.si, WithinAbs(2e-6, ns));
  CHECK_THAT(stream.idle.si, WithinAbs(40e-6, ns));
  CHECK_THAT(stream.late.si, WithinAbs(15e-6, ns));
}

TEST_CASE("the shares of steps are those of a count microsecond by microsecond") {
  constexpr int length = 400;
  std::mt19937 draw(7);
  for (int round = 0; round < 40; ++round) {
    TraceWriter writer;
    std::array<bool, length> computes{};
    std::array<bool, length> communicates{};
    writer.annotate("ProfilerStep#1", 0, 200);
    writer.annotate("ProfilerStep#2", 200, length);
    // Both steps begin with a kernel of a known time.
    for (const int begin : {0, 200}) {
      writer.kernel(3, begin, 1, begin);
      computes[static_cast<std::size_t>(begin)] = true;
    }
    for (int i = 0; i < 12; ++i) {
      const auto begin = static_cast<int>(draw() % 199 + (i % 2 == 0 ? 1 : 201));
      const auto duration = static_cast<int>(draw() % 30);
      const int end = std::min(begin + duration, length);
      const bool is_message = draw() % 2 == 0;
      if (is_message) {
        writer.all_reduce(begin, end - begin, begin);
      } else {
        writer.kernel(i, begin, end - begin, begin);
      }
      std::array<bool, length>& busy = is_message ? communicates : computes;
      std::fill(busy.begin() + begin, busy.begin() + end, true);
    }
    const TraceTimeline timeline = timeline_of(writer.read());
    REQUIRE(timeline.steps.size() == 2);
    // The second step ends with the last thing that it launched.
    int end = length;
    while (!computes[static_cast<std::size_t>(end - 1)] &&
           !communicates[static_cast<std::size_t>(end - 1)]) {
      --end;
    }
    for (int k = 0; k < 2; ++k) {
      int compute = 0;
      int exposed = 0;
      int hidden = 0;
      for (int t = 200 * k; t < (k == 0 ? 200 : end); ++t) {
        const auto at = static_cast<std::size_t>(t);
        compute += computes[at] ? 1 : 0;
        hidden += computes[at] && communicates[at] ? 1 : 0;
        exposed += !computes[at] && communicates[at] ? 1 : 0;
      }
      const TracedStep& step = timeline.steps[static_cast<std::size_t>(k)];
      CHECK_THAT(step.compute.si, WithinAbs(compute * 1e-6, ns));
      CHECK_THAT(step.hidden.si, WithinAbs(hidden * 1e-6, ns));
      CHECK_THAT(step.exposed.si, WithinAbs(exposed * 1e-6, ns));
      CHECK_THAT((step.compute + step.exposed + step.idle).si, WithinAbs(step.wall.si, ns));
    }
  }
}

TEST_CASE("of several GPUs in a trace the busiest has the steps") {
  TraceWriter writer;
  writer.event("kernel", "k", 0, 7, 0, 10, R"("device": 0, "stream": 7)");
  writer.event("kernel", "k", 1, 7, 0, 30, R"("device": 1, "stream": 7)");
  const TraceTimeline timeline = timeline_of(writer.read());
  CHECK(timeline.devices == 2);
  CHECK(timeline.device == 1);
  CHECK_THAT(timeline.steps.at(0).wall.si, WithinAbs(30e-6, ns));
}

TEST_CASE("the median is the middle, or between the two in the middle") {
  CHECK(median({}) == 0.0);
  CHECK(median({3.0, 1.0, 2.0}) == 2.0);
  CHECK(median({4.0, 1.0, 2.0, 3.0}) == 2.5);
}
