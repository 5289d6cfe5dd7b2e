// SPDX-License-Identifier: Apache-2.0
#include "cli/speedup_chart.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "cli/break_even_text.hpp"
#include "cli/interval_text.hpp"
#include "cli/speedup_notes.hpp"
#include "model/units_text.hpp"
#include "study/break_even.hpp"
#include "study/remedy.hpp"

namespace payoff {
namespace {

// More plans than this get one ribbon: that of the fastest.
constexpr std::size_t most_intervals_named = 2;

double on_chart(int gpus) { return gpus; }
double on_chart(Bandwidth bandwidth) { return bandwidth / 1_Gbps; }
double on_chart(double parameters) { return parameters / 1e9; }

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

// Where no interval reaches the axis that is drawn, the curve does not show what the words say.
template <typename X>
std::string beyond_axis(const IntervalSet<X>& set, const ChartAxis& axis) {
  const bool seen =
      std::any_of(set.intervals.begin(), set.intervals.end(), [&axis](const Interval<X>& interval) {
        return (interval.open_low || on_chart(interval.low) <= axis.high) &&
               (interval.open_high || on_chart(interval.high) >= axis.low);
      });
  return seen || set.never() ? "" : ", beyond this axis";
}

std::string gpu_count_text(int gpus) { return std::to_string(gpus); }
std::string billions_text(double parameters) { return fmt::format("{:.3g}", parameters / 1e9); }

std::string where_it_pays(const BreakEven& entry, PlotAxis axis, const ChartAxis& drawn) {
  if (axis == PlotAxis::gpus) {
    return entry.gpus ? where_it_pays(*entry.gpus, " GPUs", gpu_count_text) + possible_text(entry) +
                            beyond_axis(*entry.gpus, drawn)
                      : "";
  }
  return axis == PlotAxis::bandwidth && entry.bandwidth
             ? where_it_pays(*entry.bandwidth, "", link_rate_text) +
                   beyond_axis(*entry.bandwidth, drawn)
             : "";
}

// Whatever the picture compares with, a strategy pays where it beats the best remedy.
std::string rival_remark() {
  return fmt::format("what is over {:g} % faster pays", 100.0 * noise_band);
}

// Points of a chart from those of curves. Speedups are over the rival that was asked for, from
// those over the job as given.
template <typename X>
class Drawing {
 public:
  Drawing(const Curves<X>& curves, PlotQuantity quantity, bool against_remedy)
      : curves_(curves), quantity_(quantity), against_remedy_(against_remedy) {}

  [[nodiscard]] ChartCurve curve(const Curve<X>& from) const {
    ChartCurve result{from.label, {}, {}, {}, {}};
    const bool marked = quantity_ == PlotQuantity::speedup || quantity_ == PlotQuantity::step_time;
    const auto& ends = from.break_evens;
    for (const CurvePoint<X>& point : from.points) {
      result.points.push_back({on_chart(point.x), value(point)});
      if (marked && std::find(ends.begin(), ends.end(), point.x) != ends.end()) {
        result.marks.push_back(result.points.back());
      }
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
  [[nodiscard]] double value(const CurvePoint<X>& point) const {
    switch (quantity_) {
      case PlotQuantity::step_time:
        return point.step.si;
      case PlotQuantity::exposed:
        return point.exposed.si;
      case PlotQuantity::efficiency:
        return curves_.plans.front().points.front().step / point.step;
      case PlotQuantity::speedup:
        break;
    }
    return point.speedup / base_at(point.x);
  }

  [[nodiscard]] double base_at(X x) const {
    const auto& points = curves_.remedy.points;
    const auto at = std::find_if(points.begin(), points.end(),
                                 [x](const CurvePoint<X>& point) { return point.x == x; });
    return against_remedy_ && at != points.end() ? at->speedup : 1.0;
  }

  const Curves<X>& curves_;
  PlotQuantity quantity_;
  bool against_remedy_;
};

bool is_against_remedy(const PlotQuestion& question) {
  return question.quantity == PlotQuantity::speedup && question.rival == PlotRival::remedy;
}

// Both ends are those of the jobs that were found.
template <typename X>
void add_axis(const Curves<X>& curves, PlotAxis axis, Chart& chart) {
  chart.x_label = axis_text(axis).label;
  if (const auto& jobs = curves.plans.front().points; !jobs.empty()) {
    chart.x = axis_between(axis, on_chart(jobs.front().x), on_chart(jobs.back().x));
  }
}

// Whether any remedy helps at any point, though none may for the job as given. Without, there is no
// rival but the uncompressed job.
template <typename X>
bool add_curves(const Curves<X>& curves, const PlotQuestion& question, Chart& chart) {
  constexpr double rounding = 1e-9;
  const bool helps =
      std::any_of(curves.remedy.points.begin(), curves.remedy.points.end(),
                  [](const CurvePoint<X>& point) { return point.speedup > 1.0 + rounding; });
  const bool against_remedy = helps && is_against_remedy(question);
  const Drawing<X> drawing(curves, question.quantity, against_remedy);
  if (helps) {
    chart.rival = drawing.curve(against_remedy ? curves.plans.front() : curves.remedy);
  }
  if (question.quantity != PlotQuantity::speedup && !curves.plans.empty()) {
    chart.base = drawing.curve(curves.plans.front()).points;
  }
  for (std::size_t i = 1; i < curves.plans.size(); ++i) {
    chart.curves.push_back(drawing.curve(curves.plans[i]));
    if constexpr (std::is_same_v<X, double>) {  // of sizes of the model there is no table
      const IntervalSet<double>& pays = *curves.plans[i].pays;
      chart.curves.back().remark = where_it_pays(pays, " billion parameters", billions_text);
    }
    if (question.scaling.band_of == i) {
      chart.curves.back().band = drawing.band();
    }
  }
  return helps;
}

// What the lines of the picture mean that its legend does not say.
std::vector<std::string> captions(const Variant& remedy, bool helps, bool marked,
                                  const PlotQuestion& question) {
  const std::string best =
      (remedy.description.empty() ? "none" : remedy.description) + " for the job as given";
  std::vector<std::string> lines;
  if (marked) {  // else no circle is drawn
    lines.push_back(
        helps ? fmt::format("Circle: begins or ceases to pay against the best remedy ({}).", best)
              : "Circle: begins or ceases to pay. No uncompressed remedy helps here.");
  } else {
    lines.push_back(helps ? fmt::format("Best remedy: {}.", best)
                          : "No uncompressed remedy helps here.");
  }
  if (question.quantity == PlotQuantity::efficiency) {
    lines.emplace_back(
        "Samples a GPU trains in a second, over those of the job as given on the fewest GPUs.");
  }
  if (question.axis == PlotAxis::model) {
    lines.emplace_back("Depth and width of the model grow together; layout and batch stay.");
  }
  return lines;
}

// The curves along the axis that was asked for, with its ends and what they do not tell themselves;
// whether any remedy helps.
bool add_all_curves(const Experiment& experiment, const std::vector<BreakEven>& answers,
                    const PlotQuestion& question, Chart& chart) {
  const ScalingOptions& scaling = question.scaling;
  switch (question.axis) {
    case PlotAxis::bandwidth: {
      const Curves<Bandwidth> curves = bandwidth_curves(experiment, answers, scaling);
      chart.x_label = axis_text(question.axis).label;
      chart.x = axis_between(question.axis, scaling.lowest_bandwidth / 1_Gbps,
                             scaling.highest_bandwidth / 1_Gbps);
      note_node_limit(experiment, scaling, chart);
      return add_curves(curves, question, chart);
    }
    case PlotAxis::model: {
      const Curves<double> curves = size_curves(experiment, scaling);
      add_axis(curves, question.axis, chart);
      note_large_models(curves, chart);
      return add_curves(curves, question, chart);
    }
    case PlotAxis::gpus:
      break;
  }
  const Curves<int> curves = gpu_curves(experiment, answers, scaling);
  add_axis(curves, question.axis, chart);
  note_single_replica(curves, chart);
  note_ends(curves, scaling.most_gpus, chart);
  return add_curves(curves, question, chart);
}

// Where each strategy pays, and beside the remedy from where on that is.
void add_remarks(const std::vector<BreakEven>& answers, PlotAxis axis, std::string& of_remedy,
                 Chart& chart) {
  for (ChartCurve& curve : chart.curves) {
    for (const BreakEven& answer : answers) {
      if (answer.label == curve.label) {
        curve.remark = where_it_pays(answer, axis, chart.x);
      }
    }
    of_remedy = curve.remark.empty() ? of_remedy : rival_remark();
  }
}

}  // namespace

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

Chart speedup_chart(const Experiment& experiment, const RemedyLimits& limits,
                    const PlotQuestion& asked) {
  const bool speedups = asked.quantity == PlotQuantity::speedup;
  PlotQuestion question = asked;
  question.scaling.rivals = limits;
  question.scaling.band_of = speedups ? fastest_plan(experiment) : std::nullopt;
  const std::vector<BreakEven> answers = question.axis == PlotAxis::model
                                             ? std::vector<BreakEven>()
                                             : break_evens(experiment, {.rivals = limits});
  Chart chart;
  chart.title = plot_title(experiment, {question.axis});
  if (const std::string note = memory_note(experiment); !note.empty()) {
    chart.notes.push_back(note);
  }
  const bool helps = add_all_curves(experiment, answers, question, chart);
  const bool marked = std::any_of(chart.curves.begin(), chart.curves.end(),
                                  [](const ChartCurve& curve) { return !curve.marks.empty(); });
  chart.captions = captions(best_remedy(experiment, limits), helps, marked, question);
  if (question.scaling.band_of) {
    chart.picture_captions.push_back(
        fmt::format("Ribbon: 90 % of the draws of {}, the fastest for the job as given.",
                    experiment.plans[*question.scaling.band_of].label));
  }
  const bool against_remedy = helps && is_against_remedy(question);
  chart.base_label = against_remedy ? "best remedy" : "uncompressed";
  set_values(question.quantity, chart);
  chart.rival.label = against_remedy ? "uncompressed" : "best remedy";
  add_remarks(answers, question.axis,
              helps && !against_remedy ? chart.rival.remark : chart.base_remark, chart);
  return chart;
}

}  // namespace payoff
