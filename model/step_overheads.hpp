// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/units.hpp"

// What a step takes beside compute and communication once all ranks are through, in this order
// (docs/model.md, "Step"): the latest host, the next batch, a share of the checkpoints. All of it
// is stated by the user, and zero unless it is. In terms of what a step takes without it:
//
//   data        prefetched: max(0, T_data - step), as one batch is made while one is used; else
//               T_data
//   checkpoint  every k steps: write / k; asynchronous: (copy + max(0, write - k step)) / k, as the
//               copy in the host's memory is written beside the next k steps and is in the way of
//               the next one only when those are too short

namespace payoff {

struct DataLoading {
  Seconds time{};       // that the input pipeline of a rank needs for a step's samples; 0: none
  bool prefetch{true};  // beside the step before; else when the step asks for it
};

// What the user says of checkpoints.
struct Checkpointing {
  std::int64_t every{};   // steps; 0: never
  Bandwidth storage{};    // of all writers together
  bool asynchronous{};    // copied to the host's memory, then written beside training
  Bandwidth host_copy{};  // asynchronous: of one GPU to its host
  Bytes size{};           // of a checkpoint; 0: weights and optimizer states of the model
};

// What they take.
struct CheckpointTimes {
  std::int64_t every{};  // steps; 0: never
  bool asynchronous{};
  Seconds copy{};   // asynchronous: of the fullest GPU's part, nothing computes
  Seconds write{};  // to storage
};

struct StepOverheads {
  Seconds host_jitter{};  // of the latest rank, in the mean over steps
  DataLoading data;
  CheckpointTimes checkpoint;
};

}  // namespace payoff
