// SPDX-License-Identifier: Apache-2.0
#include "calibrate/sample_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "calibrate/relative_fit.hpp"

namespace payoff {
namespace {

constexpr double lowest_clock_ratio = 0.75;  // as payoff-kernels discards samples
constexpr double most_outliers = 0.2;
constexpr double most_discarded = 0.5;
constexpr double outlier_width = 5.0;
constexpr std::size_t fewest_for_outliers = 5;  // two of three are always close to each other
// Of times that repeat to the last digit: what the timer cannot tell apart.
constexpr double smallest_noise = 1e-4;

// By linear interpolation between order statistics; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

double deviation(const std::vector<double>& sorted) {
  const double median = quantile(sorted, 0.5);
  std::vector<double> distances;
  distances.reserve(sorted.size());
  for (const double value : sorted) {
    distances.push_back(std::abs(value - median));
  }
  std::sort(distances.begin(), distances.end());
  return normal_mad * quantile(distances, 0.5);
}

std::string why_refused(const SampleSummary& summary, std::size_t discarded, double clock_ratio) {
  const auto share = [](std::size_t part, std::size_t rest) {
    return static_cast<double>(part) / static_cast<double>(part + rest);
  };
  if (summary.kept == 0) {
    return "no sample: the clock never recovered";
  }
  if (clock_ratio < lowest_clock_ratio) {
    return "throttled: the clock was below 75 % of what to expect";
  }
  if (discarded > 0 && share(discarded, summary.kept + summary.outliers) > most_discarded) {
    return "throttled: more than half of the samples were discarded";
  }
  if (summary.outliers > 0 && share(summary.outliers, summary.kept) > most_outliers) {
    return "unsteady: more than a fifth of the samples are outliers";
  }
  return {};
}

}  // namespace

SampleSummary summarize_samples(std::span<const Seconds> samples, std::size_t discarded,
                                double clock_ratio) {
  SampleSummary summary;
  std::vector<double> times;
  times.reserve(samples.size());
  for (const Seconds sample : samples) {
    times.push_back(sample / 1.0_s);
  }
  std::sort(times.begin(), times.end());
  if (!times.empty()) {
    const double median = quantile(times, 0.5);
    const double widest = outlier_width * std::max(deviation(times), smallest_noise * median);
    if (times.size() >= fewest_for_outliers) {
      std::erase_if(times, [&](double time) { return std::abs(time - median) > widest; });
    }
    summary.kept = times.size();
    summary.outliers = samples.size() - times.size();
    summary.lowest = Seconds{times.front()};
    summary.first_quartile = Seconds{quantile(times, 0.25)};
    summary.median = Seconds{quantile(times, 0.5)};
    summary.third_quartile = Seconds{quantile(times, 0.75)};
    summary.noise = std::max(deviation(times) / quantile(times, 0.5), smallest_noise);
    // Of the median of normal values: sqrt(pi / 2) of that of their mean.
    summary.relative_sd =
        summary.noise * std::sqrt(std::numbers::pi / 2.0 / static_cast<double>(summary.kept));
  }
  summary.refused = why_refused(summary, discarded, clock_ratio);
  return summary;
}

double drift_of(std::span<const Bandwidth> copies) {
  if (copies.empty()) {
    return 0.0;
  }
  const auto [slowest, fastest] = std::minmax_element(copies.begin(), copies.end());
  return *fastest / *slowest - 1.0;
}

}  // namespace payoff
