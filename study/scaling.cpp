// SPDX-License-Identifier: Apache-2.0
#include "study/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "model/groups.hpp"
#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"

namespace payoff {
namespace {

// `unit` is one step of the axis in X: a NIC's bytes per second, the GPUs of a scaling step.
template <typename X>
std::vector<Curve<X>> trace(const Experiment& experiment, JobAxis& axis,
                            const std::vector<double>& xs, X unit) {
  std::vector<Curve<X>> curves;
  for (std::size_t plan = 0; plan < experiment.plans.size(); ++plan) {
    Curve<X>& curve = curves.emplace_back();
    curve.label = experiment.plans[plan].label;
    for (const double x : xs) {
      const std::optional<Seconds> step = axis.step(plan, x);
      const std::optional<Seconds> rival = axis.rival_step(x);
      if (step && rival) {
        if constexpr (std::is_integral_v<X>) {
          curve.points.push_back({static_cast<X>(std::lround(x)) * unit, *step, *rival / *step});
        } else {
          curve.points.push_back({x * unit, *step, *rival / *step});
        }
      }
    }
  }
  return curves;
}

template <typename X>
void mark(Curve<X>& curve, const IntervalSet<X>& set) {
  const auto add = [&curve](X x) {
    if (!curve.points.empty() && x >= curve.points.front().x && x <= curve.points.back().x) {
      curve.break_evens.push_back(x);
    }
  };
  for (const Interval<X>& interval : set.intervals) {
    if (!interval.open_low) {
      add(interval.low);
    }
    if (!interval.open_high) {
      add(interval.high);
    }
  }
}

const BreakEven* find(const std::vector<BreakEven>& marks, const std::string& label) {
  const auto at = std::find_if(marks.begin(), marks.end(),
                               [&label](const BreakEven& b) { return b.label == label; });
  return at == marks.end() ? nullptr : &*at;
}

// Ascending, each once, with the value of the experiment itself.
std::vector<double> including(std::vector<double> xs, double own) {
  xs.push_back(own);
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  return xs;
}

}  // namespace

std::vector<Curve<int>> gpu_curves(const Experiment& experiment,
                                   const std::vector<BreakEven>& marks,
                                   const ScalingOptions& options) {
  const ScalingStep step = scaling_step(experiment);
  const int gpus = step.nodes * experiment.cluster.gpus_per_node;
  std::vector<double> xs;
  for (double x = 1; x * gpus <= options.most_gpus; x *= 2) {
    xs.push_back(x);
  }
  // A part of a node is not a whole number of steps.
  if (experiment.layout.dp % step.replicas == 0) {
    const int present = experiment.layout.dp / step.replicas;
    xs = including(std::move(xs), static_cast<double>(present));
  }
  JobAxis axis(replica_axis(experiment), options.rival, options.mean);
  std::vector<Curve<int>> curves = trace(experiment, axis, xs, gpus);
  for (Curve<int>& curve : curves) {
    const BreakEven* found = find(marks, curve.label);
    if (found != nullptr && found->gpus) {
      mark(curve, *found->gpus);
    }
  }
  return curves;
}

std::vector<Curve<Bandwidth>> bandwidth_curves(const Experiment& experiment,
                                               const std::vector<BreakEven>& marks,
                                               const ScalingOptions& options) {
  if (data_group(experiment.layout, experiment.cluster.gpus_per_node).nodes() < 2) {
    return {};
  }
  const double low = options.lowest_bandwidth.si;
  const double high = options.highest_bandwidth.si;
  const int count =
      2 + static_cast<int>(std::ceil(std::log10(high / low) * options.points_per_decade));
  JobAxis axis(bandwidth_axis(experiment), options.rival, options.mean);
  std::vector<Curve<Bandwidth>> curves =
      trace(experiment, axis, including(log_spaced(low, high, count), experiment.cluster.nic.si),
            Bandwidth{1.0});
  for (Curve<Bandwidth>& curve : curves) {
    const BreakEven* found = find(marks, curve.label);
    if (found != nullptr && found->bandwidth) {
      mark(curve, *found->bandwidth);
    }
  }
  return curves;
}

}  // namespace payoff
