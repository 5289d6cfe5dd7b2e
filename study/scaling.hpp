// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "study/break_even.hpp"

// Curves for plots: how step, exposed communication and speedup of every plan, and of the best
// uncompressed remedy, change with the number of GPUs (replicas added, the batch of each kept),
// with the line rate of the NICs and with the size of the model (study/scaled_model.hpp). Every
// point is predicted. At break-evens, too: those of the tables, and of sizes, which have no table,
// those found by halving between two points. On both sides of one there is a point.

namespace payoff {

template <typename X>
struct CurvePoint {
  X x{};
  Seconds step{};
  double speedup{};   // against the job as given at the same x
  Seconds exposed{};  // communication of the step that nothing hides
  bool fits{true};    // the memory
};

// Where 90 % of the draws of a speedup lie.
template <typename X>
struct BandPoint {
  X x{};
  double low{};
  double high{};
};

template <typename X>
struct Curve {
  std::string label;
  std::vector<CurvePoint<X>> points;  // ascending; an x without such a job has no point
  std::vector<X> break_evens;         // each one of the points: it pays there, next to it not
  // Of sizes of the model, which no table has: where it pays against the rival, among its points.
  std::optional<IntervalSet<X>> pays{};
  // Of GPUs: the last point, where what was asked for goes on and the job, or its plan, does not.
  std::optional<X> end{};
};

template <typename X>
struct Curves {
  std::vector<Curve<X>> plans;  // the first is the job as given
  Curve<X> remedy;              // per batch of the job as given, which it is where nothing helps
  std::string why_it_ends{};    // the job as given, where it does
  // Of the plan that was asked for; empty without.
  std::vector<BandPoint<X>> band;
};

struct ScalingOptions {
  std::optional<RemedyLimits> rivals{};  // of the remedy at every x; none: the job as given
  Latents mean{};
  double band{noise_band};  // a smaller gain is none
  int fewest_gpus{1};       // both ends are in the curves where the job exists there
  int most_gpus{1024};
  Bandwidth lowest_bandwidth{1_Gbps};
  Bandwidth highest_bandwidth{800_Gbps};
  double fewest_parameters{0.1e9};
  double most_parameters{1000e9};
  int points_per_decade{16};
  std::optional<std::size_t> band_of{};  // which plan
  std::size_t draws{64};
};

// `marks` are the answers of break_evens() for the same experiment and rival, or empty.
[[nodiscard]] Curves<int> gpu_curves(const Experiment& experiment,
                                     const std::vector<BreakEven>& marks,
                                     const ScalingOptions& options = {});
// Without plans where no NIC is used.
[[nodiscard]] Curves<Bandwidth> bandwidth_curves(const Experiment& experiment,
                                                 const std::vector<BreakEven>& marks,
                                                 const ScalingOptions& options = {});
// By parameters. Without points where the model cannot be scaled, or not on this layout.
[[nodiscard]] Curves<double> size_curves(const Experiment& experiment,
                                         const ScalingOptions& options = {});

}  // namespace payoff
