// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

// What some systems tell about one that nobody measured, for a quantity that belongs to hosts and
// not to the link (what the sockets of a node carry). Every system counts once however often it was
// measured; the value is their median, which one odd pair of hosts does not move. Logarithms are
// taken as normal, and the spread is that of a further system: with few of them Student's quantile,
// so that the interval of 90 % is right (Gelman et al., Bayesian Data Analysis, section 3.2, with
// the usual flat prior). Needs two systems.

namespace payoff {

struct BetweenHosts {
  double median{};  // of an even number: the geometric mean of the middle two
  double log_sd{};  // a normal of this width has the same interval of 90 %
};

[[nodiscard]] BetweenHosts between_hosts(std::vector<double> values);

// 95 % quantile of Student's distribution with `freedom` degrees of freedom, at least 1.
[[nodiscard]] double student_quantile_95(std::size_t freedom);
inline constexpr double normal_quantile_95 = 1.6448536269514722;

}  // namespace payoff
