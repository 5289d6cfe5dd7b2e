// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/units.hpp"
#include "profiles/import/chakra_trace.hpp"

// A Chakra trace run again, on paper: recurrences over its graph. A node begins when all that it
// waits for has ended and its lane is free. A lane is a stream of the GPU, as the trace numbers
// them, or a thread of the host; where it does not: one for computation, one for memory, one for
// each group that communicates and for each direction of sends (NCCL runs every group beside the
// others). A lane takes its nodes in the order of their start times where the trace tells any
// (that is how they were launched), else as they become ready, of those the file's first.
//
//   wall = compute + exposed + idle        communication = hidden + exposed
//
// as trace_timeline.hpp has it; what the host does is idle for the GPU. Nothing here knows of
// contention: two messages at once take what each takes alone.

namespace payoff {

enum class TraceWork : std::uint8_t { host, compute, memory, communication };
inline constexpr int trace_work_count = 4;
[[nodiscard]] std::string_view name(TraceWork work);
[[nodiscard]] TraceWork work_of(const ChakraNode& node);

struct TraceTimes {
  Seconds wall{};
  Seconds compute{};
  Seconds hidden{};
  Seconds exposed{};
  Seconds idle{};
};

struct TraceReplay {
  TraceTimes times;
  std::vector<Seconds> begin;  // of each node
  // The longest chain: each of its nodes begins when the one before it ends, because it waits for
  // it or for its lane.
  std::vector<std::size_t> path;
  std::array<Seconds, trace_work_count> path_time{};  // by what its nodes do
  Seconds chain{};  // the longest one by dependencies alone, were there lanes enough
};

// `durations`: one for each node. The trace is whole (ChakraTrace::is_whole).
[[nodiscard]] TraceReplay replay(const ChakraTrace& trace, const std::vector<Seconds>& durations);

// As the trace tells them.
[[nodiscard]] std::vector<Seconds> told_durations(const ChakraTrace& trace);
// Whether it tells when nodes began: then its times are a measurement.
[[nodiscard]] bool tells_starts(const ChakraTrace& trace);
// Where the time went by the trace's own clock.
[[nodiscard]] TraceTimes told_times(const ChakraTrace& trace);

}  // namespace payoff
