// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

// Fits the parameters of a nonlinear but nearly linear model to times by their relative errors:
// Gauss-Newton, every step a linear least squares with lower bounds (calibrate/least_squares.hpp).
// A prior (mean and standard deviation) stands for what is known without the data and keeps
// parameters that the data do not determine where they were. Rows with errors far beyond the
// typical one lose weight (Huber, tuning constant 1.5), because public logs contain accidents.

namespace payoff {

struct Prior {
  double mean{};
  double sd{};
  double lower{};  // bound of the parameter
};

struct RelativeRows {
  std::vector<double> measured;
  std::vector<double> weight;  // how many independent rows one row is worth, at most 1
};

struct RelativeFit {
  std::vector<double> values;
  std::vector<std::vector<double>> covariance;
  std::vector<double> errors;  // predicted / measured - 1
};

// Relative standard deviation of one row of a published table.
inline constexpr double measurement_noise = 0.05;

// Predictions of all rows for the given parameters.
using RelativeModel = std::function<std::vector<double>(std::span<const double>)>;

// `noise`: relative standard deviation of a measurement.
[[nodiscard]] RelativeFit fit_relative(const RelativeRows& rows, std::span<const Prior> priors,
                                       const RelativeModel& model, double noise);

// Standard deviation over median absolute deviation, of a normal distribution.
inline constexpr double normal_mad = 1.4826;

// The median of the absolute values, of an even number the larger of the middle two; 0 for none.
[[nodiscard]] double median_magnitude(std::vector<double> values);

}  // namespace payoff
