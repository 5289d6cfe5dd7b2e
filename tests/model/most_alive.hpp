// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "model/schedule.hpp"

namespace payoff::test {

// How many micro-batches a stage has begun and not finished at most, by the order that it runs.
inline int most_alive(const StageSchedule& order, PipelineSchedule schedule) {
  int alive = 0;
  int most = 0;
  for (int i = 0; i < order.size(); ++i) {
    alive += order[i].is_forward ? 1 : completes(order[i], schedule) ? -1 : 0;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace payoff::test
