// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/experiment.hpp"
#include "study/checkpoint.hpp"

// Whether a running training should change its layout or its strategy: it is saved, converted where
// the other layout shards otherwise, started again and loaded, and has to win that back step by
// step. Both jobs run on the same machine: what is not known about it moves both
// (study/spread.hpp).

namespace payoff {

struct SwitchOptions {
  Storage storage;
  int convert_nodes{1};
  Seconds restart{};  // from the end of the old job to the start of loading: queue, processes, NCCL
  std::size_t draws{256};
  std::uint64_t seed{1};
};

struct SwitchedJob {
  Seconds step{};  // most likely, and 5 and 95 % of the draws
  Seconds step_low{};
  Seconds step_high{};
  double samples{};  // of a step
  bool fits{};       // the memory
};

struct SwitchAnswer {
  CheckpointShape shape_a;
  CheckpointShape shape_b;
  Transfer save;
  std::optional<Conversion> conversion;  // none where every rank keeps its shard
  Transfer load;
  Seconds restart{};
  Seconds cost{};  // all of it, during which nothing is trained

  SwitchedJob a;
  SwitchedJob b;
  Seconds gain{};  // of one step of B, against as many samples by A; below 0: it loses
  // Steps of B until the cost is won back, and the time since the old job was stopped. Nothing:
  // never. The high ends may be never where the others are not.
  std::optional<double> steps;
  std::optional<double> steps_low;
  std::optional<double> steps_high;
  std::optional<Seconds> after;
  std::optional<Seconds> after_low;
  std::optional<Seconds> after_high;
  double probability{};  // that B is faster at all
};

// What makes B no continuation of A: another model, another optimiser. Paths as in the experiment
// file.
[[nodiscard]] Problems check_switch(const Experiment& a, const Experiment& b);

// Requires check_switch() empty.
[[nodiscard]] SwitchAnswer switch_cost(const Experiment& a, const CompressionPlan& plan_a,
                                       const Experiment& b, const CompressionPlan& plan_b,
                                       const SwitchOptions& options);

}  // namespace payoff
