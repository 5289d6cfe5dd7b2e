// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/experiment.hpp"

// The numbers that trainings are compared by, from the time of a step.
//
// Model FLOPs are the matrix products of forward and backward, attention over the whole square of
// the sequence (causal or not), as Narayanan et al. (SC'21, section 5.1 and appendix), Chowdhery et
// al. (2022, appendix B) and Korthikanti et al. (2022) count them. Hardware FLOPs add the products
// that recomputation runs again. Their shares of the peak at the precision of the products are MFU
// and HFU.
// Padding of the vocabulary that tensor parallelism needs is no model FLOP.

namespace payoff {

struct TrainingWork {
  Flops model{};  // of a sample
  Flops hardware{};
  double tokens{};  // of a sample; 1 for images
};
[[nodiscard]] TrainingWork training_work(const Experiment& experiment);

struct TrainingNumbers {
  double samples_per_second{};
  double tokens_per_second{};
  FlopRate model_rate_per_gpu{};
  FlopRate hardware_rate_per_gpu{};
  std::optional<double> model_utilisation_ratio;     // MFU; none where the peak is not known
  std::optional<double> hardware_utilisation_ratio;  // HFU
};
[[nodiscard]] TrainingNumbers training_numbers(const Experiment& experiment,
                                               const TrainingWork& work, Seconds step);

// A whole training of so many tokens (samples, of images) at one time a step, in whole steps.
struct TrainingRun {
  double steps{};
  Seconds time{};
  double gpu_hours{};
  std::optional<double> energy_kwh;  // of the boards of all GPUs at their power limit: an upper
                                     // bound for them, without hosts, network and cooling
  std::optional<double> cost_usd;    // of all nodes
};
// `price` of a node.
[[nodiscard]] TrainingRun training_run(const Experiment& experiment, const TrainingWork& work,
                                       Seconds step, double tokens, Price price);

}  // namespace payoff
