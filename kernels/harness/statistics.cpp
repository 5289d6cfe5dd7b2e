// SPDX-License-Identifier: Apache-2.0
#include "kernels/harness/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace payoff::kernels {
namespace {

Seconds median_of(const std::vector<Seconds>& sorted) {
  const Seconds below = sorted[(sorted.size() - 1) / 2];
  const Seconds above = sorted[sorted.size() / 2];
  return below + 0.5 * (above - below);
}

double count_log(std::size_t count) {
  const auto n = static_cast<double>(count);
  return count == 0 ? 0.0 : n * std::log2(n);
}

}  // namespace

Summary summarize(std::span<const Seconds> samples) {
  std::vector<Seconds> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  Seconds sum{};
  for (const Seconds sample : sorted) {
    sum += sample;
  }
  const Seconds mean = sum / count;
  double squares = 0.0;
  for (const Seconds sample : sorted) {
    const double deviation = (sample - mean) / mean;
    squares += deviation * deviation;
  }
  return {median_of(sorted), sorted.size() > 1 ? std::sqrt(squares / (count - 1.0)) : 0.0};
}

Line fitted_line(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double value : values) {
    mean += value / count;
  }
  const double middle = (count - 1.0) / 2.0;
  double xx = 0.0;
  double xy = 0.0;
  double yy = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    const double y = values[i] - mean;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (xx == 0.0) {
    return {0.0, 1.0};
  }
  return {xy / xx, yy > 0.0 ? xy * xy / (xx * yy) : 1.0};
}

void EntropyTrace::add(Seconds sample) {
  std::size_t& bin = bins_[std::llround(sample / tick_)];
  sum_of_logs_ += count_log(bin + 1) - count_log(bin);
  ++bin;
  ++count_;
  // -sum p log p with p = c/n is log n - (sum c log c) / n.
  const auto n = static_cast<double>(count_);
  trace_.push_back(std::log2(n) - sum_of_logs_ / n);
}

bool EntropyTrace::is_level() const {
  if (trace_.size() < window) {
    return false;
  }
  const auto last = std::span(trace_).last(window);
  constexpr double rounding = 1e-12;  // bits: of the logarithms above
  const auto [lowest, highest] = std::minmax_element(last.begin(), last.end());
  if (*highest - *lowest <= rounding) {
    return true;  // what does not vary, any level line explains
  }
  const Line line = fitted_line(last);
  return std::abs(line.slope) <= slope_limit && line.determination >= least_determination;
}

}  // namespace payoff::kernels
