// SPDX-License-Identifier: Apache-2.0
#include "study/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "model/groups.hpp"
#include "study/gpu_counts.hpp"
#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"
#include "study/scaled_model.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

constexpr std::uint64_t seed = 1;

// `unit` is one step of the axis in X: a NIC's bytes per second, the GPUs of a scaling step.
template <typename X>
X on(double x, X unit) {
  if constexpr (std::is_integral_v<X>) {
    return static_cast<X>(std::lround(x)) * unit;
  } else {
    return x * unit;
  }
}

template <typename X>
Curves<X> trace(const Experiment& experiment, JobAxis& axis, const std::vector<double>& xs,
                X unit) {
  Curves<X> curves;
  for (std::size_t plan = 0; plan < experiment.plans.size(); ++plan) {
    Curve<X>& curve = curves.plans.emplace_back();
    curve.label = experiment.plans[plan].label;
    for (const double x : xs) {
      const std::optional<Seconds> step = axis.step(plan, x);
      const std::optional<Seconds> given = axis.step(0, x);
      if (step && given) {
        curve.points.push_back(
            {on(x, unit), *step, *given / *step, *axis.exposed(plan, x), axis.fits(plan, x)});
      }
    }
  }
  for (const double x : xs) {
    const std::optional<Seconds> step = axis.rival_step(x);
    const std::optional<Seconds> given = axis.step(0, x);
    if (step && given) {
      curves.remedy.points.push_back(
          {on(x, unit), *step, *given / *step, *axis.rival_exposed(x), true});
    }
  }
  return curves;
}

// The speedup of one plan in every draw, at one value of the axis.
std::vector<double> drawn_speedups(const Experiment& experiment, const CompressionPlan& plan,
                                   const ScalingOptions& options) {
  const PreparedExperiment prepared(experiment);
  std::map<std::string, std::size_t> codecs;
  Ensemble ensemble(
      {{.plan = prepared.plan(experiment.plans.front())}, uncertain_plan(prepared, plan, codecs)},
      compute_sd(experiment));
  const Belief belief{.mean = options.mean};
  const auto steps =
      sample_steps(ensemble, make_draws(options.draws, seed, ensemble.codecs(), belief));
  std::vector<double> speedups;
  for (std::size_t i = 0; i < options.draws; ++i) {
    speedups.push_back(steps[0][i] / steps[1][i]);
  }
  return speedups;
}

template <typename X>
void add_band(const JobAxis::Make& make, const Experiment& experiment,
              const std::vector<double>& xs, X unit, const ScalingOptions& options,
              Curves<X>& curves) {
  if (!options.band_of || options.draws == 0) {
    return;
  }
  for (const double x : xs) {
    const std::optional<Experiment> job = make(x);
    const CompressionPlan& plan = experiment.plans[*options.band_of];
    if (job && problems_of_plan(*job, plan).empty()) {
      const std::vector<double> speedups = drawn_speedups(*job, plan, options);
      curves.band.push_back({on(x, unit), quantile(speedups, 0.05), quantile(speedups, 0.95)});
    }
  }
}

// The ends of what was drawn are no break-evens, and a set of a single value has one.
template <typename X>
void mark(const IntervalSet<X>& set, Curve<X>& curve) {
  const auto add = [&curve](X x) {
    const bool inside =
        !curve.points.empty() && x > curve.points.front().x && x < curve.points.back().x;
    if (inside && (curve.break_evens.empty() || curve.break_evens.back() != x)) {
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

template <typename X, typename Set>
void mark_all(const std::vector<BreakEven>& marks, Set set, Curves<X>& curves) {
  for (Curve<X>& curve : curves.plans) {
    const BreakEven* found = find(marks, curve.label);
    if (found != nullptr && found->*set) {
      mark(*(found->*set), curve);
    }
  }
}

// Ends of what pays, told by the value that pays and by the next one on the other side: a curve has
// a point at both, so that it crosses its rival nowhere else.
template <typename X, typename Set, typename Add>
void for_each_end(const std::vector<BreakEven>& marks, Set set, const Add& add) {
  for (const BreakEven& mark : marks) {
    if (!(mark.*set)) {
      continue;
    }
    for (const Interval<X>& interval : (mark.*set)->intervals) {
      if (!interval.open_low) {
        add(interval.low, -1);
      }
      if (!interval.open_high) {
        add(interval.high, 1);
      }
    }
  }
}

std::vector<double> end_counts(const std::vector<BreakEven>& marks, int gpus, int low, int high) {
  std::vector<double> xs;
  for_each_end<int>(marks, &BreakEven::gpus, [&](int end, int outwards) {
    for (const int x : {end / gpus, end / gpus + outwards}) {
      if (x >= low && x <= high) {
        xs.push_back(x);
      }
    }
  });
  return xs;
}

// Whatever the memory: a note says from which size on nothing fits.
double size_gain(JobAxis& axis, std::size_t plan, double x) {
  return *axis.rival_step(x) / *axis.step(plan, x) - 1.0;
}

// Neighbours that pay are one interval.
IntervalSet<double> paying_sizes(const Curve<double>& curve, std::size_t plan, double band,
                                 JobAxis& axis) {
  IntervalSet<double> set;
  set.no_difference = true;
  bool inside = false;
  for (const CurvePoint<double>& point : curve.points) {
    const double gain = size_gain(axis, plan, point.x);
    set.no_difference = set.no_difference && gain <= band && gain >= 1.0 / (1.0 + band) - 1.0;
    if (gain > band && !inside) {
      set.intervals.push_back({point.x, point.x, &point == &curve.points.front(), false});
    } else if (gain > band) {
      set.intervals.back().high = point.x;
    }
    inside = gain > band;
    set.scanned_low = set.scanned_high > 0.0 ? set.scanned_low : point.x;
    set.scanned_high = point.x;
  }
  if (inside) {
    set.intervals.back().open_high = true;
  }
  return set;
}

// A size is next to another where no model has a size between: halving ends there.
void add_size_ends(const Experiment& experiment, std::size_t plan, double low, double high,
                   double band, JobAxis& axis, std::vector<double>& ends) {
  const auto has_plan = [&](double x) { return axis.step(plan, x) && axis.rival_step(x); };
  const auto pays = [&](double x) { return size_gain(axis, plan, x) > band; };
  if (!has_plan(low) || !has_plan(high) || pays(low) == pays(high)) {
    return;
  }
  const bool pays_low = pays(low);
  while (const auto between = size_between(experiment, low, high)) {
    if (!has_plan(*between)) {
      return;
    }
    (pays(*between) == pays_low ? low : high) = *between;
  }
  ends.push_back(pays_low ? low : high);
  ends.push_back(pays_low ? high : low);
}

}  // namespace

Curves<int> gpu_curves(const Experiment& experiment, const std::vector<BreakEven>& marks,
                       const ScalingOptions& options) {
  const ScalingStep step = scaling_step(experiment);
  const int gpus = step.gpus;
  const int low = std::max(1, (options.fewest_gpus + gpus - 1) / gpus);
  const int high = options.most_gpus / gpus;
  std::vector<double> xs = step_counts(low, high);
  // A part of a node is not a whole number of steps.
  const int present = experiment.layout.dp / step.replicas;
  if (experiment.layout.dp % step.replicas == 0 && present >= low && present <= high) {
    xs.push_back(present);
  }
  const std::vector<double> ends = end_counts(marks, gpus, low, high);
  xs.insert(xs.end(), ends.begin(), ends.end());
  xs = ascending(std::move(xs));
  const Experiment alone = without_plans(experiment);
  JobAxis axis(replica_axis(alone), experiment.plans, options.rivals, options.mean);
  const std::vector<std::optional<int>> last = last_counts(experiment, axis, xs);
  for (const std::optional<int>& count : last) {
    xs.insert(xs.end(), count ? 1 : 0, count.value_or(0));
  }
  xs = ascending(std::move(xs));
  Curves<int> curves = trace(experiment, axis, xs, gpus);
  for (std::size_t plan = 0; plan < last.size(); ++plan) {
    curves.plans[plan].end = last[plan] ? std::optional(*last[plan] * gpus) : std::nullopt;
  }
  if (last.front()) {
    curves.why_it_ends = why_not_with_dp(experiment, (*last.front() + 1) * step.replicas);
  }
  add_band(replica_axis(alone), experiment, xs, gpus, options, curves);
  mark_all(marks, &BreakEven::gpus, curves);
  return curves;
}

Curves<Bandwidth> bandwidth_curves(const Experiment& experiment,
                                   const std::vector<BreakEven>& marks,
                                   const ScalingOptions& options) {
  if (data_group(experiment.layout, experiment.cluster.gpus_per_node).nodes() < 2) {
    return {};
  }
  const double low = options.lowest_bandwidth.si;
  const double high = options.highest_bandwidth.si;
  std::vector<double> xs = log_spaced_by_decade(low, high, options.points_per_decade);
  const auto add = [&](double x) {
    if (x > low && x < high) {
      xs.push_back(x);
    }
  };
  add(experiment.cluster.nic.si);
  for_each_end<Bandwidth>(marks, &BreakEven::bandwidth, [&](Bandwidth end, int) { add(end.si); });
  xs = ascending(std::move(xs));
  const Experiment alone = without_plans(experiment);
  JobAxis axis(bandwidth_axis(alone), experiment.plans, options.rivals, options.mean);
  Curves<Bandwidth> curves = trace(experiment, axis, xs, Bandwidth{1.0});
  add_band(bandwidth_axis(alone), experiment, xs, Bandwidth{1.0}, options, curves);
  mark_all(marks, &BreakEven::bandwidth, curves);
  return curves;
}

Curves<double> size_curves(const Experiment& experiment, const ScalingOptions& options) {
  const std::vector<double> sizes = model_sizes(experiment, options.fewest_parameters,
                                                options.most_parameters, options.points_per_decade);
  const Experiment alone = without_plans(experiment);
  JobAxis axis(size_axis(alone), experiment.plans, options.rivals, options.mean);
  // By plan: what pays first, then its neighbour that does not.
  std::vector<std::vector<double>> ends(experiment.plans.size());
  std::vector<double> xs = sizes;
  for (std::size_t plan = 1; plan < experiment.plans.size(); ++plan) {
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      add_size_ends(experiment, plan, sizes[i - 1], sizes[i], options.band, axis, ends[plan]);
    }
    xs.insert(xs.end(), ends[plan].begin(), ends[plan].end());
  }
  xs = ascending(std::move(xs));
  Curves<double> curves = trace(experiment, axis, xs, 1.0);
  for (std::size_t plan = 1; plan < experiment.plans.size(); ++plan) {
    for (std::size_t i = 0; i < ends[plan].size(); i += 2) {
      curves.plans[plan].break_evens.push_back(ends[plan][i]);
    }
    curves.plans[plan].pays = paying_sizes(curves.plans[plan], plan, options.band, axis);
  }
  add_band(size_axis(alone), experiment, xs, 1.0, options, curves);
  return curves;
}

}  // namespace payoff
