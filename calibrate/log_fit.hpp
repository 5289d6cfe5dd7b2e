// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

// Fit of positive parameters to positive measurements by regularised Gauss-Newton on logarithms:
// minimise sum ((ln model - ln measured) / sd)^2 + sum ((ln p - ln prior) / prior_sd)^2 with a
// central-difference Jacobian and step halving. Parameters that no measurement moves stay at their
// priors and keep their widths. The covariance is that of ln p at the minimum (Laplace). Residuals
// beyond `robust_sd` standard deviations count linearly (Huber), so that a misread row does not
// bend the rest. Deterministic: no random numbers, sums in a fixed order.

namespace payoff {

struct LogParameter {
  std::string name;
  double prior{};
  double prior_log_sd{};
};

struct LogObservation {
  double measured{};
  double log_sd{};
  std::vector<std::size_t> depends_on;  // parameters that may move it
};

struct LogFitOptions {
  double robust_sd{3};
  double step{0.01};  // of the central differences, in ln p
  int max_iterations{30};
  double tolerance{1e-5};  // largest change of ln p in the last iteration
};

struct LogFit {
  std::vector<double> values;
  std::vector<double> log_covariance;  // row by row
  std::vector<double> log_residuals;   // ln(model / measured)
  double objective{};
  int iterations{};
  bool converged{};

  [[nodiscard]] double log_sd(std::size_t parameter) const;
};

// Predicts observation `index` at the given parameter values; must be positive.
using LogModel = std::function<double(std::size_t index, std::span<const double> values)>;

[[nodiscard]] LogFit fit_logarithms(const std::vector<LogParameter>& parameters,
                                    const std::vector<LogObservation>& observations,
                                    const LogModel& model, const LogFitOptions& options = {});

}  // namespace payoff
