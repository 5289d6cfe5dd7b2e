// SPDX-License-Identifier: Apache-2.0
#include "study/measured_jobs.hpp"

#include <cmath>
#include <utility>

namespace payoff {

MeasuredJob::MeasuredJob(const Experiment& experiment, const Observation& observation)
    : observation_(observation),
      ensemble_({{PreparedExperiment(experiment).plan(experiment.plans.front())}},
                compute_sd(experiment)) {}

StepPrediction MeasuredJob::predict(const Latents& z) {
  return evaluate(ensemble_.scaled(0, {z, {}}));
}

void MeasuredJob::add_residuals(const Latents& z, Residuals& residuals) {
  const StepPrediction prediction = predict(z);
  residuals.push_back(std::log(observation_.step / prediction.step) / observation_.noise);
  if (observation_.exposed) {
    const Seconds difference = *observation_.exposed - exposed_communication(prediction.waterfall);
    residuals.push_back(difference / (observation_.noise * observation_.step));
  }
}

MeasuredJobs::MeasuredJobs(const Experiment& experiment,
                           const std::vector<Observation>& observations,
                           const std::vector<ObservedCollective>& collectives) {
  for (const Observation& observation : observations) {
    const Experiment job = measured_job(experiment, observation).value();
    jobs_.emplace_back(job, observation);
    ranks_.push_back(job.layout.dp);
  }
  if (jobs_.empty()) {
    own_.emplace(experiment, Observation{});
  }
  for (const ObservedCollective& collective : collectives) {
    runs_.emplace_back(experiment, collective);
    tell_inside_ = tell_inside_ || measures_inside_alone(experiment, collective);
  }
}

Latents MeasuredJobs::felt(const Latents& z) const {
  Latents felt = z;
  for (std::size_t i = 0; i < inside_count; ++i) {
    const double own = z[latent::first_inside + i];
    felt[latent::first_inside + i] = tell_inside_ ? own - z[latent::network + i] : 0.0;
  }
  return felt;
}

Residuals MeasuredJobs::residuals(const Latents& z) {
  Residuals result;
  for (MeasuredJob& job : jobs_) {
    job.add_residuals(felt(z), result);
  }
  const Residuals of_runs = run_residuals(z);
  result.insert(result.end(), of_runs.begin(), of_runs.end());
  return result;
}

Residuals MeasuredJobs::run_residuals(const Latents& z) const {
  Residuals result;
  for (const CollectiveRun& run : runs_) {
    run.add_residuals(felt(z), result);
  }
  return result;
}

std::vector<ObservedSizes> MeasuredJobs::sizes(const Latents& mode) const {
  std::vector<ObservedSizes> result;
  for (const CollectiveRun& run : runs_) {
    const std::vector<ObservedSizes> of_run = run.sizes(felt(mode));
    result.insert(result.end(), of_run.begin(), of_run.end());
  }
  return result;
}

std::vector<Residuals> MeasuredJobs::jacobian(const Latents& z) {
  constexpr double step = 1e-3;
  std::vector<Residuals> columns;
  for (std::size_t i = 0; i < all_latents; ++i) {
    Latents up = z;
    Latents down = z;
    up.at(i) += step;
    down.at(i) -= step;
    Residuals column = residuals(up);
    const Residuals low = residuals(down);
    for (std::size_t r = 0; r < column.size(); ++r) {
      column[r] = (column[r] - low[r]) / (2.0 * step);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace payoff
