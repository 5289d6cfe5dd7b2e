// SPDX-License-Identifier: Apache-2.0
#include "study/trace_replay.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/chakra_writer.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinAbs;

namespace {

TraceReplay again(const ChakraTrace& trace) { return replay(trace, told_durations(trace)); }

void check_times(const TraceTimes& times, double wall, double compute, double hidden,
                 double exposed) {
  CHECK_THAT(times.wall / 1_us, WithinAbs(wall, 1e-6));
  CHECK_THAT(times.compute / 1_us, WithinAbs(compute, 1e-6));
  CHECK_THAT(times.hidden / 1_us, WithinAbs(hidden, 1e-6));
  CHECK_THAT(times.exposed / 1_us, WithinAbs(exposed, 1e-6));
  CHECK_THAT(times.idle / 1_us, WithinAbs(wall - compute - exposed, 1e-6));
}

std::string on_stream(std::uint64_t stream) { return number("stream", 9, stream); }

// A second opinion: the clock goes on by microseconds; at each, what ends ends, what is ready joins
// the line of its lane, and every free lane takes the one who has waited longest.
std::vector<std::int64_t> by_the_clock(const ChakraTrace& trace, std::int64_t lanes) {
  const std::size_t count = trace.nodes.size();
  std::vector<std::int64_t> begin(count, -1);
  std::vector<std::int64_t> ready(count, -1);
  const auto has_ended = [&](std::size_t node, std::int64_t now) {
    return begin[node] >= 0 &&
           begin[node] + static_cast<std::int64_t>(trace.nodes[node].duration_us) <= now;
  };
  std::size_t begun = 0;
  for (std::int64_t now = 0; begun < count; ++now) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::size_t>& waits = trace.nodes[i].waits;
      if (ready[i] < 0 && std::all_of(waits.begin(), waits.end(),
                                      [&](std::size_t on) { return has_ended(on, now); })) {
        ready[i] = now;
      }
    }
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::size_t next = count;
      bool is_free = true;
      for (std::size_t i = 0; i < count; ++i) {
        if (trace.nodes[i].stream != lane) {
          continue;
        }
        is_free = is_free && (begin[i] < 0 || has_ended(i, now));
        if (begin[i] < 0 && ready[i] >= 0 && (next == count || ready[i] < ready[next])) {
          next = i;
        }
      }
      if (is_free && next < count) {
        begin[next] = now;
        ++begun;
      }
    }
  }
  return begin;
}

}  // namespace

// 0: 100 us; then a message of 50 us beside 80 us of computation; then 10 us that wait for both.
TEST_CASE("a message hides behind what is computed beside it") {
  const ChakraTrace trace = read_chakra_text(
      metadata() + written({1, COMP, 100}) + written({2, COLL, 50, {1}, collective(0, 8)}) +
      written({3, COMP, 80, {1}}) + written({4, COMP, 10, {2, 3}}));
  const TraceReplay result = again(trace);
  check_times(result.times, 190, 190, 50, 0);
  CHECK(result.path == std::vector<std::size_t>{0, 2, 3});
  CHECK_THAT(result.chain / 1_us, WithinAbs(190, 1e-6));
}

TEST_CASE("a longer one is exposed, and is the critical path") {
  const ChakraTrace trace = read_chakra_text(
      metadata() + written({1, COMP, 100}) + written({2, COLL, 150, {1}, collective(0, 8)}) +
      written({3, COMP, 80, {1}}) + written({4, COMP, 10, {2, 3}}));
  const TraceReplay result = again(trace);
  check_times(result.times, 260, 190, 80, 70);
  CHECK(result.path == std::vector<std::size_t>{0, 1, 3});
  CHECK_THAT(result.path_time[static_cast<std::size_t>(TraceWork::communication)] / 1_us,
             WithinAbs(150, 1e-6));
}

TEST_CASE("messages of one group follow each other, and those of two run beside each other") {
  const auto both = [](const std::string& second) {
    return read_chakra_text(metadata() + written({1, COLL, 30, {}, collective(0, 8, "dp")}) +
                            written({2, COLL, 40, {}, collective(0, 8, second)}));
  };
  CHECK_THAT(again(both("dp")).times.wall / 1_us, WithinAbs(70, 1e-6));
  CHECK_THAT(again(both("tp")).times.wall / 1_us, WithinAbs(40, 1e-6));
  CHECK_THAT(again(both("dp")).chain / 1_us, WithinAbs(40, 1e-6));
}

TEST_CASE("what the host does is idle for the GPU") {
  const ChakraTrace trace =
      read_chakra_text(metadata() + written({1, COMP, 25, {}, number("is_cpu_op", 27, 1)}) +
                       written({2, COMP, 100, {1}}));
  check_times(again(trace).times, 125, 100, 0, 0);
}

// By readiness node 2 would go first: node 1 waits for the host. It was launched after it.
TEST_CASE("where starts are told, a stream keeps its order, else it takes what is ready") {
  const std::string host = number("is_cpu_op", 27, 1);
  const auto job = [&](bool tells) {
    return read_chakra_text(
        metadata() + written({5, COMP, 50, {}, host + (tells ? begins(1000) : "")}) +
        written({1, COMP, 10, {5}, on_stream(7) + (tells ? begins(1050) : "")}) +
        written({2, COMP, 10, {}, on_stream(7) + (tells ? begins(1060) : "")}));
  };
  CHECK_THAT(again(job(false)).times.wall / 1_us, WithinAbs(60, 1e-6));
  CHECK_THAT(again(job(true)).times.wall / 1_us, WithinAbs(70, 1e-6));
  check_times(told_times(job(true)), 70, 20, 0, 0);
  CHECK_FALSE(tells_starts(job(false)));
}

TEST_CASE("nodes without a start are no part of what was measured") {
  const ChakraTrace trace = read_chakra_text(metadata() + written({1, METADATA, 3}) +
                                             written({2, COMP, 40, {1}, begins(5000)}));
  check_times(told_times(trace), 40, 40, 0, 0);
}

TEST_CASE("random graphs on random streams are run as by a clock that goes on by microseconds") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  for (int job = 0; job < 60; ++job) {
    std::string text = metadata();
    const std::uint32_t count = 2 + below(25);
    for (std::uint32_t i = 1; i <= count; ++i) {
      std::string more = on_stream(below(3));
      for (std::uint32_t on = 1; on < i; ++on) {
        more += below(5) == 0 ? whole(5, on) : "";
      }
      text += written({i, COMP, 1 + below(20), {}, more});
    }
    const ChakraTrace trace = read_chakra_text(text);
    REQUIRE(trace.is_whole());
    const TraceReplay result = again(trace);
    const std::vector<std::int64_t> expected = by_the_clock(trace, 3);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(job, i);
      CHECK_THAT(result.begin[i] / 1_us, WithinAbs(static_cast<double>(expected[i]), 1e-6));
    }
    CHECK(result.chain <= result.times.wall * (1 + 1e-12));
  }
}
