// SPDX-License-Identifier: Apache-2.0
#include "model/training_numbers.hpp"

#include <cmath>

#include "model/compute.hpp"
#include "model/node_kinds.hpp"
#include "model/recomputation.hpp"

namespace payoff {
namespace {

constexpr Seconds hour = 3600_s;

}  // namespace

TrainingWork training_work(const Experiment& experiment) {
  const auto model = undivided(experiment.model, activation_size(experiment.training.precision));
  Flops forward{};
  Flops again{};
  for (const Layer& layer : model->layers) {
    for (const Operator& op : layer.forward) {
      forward += forward_flops(op);
    }
    for (const Operator& op :
         computed_again(layer, experiment.layout.recompute, experiment.software)) {
      again += forward_flops(op);
    }
  }
  // Backward has two products for each of forward.
  return {3 * forward, 3 * forward + again, model->tokens_per_sample};
}

TrainingNumbers training_numbers(const Experiment& experiment, const TrainingWork& work,
                                 Seconds step) {
  const double samples = experiment.layout.global_batch();
  const double gpus = experiment.layout.ranks();
  TrainingNumbers numbers;
  numbers.samples_per_second = samples / (step / 1_s);
  numbers.tokens_per_second = numbers.samples_per_second * work.tokens;
  numbers.model_rate_per_gpu = samples * work.model / step / gpus;
  numbers.hardware_rate_per_gpu = samples * work.hardware / step / gpus;
  const FlopRate peak = mean_peak(experiment.cluster, experiment.training.precision);
  if (peak > FlopRate{}) {
    numbers.model_utilisation_ratio = numbers.model_rate_per_gpu / peak;
    numbers.hardware_utilisation_ratio = numbers.hardware_rate_per_gpu / peak;
  }
  return numbers;
}

TrainingRun training_run(const Experiment& experiment, const TrainingWork& work, Seconds step,
                         double tokens, Price price) {
  const double gpus = experiment.layout.ranks();
  TrainingRun run;
  run.steps = std::ceil(tokens / (experiment.layout.global_batch() * work.tokens));
  run.time = run.steps * step;
  run.gpu_hours = gpus * (run.time / hour);
  if (const Watts power = mean_power(experiment.cluster); power > Watts{}) {
    constexpr double watts_of_a_kilowatt = 1000;
    run.energy_kwh = power.si / watts_of_a_kilowatt * run.gpu_hours;
  }
  if (price > Price{}) {
    run.cost_usd = price.si * experiment.cluster.nodes * (run.time / 1_s);
  }
  return run;
}

}  // namespace payoff
