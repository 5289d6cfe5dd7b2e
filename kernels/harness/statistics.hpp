// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "model/units.hpp"

// What is said about the samples of one point, and when there are enough of them. Two criteria, as
// nvbench has: the standard deviation relative to the mean is small, or the entropy of the values
// has stopped growing, which says that more samples would only repeat the distribution that is
// there, however wide it is.

namespace payoff::kernels {

struct Summary {
  Seconds median{};      // of an even number: halfway between the middle two
  double noise_ratio{};  // standard deviation over mean; zero for a single sample
};

// Needs one sample at least.
[[nodiscard]] Summary summarize(std::span<const Seconds> samples);

// One of the values: the middle one, of an even number the upper of the middle two. Needs one.
template <typename T>
[[nodiscard]] T upper_median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Slope and coefficient of determination of a straight line through (0, y0), (1, y1), ...
struct Line {
  double slope{};
  double determination{};  // 1 where the values do not vary
};
[[nodiscard]] Line fitted_line(std::span<const double> values);

// Follows the entropy (bits) of the times seen so far, each in bins of one timer tick.
class EntropyTrace {
 public:
  explicit EntropyTrace(Seconds tick) : tick_(tick) {}

  void add(Seconds sample);
  // Whether the entropy's last `window` values lie on a level line: slope below `slope_limit` bits
  // a sample, and, as nvbench asks, a line that explains at least `least_determination` of them:
  // where it explains less, the slope is that of no line.
  [[nodiscard]] bool is_level() const;
  [[nodiscard]] double entropy() const { return trace_.empty() ? 0.0 : trace_.back(); }

  static constexpr std::size_t window = 40;      // nvbench has 299
  static constexpr double slope_limit = 8.4e-4;  // tan of 0.048 degrees
  static constexpr double least_determination = 0.36;

 private:
  Seconds tick_;
  std::map<long long, std::size_t> bins_;
  std::size_t count_ = 0;
  double sum_of_logs_ = 0.0;  // of count log2 count over the bins
  std::vector<double> trace_;
};

}  // namespace payoff::kernels
