// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/units.hpp"

// How fast kernels are beside each other once all of them run: each is queued many times behind one
// gate, what ends is stamped on one clock, and runs are counted inside the window in which no queue
// has run dry and every one has got going.

namespace payoff::kernels {

// The ends of the parts of one queue, in order; a part is so many runs.
struct Timeline {
  std::vector<Seconds> ends;
  double runs_a_part{1.0};
};

struct SteadyState {
  Seconds window{};
  std::vector<Seconds> times;  // of one run, in the order of the timelines
  std::string refused;         // why there is none; empty: there is
};

// From the last first end to the first last one. Refused where that is shorter than `shortest`, or
// where a queue ended fewer than two parts in it.
[[nodiscard]] SteadyState steady_state(std::span<const Timeline> timelines, Seconds shortest);

}  // namespace payoff::kernels
