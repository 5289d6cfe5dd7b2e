// SPDX-License-Identifier: Apache-2.0
#include "study/break_even.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "model/groups.hpp"
#include "study/job_axis.hpp"
#include "study/scaled_job.hpp"
#include "study/spread.hpp"

namespace payoff {
namespace {

// Encode and decode of a stage.
Seconds codec_time(const StepPlan& plan, const StagePlan& stage) {
  Seconds total;
  for (const Bucket& bucket : stage.buckets) {
    const BucketKind& kind = plan.kind(bucket);
    total += kind.decode.codec();
    for (const BucketRound& round : kind.rounds) {
      total += round.encode.codec();
    }
  }
  return total;
}

// Of the stage that spends most.
Seconds codec_time(const StepPlan& plan) {
  Seconds most;
  for (const StagePlan& stage : plan.stages) {
    most = std::max(most, codec_time(plan, stage));
  }
  return most;
}

// A free codec gets a shape that can be stretched: half before, half after, by elements.
void give_codec_time(StepPlan& plan) {
  for (BucketKind& kind : plan.kinds) {
    const Seconds share = static_cast<double>(kind.elements) * 1_ns;
    kind.decode.alone += share;
    kind.rounds.front().encode.alone += share;
  }
}

void stretch_codec(Work& work, double factor) {
  work.alone = work.codec() * factor + work.bucket_copy;
}

StepPlan stretched_codec(StepPlan plan, double factor) {
  for (BucketKind& kind : plan.kinds) {
    stretch_codec(kind.decode, factor);
    for (BucketRound& round : kind.rounds) {
      stretch_codec(round.encode, factor);
    }
  }
  return plan;
}

class PlanStudy {
 public:
  PlanStudy(const Experiment& experiment, const BreakEvenOptions& options)
      : experiment_(experiment),
        options_(options),
        prepared_(experiment),
        rival_(rival_step()),
        network_(experiment.cluster,
                 data_group(experiment.layout, experiment.cluster.gpus_per_node)),
        bandwidth_axis_(bandwidth_axis(experiment), options.rivals, options.mean),
        replica_axis_(replica_axis(experiment), options.rivals, options.mean) {
    if (uses_network()) {
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
    if (uses_network()) {
      result.bandwidth = on_axis<Bandwidth>(
          paying([&](double x) { return bandwidth_axis_.gain(index, x); }, bandwidth_points_));
    }
    result.useful_bandwidth = useful_bandwidth_;
    result.codec_time_now = codec_time(plan);
    result.codec_time = on_axis<Seconds>(codec_set(plan));
    result.wire_ratio_now = wire_ratio(plan);
    result.wire_ratio = wire_set(plan, result.wire_ratio_now);
    result.gpus = gpu_set(index);
    return result;
  }

 private:
  [[nodiscard]] bool uses_network() const { return network_.group().nodes() > 1; }

  [[nodiscard]] std::vector<double> scan(double low, double high) const {
    const double decades = std::log10(high / low);
    return log_spaced(low, high,
                      2 + static_cast<int>(std::ceil(decades * options_.points_per_decade)));
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

  [[nodiscard]] IntervalSet<double> codec_set(StepPlan plan) const {
    if (codec_time(plan) <= 0_s) {
      give_codec_time(plan);
    }
    const double now = codec_time(plan) / 1_s;
    // A codec that takes ten times the rival's step pays for nobody.
    return paying([&](double x) { return gain(stretched_codec(plan, x / now)); },
                  scan(1e-9, 10.0 * (rival_ / 1_s)));
  }

  [[nodiscard]] Bytes contribution(const Message& message) const {
    return message.collective == Collective::all_gather ? message.size / network_.group().ranks
                                                        : message.size;
  }

  [[nodiscard]] double wire_ratio(const StepPlan& plan) const {
    double elements = 0.0;
    Bytes sent;
    for (const StagePlan& stage : plan.stages) {
      for (const Bucket& bucket : stage.buckets) {
        const BucketKind& kind = plan.kind(bucket);
        elements += static_cast<double>(kind.elements);
        for (const BucketRound& round : kind.rounds) {
          sent += contribution(round.message);
        }
      }
    }
    return elements * element_size(experiment_.training.gradient) / sent;
  }

  // The plan with all messages `factor` times as long, priced again. It holds as many compute units
  // as it does now.
  [[nodiscard]] StepPlan resized(StepPlan plan, double factor) const {
    for (BucketKind& kind : plan.kinds) {
      for (BucketRound& round : kind.rounds) {
        Message& message = round.message;
        message.size *= factor;
        message.alone = network_.price(message.collective, message.size).time;
      }
    }
    return plan;
  }

  [[nodiscard]] IntervalSet<double> wire_set(const StepPlan& plan, double now) const {
    const auto choices = [&](double x) {
      std::vector<int> result;
      for (const BucketKind& kind : plan.kinds) {
        for (const BucketRound& round : kind.rounds) {
          const CollectivePrice price =
              network_.price(round.message.collective, round.message.size * (now / x));
          result.push_back(static_cast<int>(price.algorithm) * protocol_count +
                           static_cast<int>(price.protocol));
        }
      }
      return result;
    };
    const std::vector<double> points =
        with_breakpoints(scan(1.0, options_.highest_wire_ratio), choices, options_.resolution);
    return paying([&](double x) { return gain(resized(plan, now / x)); }, points);
  }

  std::optional<IntervalSet<int>> gpu_set(std::size_t index) {
    const ScalingStep step = scaling_step(experiment_);
    const int gpus_per_step = step.nodes * experiment_.cluster.gpus_per_node;
    if (step.replicas > options_.most_gpus || gpus_per_step > options_.most_gpus) {
      return std::nullopt;
    }
    const int most = options_.most_gpus / gpus_per_step;
    std::vector<int> points;
    for (int x = 1; x <= most; x = std::max(x + 1, x * 3 / 2)) {
      points.push_back(x);
    }
    if (points.back() != most) {
      points.push_back(most);
    }
    IntervalSet<double> set =
        beyond_band([&](double x) { return replica_axis_.gain(index, x); },
                    [&](const Gain& excess) { return find_integer_payoff_set(excess, points, 8); });
    set.scanned_low *= gpus_per_step;
    set.scanned_high *= gpus_per_step;
    for (Interval<double>& interval : set.intervals) {
      interval.low *= gpus_per_step;
      interval.high *= gpus_per_step;
    }
    return on_axis<int>(set);
  }

  const Experiment& experiment_;
  const BreakEvenOptions& options_;
  PreparedExperiment prepared_;
  Seconds rival_;
  CollectiveModel network_;
  JobAxis bandwidth_axis_;
  JobAxis replica_axis_;
  std::optional<Bandwidth> useful_bandwidth_;
  std::vector<double> bandwidth_points_;
  bool fits_{};  // the plan studied now
};

}  // namespace

std::vector<BreakEven> break_evens(const Experiment& experiment, const BreakEvenOptions& options) {
  std::vector<BreakEven> result;
  if (experiment.layout.data_ranks() == 1) {
    return result;
  }
  PlanStudy study(experiment, options);
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    result.push_back(study.study(i));
  }
  return result;
}

}  // namespace payoff
