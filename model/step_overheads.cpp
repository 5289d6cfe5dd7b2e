// SPDX-License-Identifier: Apache-2.0
#include "model/step_overheads.hpp"

#include <algorithm>

#include "model/evaluate.hpp"

namespace payoff {
namespace {

Seconds data_stall(const DataLoading& data, Seconds step) {
  return data.prefetch ? std::max(0_s, data.time - step) : data.time;
}

// A step's share.
Seconds checkpoint_stall(const CheckpointTimes& checkpoint, Seconds step) {
  if (checkpoint.every == 0) {
    return {};
  }
  const auto steps = static_cast<double>(checkpoint.every);
  return checkpoint.asynchronous
             ? (checkpoint.copy + std::max(0_s, checkpoint.write - steps * step)) / steps
             : checkpoint.write / steps;
}

}  // namespace

void add_overheads(const StepOverheads& overheads, StepPrediction& prediction) {
  const auto add = [&](Seconds Waterfall::*term, Seconds time) {
    prediction.waterfall.*term = time;
    prediction.step += time;
  };
  add(&Waterfall::host_jitter, overheads.host_jitter);
  add(&Waterfall::data_stall, data_stall(overheads.data, prediction.step));
  add(&Waterfall::checkpoint, checkpoint_stall(overheads.checkpoint, prediction.step));
}

}  // namespace payoff
