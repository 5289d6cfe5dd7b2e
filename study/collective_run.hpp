// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/step_plan.hpp"
#include "study/draws.hpp"
#include "study/observed_collective.hpp"

// What study/observed.cpp asks of a run of nccl-tests: how far it is from what the latents say.

namespace payoff {

class CollectiveRun {
 public:
  // Requires check_observation() empty.
  CollectiveRun(const Experiment& experiment, const ObservedCollective& observed);

  // In standard deviations of the noise, one for each class of sizes.
  void add_residuals(const Latents& z, std::vector<double>& residuals) const;
  // One for each class of sizes, in ascending order.
  [[nodiscard]] std::vector<ObservedSizes> sizes(const Latents& mode) const;

 private:
  struct Size {
    Message predicted;
    double log_ratio{};  // measured over predicted
  };
  struct SizeClass {
    std::vector<Size> sizes;
    double relative_sd{};  // of the law, harmonic mean
    double noise{};        // in standard deviations of the law
  };

  ObservedCollective observed_;
  std::vector<SizeClass> classes_;
};

}  // namespace payoff
