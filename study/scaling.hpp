// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "study/break_even.hpp"

// Curves for plots: how step and speedup of every plan change with the number of GPUs (replicas
// added, the batch of each kept) and with the line rate of the NICs, with the break-evens marked.

namespace payoff {

template <typename X>
struct CurvePoint {
  X x{};
  Seconds step{};
  double speedup{};  // against the rival at the same x
};

template <typename X>
struct Curve {
  std::string label;
  std::vector<CurvePoint<X>> points;  // ascending; an x without such a job has no point
  std::vector<X> break_evens;         // ends of the intervals where it pays, inside the curve
};

struct ScalingOptions {
  Change rival{};
  Latents mean{};
  int most_gpus{1024};  // doubling from the smallest job, the one given included
  Bandwidth lowest_bandwidth{1_Gbps};
  Bandwidth highest_bandwidth{800_Gbps};
  int points_per_decade{8};
};

// The first curve is the uncompressed job, then every plan in order. `marks` are the answers of
// break_evens() for the same experiment, or empty.
[[nodiscard]] std::vector<Curve<int>> gpu_curves(const Experiment& experiment,
                                                 const std::vector<BreakEven>& marks,
                                                 const ScalingOptions& options = {});
// Empty where no NIC is used.
[[nodiscard]] std::vector<Curve<Bandwidth>> bandwidth_curves(const Experiment& experiment,
                                                             const std::vector<BreakEven>& marks,
                                                             const ScalingOptions& options = {});

}  // namespace payoff
