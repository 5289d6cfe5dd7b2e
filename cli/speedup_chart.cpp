// SPDX-License-Identifier: Apache-2.0
#include "cli/speedup_chart.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/interval_text.hpp"
#include "cli/names.hpp"
#include "model/units_text.hpp"
#include "study/break_even.hpp"
#include "study/job_axis.hpp"
#include "study/remedy.hpp"

namespace payoff {
namespace {

// More plans than this get one ribbon: that of the fastest.
constexpr std::size_t most_intervals_named = 2;

double on_chart(int gpus) { return gpus; }
double on_chart(Bandwidth bandwidth) { return bandwidth / 1_Gbps; }

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "pays from 12 GPUs": as the tables say it, cut where it is longer than a legend.
template <typename X, typename Print>
std::string where_it_pays(IntervalSet<X> set, std::string_view unit, Print print) {
  if (set.never() || set.always()) {
    return set.no_difference ? "no difference" : set.never() ? "never pays" : "always pays";
  }
  const bool cut = set.intervals.size() > most_intervals_named;
  if (cut) {
    set.intervals.resize(most_intervals_named);
  }
  return fmt::format("pays {}{}{}", interval_text(set, print), cut ? ", ..." : "", unit);
}

std::string where_it_pays(const BreakEven& entry, PlotAxis axis) {
  if (axis == PlotAxis::gpus) {
    return entry.gpus ? where_it_pays(*entry.gpus, " GPUs", [](int n) { return std::to_string(n); })
                      : "";
  }
  return entry.bandwidth ? where_it_pays(*entry.bandwidth, "", link_rate_text) : "";
}

// Speedups over the rival that was asked for, from those over the job as given.
template <typename X>
class Drawing {
 public:
  Drawing(const Curves<X>& curves, bool against_remedy)
      : curves_(curves), against_remedy_(against_remedy) {}

  [[nodiscard]] ChartCurve curve(const Curve<X>& from) const {
    ChartCurve result{from.label, {}, {}, {}, {}};
    for (const CurvePoint<X>& point : from.points) {
      result.points.push_back({on_chart(point.x), point.speedup / base_at(point.x)});
    }
    for (const X x : from.break_evens) {
      result.marks.push_back({on_chart(x), value_at(result.points, on_chart(x))});
    }
    return result;
  }

  [[nodiscard]] std::vector<ChartBandPoint> band() const {
    std::vector<ChartBandPoint> result;
    for (const BandPoint<X>& point : curves_.band) {
      const double base = base_at(point.x);
      result.push_back({on_chart(point.x), point.low / base, point.high / base});
    }
    return result;
  }

 private:
  [[nodiscard]] double base_at(X x) const {
    const auto& points = curves_.remedy.points;
    const auto at = std::find_if(points.begin(), points.end(),
                                 [x](const CurvePoint<X>& point) { return point.x == x; });
    return against_remedy_ && at != points.end() ? at->speedup : 1.0;
  }

  const Curves<X>& curves_;
  bool against_remedy_;
};

template <typename X>
void add_curves(const Curves<X>& curves, bool against_remedy, std::optional<std::size_t> band_of,
                Chart& chart) {
  const Drawing<X> drawing(curves, against_remedy);
  if (!curves.remedy.points.empty()) {
    chart.rival = drawing.curve(against_remedy ? curves.plans.front() : curves.remedy);
  }
  for (std::size_t i = 1; i < curves.plans.size(); ++i) {
    chart.curves.push_back(drawing.curve(curves.plans[i]));
    if (band_of && *band_of == i) {
      chart.curves.back().band = drawing.band();
    }
  }
}

std::optional<std::size_t> fastest_plan(const Experiment& experiment) {
  const PreparedExperiment prepared(experiment);
  std::optional<std::size_t> fastest;
  Seconds best{};
  for (std::size_t i = 1; i < experiment.plans.size(); ++i) {
    const Seconds step = prepared.predict(experiment.plans[i]).step;
    if (!fastest || step < best) {
      fastest = i;
      best = step;
    }
  }
  return fastest;
}

std::vector<std::string> captions(const Experiment& experiment, const Variant& remedy,
                                  std::optional<std::size_t> band_of) {
  std::vector<std::string> lines = {
      remedy.description.empty()
          ? "Circle: begins or ceases to pay. No uncompressed remedy helps here."
          : fmt::format("Circle: crosses the best uncompressed remedy ({} for the job as given).",
                        remedy.description)};
  if (band_of) {
    lines.push_back(
        fmt::format("Ribbon: 90 % of the draws of {}, the fastest for the job as given.",
                    experiment.plans[*band_of].label));
  }
  return lines;
}

// Where one replica is all there is, strategies have no points.
void note_single_replica(const Curves<int>& curves, Chart& chart) {
  if (curves.plans.size() < 2 || curves.plans.front().points.empty()) {
    return;
  }
  const auto& compressed = curves.plans[1].points;
  int most = 0;
  for (const CurvePoint<int>& point : curves.plans.front().points) {
    if (compressed.empty() || point.x < compressed.front().x) {
      most = point.x;
    }
  }
  if (most > 0) {
    chart.notes.push_back(
        fmt::format("Nothing to compress at {} GPUs: one replica sends no gradients.", most));
  }
}

void note_memory(const Experiment& experiment, Chart& chart) {
  const PreparedExperiment prepared(experiment);
  std::vector<std::string> labels;
  Memory largest;
  for (const CompressionPlan& plan : experiment.plans) {
    const Memory memory = prepared.predict(plan).memory;
    if (!memory.fits()) {
      labels.push_back(&plan == &experiment.plans.front() ? "uncompressed" : plan.label);
      largest = memory.total() > largest.total() ? memory : largest;
    }
  }
  if (labels.empty()) {
    return;
  }
  const std::string size =
      fmt::format("{} of {}", to_text(largest.total()), to_text(largest.capacity));
  chart.notes.push_back(
      labels.size() == experiment.plans.size()
          ? fmt::format("The job as given does not fit a GPU, compressed or not: {}.", size)
          : fmt::format("Does not fit a GPU in the job as given: {} (up to {}).",
                        fmt::join(labels, ", "), size));
}

std::string title(const Experiment& experiment, PlotAxis axis) {
  const Cluster& cluster = experiment.cluster;
  const std::string size =
      axis == PlotAxis::gpus
          ? fmt::format("{} x {} a node", cluster.nics_per_node, link_rate_text(cluster.nic))
          : counted(experiment.layout.ranks(), "GPU");
  return fmt::format("{} on {}, {}, {} a GPU and micro-batch", model_name(experiment), cluster.name,
                     size, counted(experiment.layout.micro_batch, "sample"));
}

void add_bandwidth_axis(const Experiment& experiment, const ScalingOptions& scaling, Chart& chart) {
  const double low = scaling.lowest_bandwidth / 1_Gbps;
  const double high = scaling.highest_bandwidth / 1_Gbps;
  chart.x_label = "line rate of one NIC [Gb/s]";
  chart.x = span_axis(low, high, usual_rates(low, high));
  if (const auto useful = useful_bandwidth(experiment, scaling.highest_bandwidth)) {
    if (*useful > scaling.lowest_bandwidth) {
      chart.limits.push_back(
          {*useful / 1_Gbps, fmt::format("{} carry no more: faster NICs change nothing",
                                         limit_beyond(experiment, *useful) == NodeLimit::sockets
                                             ? "the sockets of a node"
                                             : "the PCIe slots")});
    }
  }
}

}  // namespace

Chart speedup_chart(const Experiment& experiment, const RemedyLimits& limits,
                    const PlotQuestion& question) {
  const Variant remedy = best_remedy(experiment, limits);
  const bool helps = !remedy.description.empty();
  const bool against_remedy = question.rival == PlotRival::remedy && helps;
  ScalingOptions scaling = question.scaling;
  scaling.rivals = limits;
  scaling.band_of = fastest_plan(experiment);
  const std::vector<BreakEven> answers = break_evens(experiment, {.rivals = limits});
  Chart chart;
  chart.title = title(experiment, question.axis);
  chart.captions = captions(experiment, remedy, scaling.band_of);
  note_memory(experiment, chart);
  chart.base_label = against_remedy ? "best remedy" : "uncompressed";
  chart.y_label = "speedup over " + chart.base_label;
  if (question.axis == PlotAxis::gpus) {
    const Curves<int> curves = gpu_curves(experiment, answers, scaling);
    add_curves(curves, against_remedy, scaling.band_of, chart);
    note_single_replica(curves, chart);
    chart.x_label = "GPUs";
    if (const auto& jobs = curves.plans.front().points; !jobs.empty()) {
      const double low = jobs.front().x;
      const double high = jobs.back().x;
      chart.x = span_axis(low, high, doublings(low, high));
    }
  } else {
    add_curves(bandwidth_curves(experiment, answers, scaling), against_remedy, scaling.band_of,
               chart);
    add_bandwidth_axis(experiment, scaling, chart);
  }
  if (!helps) {
    chart.rival = {};
  }
  chart.rival.label = against_remedy ? "uncompressed" : "best remedy";
  for (ChartCurve& curve : chart.curves) {
    for (const BreakEven& answer : answers) {
      if (answer.label == curve.label) {
        curve.remark = where_it_pays(answer, question.axis);
      }
    }
  }
  return chart;
}

}  // namespace payoff
