// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "profiles/source_map.hpp"

namespace payoff {
namespace {

constexpr double linear_below = 1.5;  // of high / low
constexpr double touching = 1.22;     // ticks nearer than this print over one another
constexpr double room = 1.03;

// The smallest of 1, 2 and 5 times a power of ten that makes at most `most` steps of `span`.
double round_step(double span, int most) {
  const double least = span / most;
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= least * (1.0 - 1e-9)) {
      return factor * decade;
    }
  }
  return 10.0 * decade;
}

ChartAxis linear_axis(double low, double high) {
  const double step = round_step(std::max(high - low, 0.02), 6);
  const double first = std::floor(low / step + 1e-9);
  const double last = std::max(first + 1.0, std::ceil(high / step - 1e-9));
  ChartAxis axis{first * step, last * step, false, {}};
  for (double i = first; i <= last; ++i) {
    axis.ticks.push_back(i * step);
  }
  return axis;
}

// The width of an axis and of a digit, in pixels of the picture whose letters are the widest.
constexpr double axis_pixels = 1080.0;
constexpr double digit_pixels = 14.0;

// Whether the labels of two ticks on a logarithmic axis leave less than a digit between them.
bool overlap(double left, double right, double low, double high) {
  const double distance = axis_pixels * std::log(right / left) / std::log(high / low);
  const auto half = [](double tick) {
    return 0.5 * digit_pixels * static_cast<double>(tick_text(tick).size());
  };
  return distance < half(left) + half(right) + digit_pixels;
}

// Every tick, or every second, third, ...: the first choice whose labels do not run together.
std::vector<double> readable(const std::vector<double>& ticks, double low, double high) {
  for (std::size_t stride = 1; stride < ticks.size(); ++stride) {
    std::vector<double> kept;
    for (std::size_t i = 0; i + 1 < ticks.size(); i += stride) {
      kept.push_back(ticks[i]);
    }
    while (kept.size() > 1 && overlap(kept.back(), ticks.back(), low, high)) {
      kept.pop_back();
    }
    kept.push_back(ticks.back());
    const auto touching_pair = std::adjacent_find(
        kept.begin(), kept.end(),
        [&](double left, double right) { return overlap(left, right, low, high); });
    if (touching_pair == kept.end()) {
      return kept;
    }
  }
  return ticks;
}

// Ticks in each decade, fewer the more decades there are.
std::vector<double> log_ticks(double low, double high) {
  std::vector<double> factors = {1, 2, 5};
  if (high / low < 2.2) {
    factors = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9};
  } else if (high / low < 4.0) {
    factors = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
  } else if (high / low < 12.0) {
    factors = {1, 1.5, 2, 3, 5, 7};
  } else if (high / low > 1000.0) {
    factors = {1};
  }
  std::vector<double> ticks;
  for (double decade = std::pow(10.0, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double factor : factors) {
      if (factor * decade >= low / room && factor * decade <= high * room) {
        ticks.push_back(factor * decade);
      }
    }
  }
  return ticks;
}

ChartAxis axis_in_unit(ChartAxis axis, double unit) {
  axis.low *= unit;
  axis.high *= unit;
  axis.unit = unit;
  for (double& tick : axis.ticks) {
    tick *= unit;
  }
  return axis;
}

}  // namespace

ChartAxis value_axis(double low, double high, double unit) {
  if (high / low < linear_below) {
    return axis_in_unit(linear_axis(low / unit, high / unit), unit);
  }
  return axis_in_unit(
      {low / unit / room, high / unit * room, true, log_ticks(low / unit, high / unit)}, unit);
}

ChartAxis axis_from_zero(double high, double unit) {
  const double step = round_step(high / unit, 6);
  ChartAxis axis{0.0, high / unit * room, false, {}};
  for (double i = 0.0; i * step <= axis.high; ++i) {
    axis.ticks.push_back(i * step);
  }
  return axis_in_unit(std::move(axis), unit);
}

ChartAxis span_axis(double low, double high, const std::vector<double>& ticks) {
  ChartAxis axis{low / room, high * room, true, {low}};
  for (const double tick : ticks) {
    if (tick > low * touching && tick < high / touching) {
      axis.ticks.push_back(tick);
    }
  }
  if (high > low) {
    axis.ticks.push_back(high);
    axis.ticks = readable(axis.ticks, low, high);
  }
  return axis;
}

std::string tick_text(double tick) {
  constexpr double most_whole = 1e9;
  const bool whole = tick == std::floor(tick) && std::abs(tick) < most_whole;
  return whole ? fmt::format("{:.0f}", tick) : fmt::format("{:.6g}", tick);
}

double share_of(const ChartAxis& axis, double value) {
  return axis.logarithmic ? std::log(value / axis.low) / std::log(axis.high / axis.low)
                          : (value - axis.low) / (axis.high - axis.low);
}

std::string axis_label(const ChartAxis& axis, std::size_t tick) {
  return axis.labels.empty() ? tick_text(axis.ticks[tick] / axis.unit) : axis.labels[tick];
}

ChartAxis with_room_between(const ChartAxis& axis, double columns) {
  const auto half = [&](std::size_t i) {
    return static_cast<double>(count_characters(axis_label(axis, i))) / 2.0;
  };
  const auto place = [&](std::size_t i) { return columns * share_of(axis, axis.ticks[i]); };
  ChartAxis result = axis;
  result.ticks.clear();
  result.labels.clear();
  const std::size_t last = axis.ticks.size() - 1;  // wraps where there is none: no round
  double end = -columns;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const bool clear = place(i) - half(i) > end + 1.0;
    const bool before_last = place(i) + half(i) + 1.0 < place(last) - half(last);
    if (i == 0 || i == last || (clear && before_last)) {
      result.ticks.push_back(axis.ticks[i]);
      result.labels.push_back(axis_label(axis, i));
      end = place(i) + half(i);
    }
  }
  return result;
}

std::vector<double> doublings(double low, double high) {
  std::vector<double> ticks;
  for (double x = low; x <= high; x *= 2.0) {
    ticks.push_back(x);
  }
  return ticks;
}

std::vector<double> round_numbers(double low, double high) {
  std::vector<double> ticks;
  for (double decade = std::pow(10.0, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * decade >= low && factor * decade <= high) {
        ticks.push_back(factor * decade);
      }
    }
  }
  return ticks;
}

std::vector<double> usual_rates(double low, double high) {
  constexpr std::array<double, 14> rates = {0.1, 0.25, 0.5, 1,   2.5, 5,   10,
                                            25,  50,   100, 200, 400, 800, 1600};
  std::vector<double> ticks;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(ticks),
               [low, high](double rate) { return rate >= low && rate <= high; });
  return ticks;
}

}  // namespace payoff
