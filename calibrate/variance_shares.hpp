// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// How much of the variance of a sampled value goes back to each variable that was drawn for it:
// least squares of the value on the first two Hermite polynomials, z and z^2 - 1, of every
// variable; the share of a variable is the covariance of its part with the value over the variance
// of the value. For independent standard normal variables that is the first-order index of Sobol
// (1993) up to terms of the third degree.

namespace payoff {

// `draws`: the variables of every draw, as many for each. Zeros where the value does not vary, and
// where there are fewer draws than twice the polynomials, which would be fitted whatever they are.
[[nodiscard]] std::vector<double> variance_shares(const std::vector<std::vector<double>>& draws,
                                                  const std::vector<double>& values);

}  // namespace payoff
