// SPDX-License-Identifier: Apache-2.0
#include "study/job_scale.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "study/interval_set.hpp"
#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"
#include "study/scaled_model.hpp"

namespace payoff {
namespace {

// The multiple of `gpus` next to x that has a job: shards and experts divide the replicas too.
// Where none is near, the next multiple.
double nearest_job(const Experiment& experiment,
                   const std::function<std::optional<Experiment>(const Experiment&, double)>& job,
                   int gpus, double x) {
  constexpr int farthest = 64;
  const double next = std::round(x / gpus);
  for (int distance = 0; distance <= farthest; ++distance) {
    for (const int steps : {-distance, distance}) {
      if (next + steps >= 1.0 && job(experiment, (next + steps) * gpus)) {
        return (next + steps) * gpus;
      }
    }
  }
  return next * gpus;
}

}  // namespace

JobScale gpu_scale(const Experiment& experiment, int fewest, int most, int count) {
  const int gpus = scaling_step(experiment).gpus;
  const int low = std::max(1, (fewest + gpus - 1) / gpus);
  const int high = most / gpus;
  JobScale scale;
  scale.job = [gpus](const Experiment& job, double x) { return replica_axis(job)(x / gpus); };
  scale.nearest = [&experiment, job = scale.job, gpus](double x) {
    return nearest_job(experiment, job, gpus, x);
  };
  if (low < high) {
    for (const double steps : log_spaced(low, high, count)) {
      const double x = scale.nearest(steps * gpus);
      if (x >= low * gpus && x <= high * gpus && scale.job(experiment, x)) {
        scale.values.push_back(x);
      }
    }
    scale.values = ascending(std::move(scale.values));
  }
  return scale;
}

JobScale bandwidth_scale(Bandwidth lowest, Bandwidth highest, int count) {
  JobScale scale;
  scale.values = log_spaced(lowest.si, highest.si, count);
  scale.job = [](const Experiment& job, double x) { return bandwidth_axis(job)(x); };
  scale.nearest = [](double x) { return x; };
  return scale;
}

JobScale size_scale(const Experiment& experiment, double fewest, double most, int count) {
  JobScale scale;
  const double decades = std::log10(most / fewest);
  scale.values = model_sizes(experiment, fewest, most, static_cast<int>(count / decades));
  scale.job = with_parameters;
  scale.nearest = [&experiment](double x) {
    const std::optional<Experiment> job = with_parameters(experiment, x);
    return job ? parameters_of(*job) : x;
  };
  return scale;
}

}  // namespace payoff
