// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/experiment.hpp"
#include "model/problem.hpp"
#include "study/draws.hpp"
#include "study/observed_collective.hpp"

// A user's own measurement of the uncompressed job says which of the machines that the profiles
// allow is theirs. The latents of study/draws.hpp start standard normal; the logarithm of the
// measured step, and the exposed communication, are what the job would show plus measurement noise.
// Their posterior is taken as normal around its mode (Gauss-Newton with damping, Laplace). Codecs
// were not measured and keep their spread.
//
// Several measurements, of the job on several numbers of GPUs, condition together: each says
// something else of compute and of messages that grow with the ranks. Their noises are independent.
// So are those of runs of nccl-tests (study/observed_collective.hpp), which condition the links
// alone.
//
// A measurement that the profiles hardly allow is still the user's machine: it conditions as any
// other does. What is left of the belief is then widened in proportion to the surprise (Birge's
// ratio, beyond three standard deviations), and the part that must be wrong is named.

namespace payoff {

struct Observation {
  Seconds step{};
  std::optional<Seconds> exposed{};  // communication that compute does not hide
  int dp{};                          // where it was measured; 0: as in the experiment
  int nodes{};                       // the same, as whole nodes instead; 0: not given
  double noise{0.02};                // relative to the step, one standard deviation
};

// A dp that the cluster cannot have, an exposed time longer than the step.
[[nodiscard]] Problems check_observation(const Experiment& experiment,
                                         const Observation& observation);

// The job as it was measured: other replicas, on as many nodes as hold them. Nothing where the
// cluster cannot have it.
[[nodiscard]] std::optional<Experiment> measured_job(const Experiment& experiment,
                                                     const Observation& observation);

// Which part of the predicted step must be wrong, and by which factor it would have to change.
struct Disagreement {
  enum class Part { compute, communication, waiting, host };
  Part part{};
  Seconds predicted{};
  double factor{};
};

// One measurement beside what was predicted for it.
struct ObservedStep {
  Observation observation;
  int dp{};
  Seconds before{};
  Seconds after{};  // with the most likely parameters given all measurements
  std::optional<Seconds> exposed_before{};
  std::optional<Seconds> exposed_after{};
};

struct Conditioning {
  Belief belief;
  std::vector<ObservedStep> observed;  // in the order given
  std::vector<ObservedSizes> sizes;    // of runs of nccl-tests, in the order given
  // Of the first measured step; without one, of the experiment's own job:
  Seconds step_before{};  // what was predicted for the measured job
  Seconds step_after{};   // with the most likely parameters
  std::optional<Seconds> exposed_before{};
  std::optional<Seconds> exposed_after{};
  double sigmas{};        // how far the measurements together lie from what the profiles allow
  double width_before{};  // of the 5-95 % interval of the measured job's step, relative to it
  double width_after{};

  double widening{1};  // of the belief, because the measurements disagree with the profiles
  // Where they do, of the one that is furthest off: a step, or sizes of a run (place in `sizes`).
  std::optional<Disagreement> disagreement{};
  std::optional<std::size_t> disagreeing_sizes{};

  static constexpr double credible_sigmas = 3.0;
  [[nodiscard]] bool disagrees() const { return sigmas > credible_sigmas; }
};

// Requires check_observation() empty for each; at least one of either kind.
[[nodiscard]] Conditioning condition(const Experiment& experiment,
                                     const std::vector<Observation>& observations,
                                     const std::vector<ObservedCollective>& collectives = {});
[[nodiscard]] Conditioning condition(const Experiment& experiment, const Observation& observation);

// The normal deviate as improbable as a chi-squared value of so many degrees of freedom, at least
// one. Where that is too improbable to be represented, the root of the value.
[[nodiscard]] double chi_squared_sigmas(double chi_squared, std::size_t degrees);

// The part whose factor is nearest to 1; with a measured exposed time the one that is further off.
[[nodiscard]] Disagreement largest_disagreement(const Waterfall& predicted,
                                                const Observation& observation);

// Everything that keeps a GPU waiting for the network.
[[nodiscard]] Seconds exposed_communication(const Waterfall& waterfall);

}  // namespace payoff
