// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "cli/sweep_results.hpp"

// What `payoff plot` is asked of the results of a sweep: which columns are the axes, what makes a
// curve, and which results are left out.

namespace payoff {

inline constexpr OptionSpec by_option{
    "--by", "COLUMNS", "of results: what makes a curve; default: strategy", Takes::value};
struct ResultQuestion {
  std::size_t x{};
  std::size_t y{};
  bool is_map{};                  // y is an axis of the sweep too
  std::vector<std::size_t> by;    // of curves
  std::string plan;               // the one strategy; empty where `by` tells them apart
  std::vector<std::size_t> rows;  // with a prediction, and as --where says
  std::size_t refused{};          // of these results without a prediction
  std::optional<Span> place;      // of the option that chose x
  std::optional<Span> y_place;    // and y
};

// What is wrong is reported.
[[nodiscard]] ResultQuestion read_result_question(const SweepResults& results,
                                                  const Arguments& arguments, Session& session);

// Two results at one place of one curve or map: reports the axis in which they differ, or that they
// are the same.
void report_same_place(const SweepResults& results, const ResultQuestion& question, std::size_t one,
                       std::size_t other, Session& session);

}  // namespace payoff
