// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_span.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace payoff {
namespace {

constexpr double slow = 0.5;         // of speedups; what is slower may be cut
constexpr double many_times = 2.5;   // base and rival; of times, what is above may be cut
constexpr double least_told = 20.0;  // so many times less is not told from zero

// A ribbon may widen the picture by this factor each way; what lies beyond is cut.
constexpr double widest_band = 1.6;

std::vector<double> values_of(const std::vector<ChartPoint>& points) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const ChartPoint& point : points) {
    values.push_back(point.y);
  }
  return values;
}

// Of an even number the one that is nearer to zero.
double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Extent {
  double low{std::numeric_limits<double>::infinity()};
  double high{};

  void see(const std::vector<double>& values) {
    for (const double value : values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
};

// Of base and rival.
Extent fixed_extent(const Chart& chart) {
  Extent extent;
  extent.see(values_of(chart.rival.points));
  if (!chart.base_label.empty()) {
    extent.see(chart.base.empty() ? std::vector<double>{1.0} : values_of(chart.base));
  }
  return extent;
}

Extent whole_extent(const Chart& chart) {
  Extent extent = fixed_extent(chart);
  for (const ChartCurve& curve : chart.curves) {
    extent.see(values_of(curve.points));
  }
  return extent;
}

// With the best mean; null without curves.
const ChartCurve* best_curve(const Chart& chart, bool less_is_better) {
  const ChartCurve* best = nullptr;
  double best_mean = 0.0;
  for (const ChartCurve& curve : chart.curves) {
    const std::vector<double> values = values_of(curve.points);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                        std::max(1.0, static_cast<double>(values.size()));
    if (!values.empty() &&
        (best == nullptr || (less_is_better ? mean < best_mean : mean > best_mean))) {
      best = &curve;
      best_mean = mean;
    }
  }
  return best;
}

// An end of the axis, farther out where half of a curve's points or the best curve would be cut.
double with_halves(double end, const Chart& chart, bool less_is_better) {
  const auto see = [&](double value) {
    end = less_is_better ? std::max(end, value) : std::min(end, value);
  };
  for (const ChartCurve& curve : chart.curves) {
    if (!curve.points.empty()) {
      see(middle_of(values_of(curve.points)));
    }
  }
  if (const ChartCurve* best = best_curve(chart, less_is_better)) {
    for (const double value : values_of(best->points)) {
      see(value);
    }
  }
  return end;
}

double lowest_speedup(const Chart& chart) {
  const double low = std::max(slow, whole_extent(chart).low);
  return with_halves(std::min(fixed_extent(chart).low, low), chart, false);
}

double highest_cost(const Chart& chart) {
  const double high = whole_extent(chart).high;
  const double own = fixed_extent(chart).high;
  return with_halves(own > 0.0 ? std::min(high, many_times * own) : high, chart, true);
}

ValueSpan span_from_zero(const Chart& chart) {
  const Extent whole = whole_extent(chart);
  const double high = chart.less_is_better ? highest_cost(chart) : whole.high;
  double smallest = high;
  for (const ChartCurve& curve : chart.curves) {
    smallest =
        curve.points.empty() ? smallest : std::min(smallest, middle_of(values_of(curve.points)));
  }
  if (whole.low > 0.0 && smallest * least_told < whole.high) {
    return {whole.low, whole.high, true, {}};
  }
  return {0.0, high > 0.0 ? high : chart.y_unit, false, {}};
}

}  // namespace

ValueSpan shown_values(const Chart& chart) {
  const Extent whole = whole_extent(chart);
  ValueSpan span{whole.low, whole.high, true, {}};
  if (chart.values == ChartValues::from_zero) {
    span = span_from_zero(chart);
  } else if (chart.values == ChartValues::speedups) {
    span.low = lowest_speedup(chart);
  }
  for (const ChartCurve& curve : chart.curves) {
    Extent own;
    own.see(values_of(curve.points));
    if (own.high > span.high) {
      span.cut.push_back({curve.label, own.high});
    } else if (own.low < span.low) {
      span.cut.push_back({curve.label, own.low});
    }
  }
  return span;
}

ChartAxis axis_of_values(const Chart& chart) {
  const ValueSpan span = shown_values(chart);
  if (!span.logarithmic) {
    return axis_from_zero(span.high, chart.y_unit);
  }
  double low = span.low;
  double high = span.high;
  if (chart.values == ChartValues::speedups) {
    const double band_low = low / widest_band;
    const double band_high = high * widest_band;
    for (const ChartCurve& curve : chart.curves) {
      for (const ChartBandPoint& point : curve.band) {
        low = std::min(low, std::max(point.low, band_low));
        high = std::max(high, std::min(point.high, band_high));
      }
    }
  }
  return value_axis(span.cut.empty() ? low : span.low, high, chart.y_unit);
}

std::string ribbon_note(const Chart& chart) {
  const ChartAxis axis = axis_of_values(chart);
  Extent band;
  for (const ChartCurve& curve : chart.curves) {
    for (const ChartBandPoint& point : curve.band) {
      band.see({point.low, point.high});
    }
  }
  std::string text;
  if (band.high > axis.high) {
    text = fmt::format("up to {:.3g}", band.high / chart.y_unit);
  }
  if (band.low < axis.low) {
    text += fmt::format("{}down to {:.3g}", text.empty() ? "" : " and ", band.low / chart.y_unit);
  }
  return text.empty() ? text : fmt::format("The ribbon goes on {}.", text);
}

std::string cut_note(const Chart& chart) {
  const ValueSpan span = shown_values(chart);
  const bool above = chart.values == ChartValues::from_zero;
  std::string text;
  for (const CutCurve& curve : span.cut) {
    text += fmt::format("{}{} ({} {:.3g})", text.empty() ? "" : ", ", curve.label,
                        above ? "up to" : "down to", curve.value / chart.y_unit);
  }
  return text.empty() ? text
                      : fmt::format("Not drawn {} {:.3g}: {}.", above ? "above" : "below",
                                    (above ? span.high : span.low) / chart.y_unit, text);
}

}  // namespace payoff
