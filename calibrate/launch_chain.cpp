// SPDX-License-Identifier: Apache-2.0
#include "calibrate/launch_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

std::optional<LaunchTime> slope(const std::vector<LaunchChain>& chains) {
  LinearSystem system(2);
  for (const LaunchChain& chain : chains) {
    system.add_row(std::array{1.0, chain.launches}, chain.time_us,
                   1.0 / (chain.time_us * chain.relative_sd));
  }
  const LeastSquares line = solve_non_negative(system);
  return line.values[1] > 0.0
             ? std::optional(
                   LaunchTime{line.values[1], std::sqrt(line.covariance[1][1]) / line.values[1]})
             : std::nullopt;
}

LaunchTime weighted_mean(const std::vector<LaunchChain>& chains) {
  double weights = 0;
  double sum = 0;
  for (const LaunchChain& chain : chains) {
    const double one = chain.time_us / chain.launches;
    const double weight = 1.0 / (one * chain.relative_sd * one * chain.relative_sd);
    weights += weight;
    sum += weight * one;
  }
  const double mean = sum / weights;
  double squares = 0;  // of the deviations, in their own standard deviations
  for (const LaunchChain& chain : chains) {
    const double one = chain.time_us / chain.launches;
    const double deviation = (one - mean) / (one * chain.relative_sd);
    squares += deviation * deviation;
  }
  const double more = std::max(1.0, static_cast<double>(chains.size()) - 1.0);
  return {mean, std::sqrt(std::max(1.0, squares / more) / weights) / mean};
}

}  // namespace

std::optional<LaunchTime> fit_launch_chains(std::span<const LaunchChain> chains) {
  std::vector<LaunchChain> timed;
  std::copy_if(chains.begin(), chains.end(), std::back_inserter(timed),
               [](const LaunchChain& chain) {
                 return chain.launches > 0 && chain.time_us > 0 && chain.relative_sd > 0;
               });
  if (timed.empty()) {
    return std::nullopt;
  }
  const bool one_length = std::all_of(timed.begin(), timed.end(), [&](const LaunchChain& chain) {
    return chain.launches == timed.front().launches;
  });
  return one_length ? std::optional(weighted_mean(timed)) : slope(timed);
}

}  // namespace payoff
