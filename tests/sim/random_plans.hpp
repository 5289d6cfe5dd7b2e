// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "model/experiment.hpp"
#include "model/step_plan.hpp"

// Random plans and jobs for the agreement of the engines: seeded, the same on every compiler.

namespace payoff::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] int integer(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  [[nodiscard]] bool chance(int percent) { return integer(1, 100) <= percent; }
  [[nodiscard]] double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53;
  }
  [[nodiscard]] Seconds time(Seconds low, Seconds high) { return {between(low.si, high.si)}; }

 private:
  std::mt19937_64 engine_;
};

// What a plan exercises; the suite prints how often.
struct Traits {
  bool interference{};  // compute units reserved, or a codec beside compute
  bool codec{};
  bool waves{};  // kernels of known blocks beside messages
  bool buckets{};
  bool rounds{};  // several in a bucket
  bool pipeline{};
  bool interleaved{};
  bool accumulation{};
  bool tensor_parallel{};
  bool tied{};  // the ends of a pipeline sum what both hold
};

struct RandomPlan {
  StepPlan plan;
  Traits traits;
};

// Times given outright. Replicas of one stage, or a pipeline of equal and unequal stages and
// chunks.
[[nodiscard]] RandomPlan random_replicas(std::uint64_t seed);
[[nodiscard]] RandomPlan random_pipeline(std::uint64_t seed);
// Two chunks a stage, the second ones on the way back.
[[nodiscard]] RandomPlan random_v_pipeline(std::uint64_t seed);
// Of schedules that run a forward and a backward as one.
[[nodiscard]] RandomPlan random_pairs(std::uint64_t seed);

// A transformer on a cluster of eight-GPU nodes, or a table of layers: through the whole model.
[[nodiscard]] Experiment random_experiment(std::uint64_t seed);

[[nodiscard]] Traits traits_of(const StepPlan& plan);

}  // namespace payoff::test
