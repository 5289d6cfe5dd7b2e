// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/units.hpp"
#include "profiles/import/kineto_trace.hpp"

// Where the time of a traced step went, by what the GPU did: in a step
//   wall = compute + exposed + idle        communication = hidden + exposed
// where `compute` is when anything runs that is no communication (kernels, copies, memsets),
// `exposed` when communication runs alone, and `idle` the rest. Communication includes the wait of
// its kernels for other ranks: a trace of one rank cannot tell them apart.
//
// A step begins with the first thing on the GPU that was launched during its ProfilerStep
// annotation and ends where the next one begins, the last with the end of all that it launched: the
// host may be ahead of the GPU, and its own times (`host`) say how far it is.

namespace payoff {

struct TracedStep {
  std::string name;  // "ProfilerStep#7"; "trace": there are no steps, it is all one
  Seconds host{};    // of the annotation
  Seconds wall{};
  Seconds compute{};
  Seconds hidden{};
  Seconds exposed{};
  Seconds idle{};
  bool is_whole{true};  // false: no next one ends it, and what the host does last is not in it

  [[nodiscard]] Seconds communication() const { return hidden + exposed; }
};

// What is on a stream runs one after another: begin_i = end_(i-1) + gap_i. With overlaps (negative
// gaps) as they are, busy - overlap + idle = span.
struct TracedStream {
  int device{};
  int stream{};
  std::int64_t events{};
  std::int64_t communications{};  // of the events
  Seconds span{};                 // from the first begin to the last end
  Seconds busy{};                 // sum of the durations
  Seconds overlap{};              // with the one before: clocks, or programmatic launches
  Seconds idle{};                 // sum of the gaps
  Seconds late{};  // the part of the gaps in which the launch had not been called yet
};

struct TraceTimeline {
  int device{};  // whose steps these are: the busiest
  int devices{};
  std::vector<TracedStep> steps;
  std::vector<TracedStream> streams;  // by device and stream
  bool has_steps{};
};

[[nodiscard]] TraceTimeline timeline_of(const KinetoTrace& trace);

// The middle one, or the mean of the two in the middle; nothing of nothing is 0.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace payoff
