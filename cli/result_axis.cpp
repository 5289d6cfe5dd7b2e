// SPDX-License-Identifier: Apache-2.0
#include "cli/result_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/units.hpp"

namespace payoff {
namespace {

// As the pictures of experiments say it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> axis_words{
    {{"speedup", "speedup over uncompressed"},
     {"step_seconds", "time of a step"},
     {"gpus", "GPUs"},
     {"memory_bytes", "memory of a GPU"},
     {"efficiency_ratio", "scaling efficiency"},
     {"exposed_communication_seconds", "exposed communication of a step"}}};

std::string_view key_of(const SweepResults& results, std::size_t column) {
  for (const ResultAxis& axis : results.axes) {
    if (axis.column == column) {
      return axis.key;
    }
  }
  return {};
}

struct Unit {
  double size;
  std::string_view name;
};
constexpr std::array<Unit, 4> byte_units{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1.0, "bytes"}}};
constexpr std::array<Unit, 3> second_units{{{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}};

// The largest unit that the largest value has one of.
template <std::size_t N>
Unit unit_of(const std::array<Unit, N>& units, double largest) {
  const auto found = std::find_if(units.begin(), units.end(),
                                  [largest](const Unit& unit) { return largest >= unit.size; });
  return found == units.end() ? units.back() : *found;
}

bool are_all_multiples(const std::vector<double>& values, double unit) {
  return std::all_of(values.begin(), values.end(),
                     [unit](double value) { return std::fmod(value, unit) == 0.0; });
}

}  // namespace

std::string column_words(const SweepResults& results, std::size_t column) {
  const std::string& name = results.columns[column].name;
  for (const auto& [known, words] : axis_words) {
    if (known == name) {
      return std::string(words);
    }
  }
  if (key_of(results, column) == "cluster.inter.bandwidth") {
    return "line rate of one NIC";
  }
  std::string words = name.substr(0, name.size() - unit_suffix(name).size());
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

ColumnScale column_scale(const SweepResults& results, std::size_t column,
                         const std::vector<std::size_t>& rows) {
  const std::string& name = results.columns[column].name;
  std::vector<double> values;
  for (const std::size_t row : rows) {
    if (const double value = results.columns[column].numbers[row]; std::isfinite(value)) {
      values.push_back(value);
    }
  }
  const double largest = values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
  const std::string words = column_words(results, column);
  const std::string_view suffix = unit_suffix(name);
  const auto with = [&words](const Unit& unit) {
    return ColumnScale{fmt::format("{} [{}]", words, unit.name), unit.size};
  };
  if (suffix == "_bytes_per_second") {
    return with({(1_Gbps).si, "Gb/s"});
  }
  if (suffix == "_bytes") {
    return are_all_multiples(values, (1_MiB).si) ? with({(1_MiB).si, "MiB"})
                                                 : with(unit_of(byte_units, largest));
  }
  return suffix == "_seconds"         ? with(unit_of(second_units, largest))
         : name == "efficiency_ratio" ? with({0.01, "%"})
                                      : ColumnScale{words, 1.0};
}

ChartAxis column_axis(const SweepResults& results, std::size_t column, double low, double high) {
  if (unit_suffix(results.columns[column].name) == "_bytes_per_second") {
    return span_axis(low, high, usual_rates(low, high));
  }
  const bool counts = low == std::floor(low) && high == std::floor(high);
  return span_axis(low, high, counts ? doublings(low, high) : round_numbers(low, high));
}

}  // namespace payoff
