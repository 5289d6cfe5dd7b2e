// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

// What one more kernel in a chain of empty ones takes, from chains that were timed as a whole.
// Times are in microseconds; what is not positive is no measurement and is left out.

namespace payoff {

struct LaunchChain {
  double launches{};
  double time_us{};
  double relative_sd{};  // of the time
};

struct LaunchTime {
  double time_us{};
  double relative_sd{};
};

// Chains of several lengths: the slope of a line over the length, neither end below zero, so that
// what a chain costs but once does not count. Of one length: the mean of time over length, weighted
// by the inverse variance, with the standard deviation of that mean: what the chains' own noise
// makes it, or how far they are from each other, whichever is more. Empty where nothing is known.
[[nodiscard]] std::optional<LaunchTime> fit_launch_chains(std::span<const LaunchChain> chains);

}  // namespace payoff
