// SPDX-License-Identifier: Apache-2.0
#include "study/break_even.hpp"

#include <algorithm>

#include "model/groups.hpp"
#include "study/job_axis.hpp"
#include "study/plan_axes.hpp"
#include "study/scaled_job.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

class PlanStudy {
 public:
  PlanStudy(const Experiment& experiment, const BreakEvenOptions& options)
      : experiment_(experiment),
        options_(options),
        alone_(without_plans(experiment)),
        prepared_(alone_),
        rival_(rival_step()),
        sizes_(experiment),
        bandwidth_axis_(bandwidth_axis(alone_), experiment.plans, options.rivals, options.mean),
        replica_axis_(replica_axis(alone_), experiment.plans, options.rivals, options.mean) {
    if (replicas_use_network()) {
      useful_bandwidth_ = useful_bandwidth(experiment, options.highest_bandwidth);
      const Bandwidth highest = useful_bandwidth_.value_or(options.highest_bandwidth);
      bandwidth_points_ = with_breakpoints(scan(options.lowest_bandwidth.si, highest.si),
                                           bandwidth_choices(experiment), options.resolution);
    }
  }

  BreakEven study(std::size_t index) {
    const StepPlan plan = prepared_.plan(experiment_.plans[index]);
    fits_ = prepared_.predict(experiment_.plans[index]).memory.fits();
    BreakEven result;
    result.label = experiment_.plans[index].label;
    const bool activations = plan.compresses_activations;
    if (replicas_use_network() || (activations && uses_network())) {
      const std::vector<double> all =
          scan(options_.lowest_bandwidth.si, options_.highest_bandwidth.si);
      result.bandwidth =
          on_axis<Bandwidth>(paying([&](double x) { return bandwidth_axis_.gain(index, x); },
                                    activations ? all : bandwidth_points_));
    }
    result.useful_bandwidth = activations ? std::nullopt : useful_bandwidth_;
    result.codec_time_now = codec_time(plan);
    result.wire_ratio_now = sizes_.wire_ratio(plan, prepared_.plan(experiment_.plans.front()));
    if (!experiment_.plans[index].weights || experiment_.layout.zero == 3) {
      result.codec_time = codec_set(plan);
      result.wire_ratio = wire_set(plan, result.wire_ratio_now);
    }
    add_gpus(index, result);
    return result;
  }

 private:
  [[nodiscard]] bool replicas_use_network() const {
    return data_group(experiment_.layout, experiment_.cluster.gpus_per_node).nodes() > 1;
  }
  [[nodiscard]] bool uses_network() const {
    return experiment_.layout.ranks() > experiment_.cluster.gpus_per_node;
  }

  [[nodiscard]] std::vector<double> scan(double low, double high) const {
    return log_spaced_by_decade(low, high, options_.points_per_decade);
  }

  [[nodiscard]] Seconds rival_step() const {
    if (!options_.rivals) {
      return time(prepared_.plan(experiment_.plans.front()));
    }
    const Variant remedy = best_remedy(prepared_, *options_.rivals, options_.mean);
    return time(remedy.plan) / remedy.batches;
  }

  [[nodiscard]] Seconds time(const StepPlan& plan) const {
    return central_step(plan, experiment_, options_.mean);
  }

  [[nodiscard]] double gain(const StepPlan& plan) const {
    return fits_ ? rival_ / time(plan) - 1.0 : -1.0;
  }

  // Where the gain is beyond the band; `find` examines an axis.
  template <typename Find>
  [[nodiscard]] IntervalSet<double> beyond_band(const Gain& gain, const Find& find) const {
    const double band = options_.band;
    bool differs = false;
    IntervalSet<double> set = find([&](double x) {
      const double here = gain(x);
      differs = differs || here > band || here < 1.0 / (1.0 + band) - 1.0;
      return here - band;
    });
    set.no_difference = !differs;
    return set;
  }

  [[nodiscard]] IntervalSet<double> paying(const Gain& gain,
                                           const std::vector<double>& points) const {
    return beyond_band(gain, [&](const Gain& excess) {
      return find_payoff_set(excess, points, options_.resolution);
    });
  }

  [[nodiscard]] std::optional<IntervalSet<Seconds>> codec_set(StepPlan plan) const {
    if (codec_time(plan) <= 0_s && plan.compresses_gradients) {
      give_codec_time(plan);
    }
    const double now = codec_time(plan) / 1_s;
    if (now <= 0.0) {  // of activations, and free
      return std::nullopt;
    }
    // A codec that takes ten times the rival's step pays for nobody.
    return on_axis<Seconds>(paying([&](double x) { return gain(stretched_codec(plan, x / now)); },
                                   scan(1e-9, 10.0 * (rival_ / 1_s))));
  }

  [[nodiscard]] IntervalSet<double> wire_set(const StepPlan& plan, double now) const {
    const auto choices = [&](double x) { return sizes_.choices(plan, now / x); };
    const std::vector<double> points =
        with_breakpoints(scan(1.0, options_.highest_wire_ratio), choices, options_.resolution);
    return paying([&](double x) { return gain(sizes_.resized(plan, now / x)); }, points);
  }

  void add_gpus(std::size_t index, BreakEven& result) {
    const ScalingStep step = scaling_step(experiment_);
    // Of several kinds nobody says which ones more nodes would be.
    if (experiment_.cluster.is_mixed() || step.replicas > options_.most_gpus ||
        step.gpus > options_.most_gpus) {
      return;
    }
    std::vector<int> points = counts_up_to(options_.most_gpus / step.gpus);
    const LastPossible last =
        last_possible([&](int x) { return replica_axis_.is_possible(index, x); }, points);
    if (last.ends) {
      points = counts_up_to(last.count);
      result.most_gpus = last.count * step.gpus;
    }
    IntervalSet<double> set =
        beyond_band([&](double x) { return replica_axis_.gain(index, x); },
                    [&](const Gain& excess) { return find_integer_payoff_set(excess, points, 8); });
    set.scanned_low *= step.gpus;
    set.scanned_high *= step.gpus;
    for (Interval<double>& interval : set.intervals) {
      interval.low *= step.gpus;
      interval.high *= step.gpus;
    }
    result.gpus = on_axis<int>(set);
  }

  [[nodiscard]] static std::vector<int> counts_up_to(int most) {
    std::vector<int> counts;
    for (int x = 1; x < most; x = std::max(x + 1, x * 3 / 2)) {
      counts.push_back(x);
    }
    counts.push_back(most);
    return counts;
  }

  const Experiment& experiment_;
  const BreakEvenOptions& options_;
  Experiment alone_;  // without its plans
  PreparedExperiment prepared_;
  Seconds rival_;
  MessageSizes sizes_;
  JobAxis bandwidth_axis_;
  JobAxis replica_axis_;
  std::optional<Bandwidth> useful_bandwidth_;
  std::vector<double> bandwidth_points_;
  bool fits_{};  // the plan studied now
};

}  // namespace

std::vector<BreakEven> break_evens(const Experiment& experiment, const BreakEvenOptions& options) {
  std::vector<BreakEven> result;
  const bool activations =
      std::any_of(experiment.plans.begin(), experiment.plans.end(),
                  [](const CompressionPlan& plan) { return !plan.activations.empty(); });
  if (experiment.layout.data_ranks() == 1 && !activations) {
    return result;
  }
  PlanStudy study(experiment, options);
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    result.push_back(study.study(i));
  }
  return result;
}

}  // namespace payoff
