// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "study/collective_run.hpp"
#include "study/draws.hpp"
#include "study/observed.hpp"
#include "study/spread.hpp"

// What study/observed.cpp conditions on: measurements of one machine as functions of the latents.

namespace payoff {

// In standard deviations of the noise.
using Residuals = std::vector<double>;

class MeasuredJob {
 public:
  MeasuredJob(const Experiment& experiment, const Observation& observation);

  [[nodiscard]] StepPrediction predict(const Latents& z);
  void add_residuals(const Latents& z, Residuals& residuals);
  [[nodiscard]] const Observation& observation() const { return observation_; }

 private:
  Observation observation_;
  Ensemble ensemble_;
};

// All of them: one machine. Steps come first, then runs of nccl-tests. Arguments are independent a
// priori: where links inside nodes were measured alone they have latents of their own, in the place
// of what they have beyond the others (study/draws.hpp).
class MeasuredJobs {
 public:
  MeasuredJobs(const Experiment& experiment, const std::vector<Observation>& observations,
               const std::vector<ObservedCollective>& collectives);

  // The first that was measured, else the experiment's own.
  [[nodiscard]] MeasuredJob& front() { return own_ ? *own_ : jobs_.front(); }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] MeasuredJob& operator[](std::size_t i) { return jobs_[i]; }
  [[nodiscard]] int dp(std::size_t i) const { return ranks_[i]; }

  [[nodiscard]] bool tell_inside() const { return tell_inside_; }
  // What messages feel of independent latents.
  [[nodiscard]] Latents felt(const Latents& z) const;

  [[nodiscard]] Residuals residuals(const Latents& z);
  // Of the runs of nccl-tests alone.
  [[nodiscard]] Residuals run_residuals(const Latents& z) const;
  [[nodiscard]] std::vector<ObservedSizes> sizes(const Latents& mode) const;
  // Of all residuals, a column for each latent.
  [[nodiscard]] std::vector<Residuals> jacobian(const Latents& z);

 private:
  std::vector<MeasuredJob> jobs_;
  std::vector<int> ranks_;  // data-parallel, of each
  std::optional<MeasuredJob> own_;
  std::vector<CollectiveRun> runs_;
  bool tell_inside_{};
};

}  // namespace payoff
