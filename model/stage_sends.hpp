// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "model/schedule.hpp"

// What a stage of a pipeline sends its two neighbours: toward each of them one message at a time,
// in the order in which operations end, as kernels of two ranks on one stream of an NCCL
// communicator go (PyTorch, ProcessGroupNCCL: one stream a pair of ranks or, batched, a group).
// Both directions at once, links being full duplex. Dates and times are seconds.

namespace payoff {

struct StageSends {
  double to_next{};      // until when what was sent so far is in flight
  double to_previous{};  // the same

  // When the output of an operation that ends at `ready` has come: at once within the stage.
  double send(Toward toward, double ready, double time) {
    if (toward != Toward::next_stage && toward != Toward::previous_stage) {
      return ready;
    }
    double& until = toward == Toward::next_stage ? to_next : to_previous;
    until = std::max(until, ready) + time;
    return until;
  }
  [[nodiscard]] double until() const { return std::max(to_next, to_previous); }
  // The same sends, of dates that count from `origin`.
  [[nodiscard]] StageSends since(double origin) const {
    return {std::max(0.0, to_next - origin), std::max(0.0, to_previous - origin)};
  }
};

}  // namespace payoff
