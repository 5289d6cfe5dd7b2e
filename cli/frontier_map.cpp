// SPDX-License-Identifier: Apache-2.0
#include "cli/frontier_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace payoff {
namespace {

// Why there is no line: all values are on one side of it, or it would run beside grey cells only,
// where there is no job to predict.
std::string without_line(const Frontier& frontier, double FrontierValue::*ratio) {
  std::size_t faster = 0;
  std::size_t slower = 0;
  for (const std::optional<FrontierValue>& value : frontier.values) {
    faster += value && (*value).*ratio > 1.0 ? 1U : 0U;
    slower += value && (*value).*ratio < 1.0 ? 1U : 0U;
  }
  if (faster > 0 && slower > 0) {
    return fmt::format(": faster in {} of {} cells, beside grey ones", faster,
                       std::count_if(frontier.values.begin(), frontier.values.end(),
                                     [](const auto& value) { return value.has_value(); }));
  }
  return faster > 0   ? ": nowhere here, faster"
         : slower > 0 ? ": nowhere here, slower"
                      : ": everywhere here";
}

// "as fast as uncompressed", or which way it is not.
HeatLine line_of(const Frontier& frontier, double FrontierValue::*ratio,
                 const std::vector<FrontierLine>& lines, const std::string& rival) {
  HeatLine result{"as fast as " + rival, "faster than " + rival, {}, false, {}};
  if (lines.empty()) {
    result.label += without_line(frontier, ratio);
  }
  for (const FrontierLine& line : lines) {
    std::vector<ChartPoint>& path = result.paths.emplace_back();
    for (const FrontierPlace& place : line) {
      path.push_back({place.x, place.y});
    }
  }
  return result;
}

}  // namespace

std::vector<HeatLine> frontier_lines(const Frontier& frontier, double x_unit, double y_unit) {
  std::vector<HeatLine> lines = {
      line_of(frontier, &FrontierValue::speedup, frontier.even, "uncompressed")};
  lines[0].letter = '+';
  if (std::any_of(frontier.values.begin(), frontier.values.end(), [](const auto& value) {
        return value && std::isfinite(value->against_remedy);
      })) {
    lines.push_back(line_of(frontier, &FrontierValue::against_remedy, frontier.even_with_remedy,
                            "the best uncompressed remedy"));
    lines[1].letter = '#';
    lines[1].dashed = true;
  }
  for (HeatLine& line : lines) {
    for (std::vector<ChartPoint>& path : line.paths) {
      for (ChartPoint& point : path) {
        point = {point.x / x_unit, point.y / y_unit};
      }
    }
  }
  return lines;
}

std::vector<double> in_unit(std::vector<double> values, double unit) {
  for (double& value : values) {
    value /= unit;
  }
  return values;
}

HeatCell frontier_cell(const FrontierValue& value) {
  const bool faster = value.speedup > 1.0;
  const bool beats = faster && value.against_remedy > 1.0;
  return {value.speedup, !value.fits, beats ? 2U : faster ? 1U : 0U};
}

ChartAxis filled_axis(ChartAxis axis, const std::vector<double>& values) {
  axis.low = values.front() / 1.002;
  axis.high = values.back() * 1.002;
  return axis;
}

}  // namespace payoff
