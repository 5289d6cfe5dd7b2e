// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/experiment.hpp"
#include "model/problem.hpp"
#include "study/draws.hpp"

// A user's own measurement of the uncompressed job says which of the machines that the profiles
// allow is theirs. The latents of study/draws.hpp start standard normal; the logarithm of the
// measured step, and the exposed communication, are what the job would show plus measurement noise.
// Their posterior is taken as normal around its mode (Gauss-Newton with damping, Laplace). Codecs
// were not measured and keep their spread.
//
// A measurement that the profiles hardly allow is still the user's machine: it conditions as any
// other does. What is left of the belief is then widened in proportion to the surprise (Birge's
// ratio, beyond three standard deviations), and the part that must be wrong is named.

namespace payoff {

struct Observation {
  Seconds step{};
  std::optional<Seconds> exposed{};  // communication that compute does not hide
  int dp{};                          // where it was measured; 0: as in the experiment
  double noise{0.02};                // relative to the step, one standard deviation
};

// A dp that the cluster cannot have, an exposed time longer than the step.
[[nodiscard]] Problems check_observation(const Experiment& experiment,
                                         const Observation& observation);

// Which part of the predicted step must be wrong, and by which factor it would have to change.
struct Disagreement {
  enum class Part { compute, communication, waiting, host };
  Part part{};
  Seconds predicted{};
  double factor{};
};

struct Conditioning {
  Belief belief;
  Seconds step_before{};  // what was predicted for the measured job
  Seconds step_after{};   // with the most likely parameters
  std::optional<Seconds> exposed_before{};
  std::optional<Seconds> exposed_after{};
  double sigmas{};        // how far the measurement lies from what the profiles allow
  double width_before{};  // of the 5-95 % interval of the measured job's step, relative to it
  double width_after{};

  double widening{1};  // of the belief, because the measurement disagrees with the profiles
  std::optional<Disagreement> disagreement{};  // where it does

  static constexpr double credible_sigmas = 3.0;
  [[nodiscard]] bool disagrees() const { return sigmas > credible_sigmas; }
};

// Requires check_observation() empty.
[[nodiscard]] Conditioning condition(const Experiment& experiment, const Observation& observation);

// The part whose factor is nearest to 1; with a measured exposed time the one that is further off.
[[nodiscard]] Disagreement largest_disagreement(const Waterfall& predicted,
                                                const Observation& observation);

// Everything that keeps a GPU waiting for the network.
[[nodiscard]] Seconds exposed_communication(const Waterfall& waterfall);

}  // namespace payoff
