// SPDX-License-Identifier: Apache-2.0
#include "calibrate/relative_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

using Values = std::vector<double>;

constexpr int most_iterations = 40;
constexpr int iterations_per_weighting = 4;
constexpr double huber = 1.5;
constexpr double least_spread = 0.02;  // below, an accident is not told from a good fit

Values errors_of(const RelativeRows& rows, const Values& predicted) {
  Values errors;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    errors.push_back(predicted[i] / rows.measured[i] - 1.0);
  }
  return errors;
}

Values huber_weights(const RelativeRows& rows, const Values& errors) {
  const double spread = std::max(least_spread, normal_mad * median_magnitude(errors));
  Values weights;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double far = std::abs(errors[i]) / (huber * spread);
    weights.push_back(rows.weight[i] * (far > 1.0 ? 1.0 / far : 1.0));
  }
  return weights;
}

double cost_of(const Values& errors, const Values& weights, const Values& x,
               std::span<const Prior> priors, double noise) {
  double cost = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    cost += weights[i] * errors[i] * errors[i] / (noise * noise);
  }
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double off = (x[j] - priors[j].mean) / priors[j].sd;
    cost += off * off;
  }
  return cost;
}

// The model linearised at x, in the distance from the lower bounds, with the priors as rows.
LinearSystem linearised(const RelativeRows& rows, const Values& weights, const Values& x,
                        const Values& predicted, std::span<const Prior> priors,
                        const RelativeModel& model, double noise) {
  const std::size_t columns = x.size();
  std::vector<Values> slopes;
  for (std::size_t j = 0; j < columns; ++j) {
    Values moved = x;
    const double step = 1e-4 * std::max(std::abs(x[j]), 0.1 * priors[j].sd);
    moved[j] += step;
    Values slope = model(moved);
    for (std::size_t i = 0; i < slope.size(); ++i) {
      slope[i] = (slope[i] - predicted[i]) / step;
    }
    slopes.push_back(std::move(slope));
  }
  LinearSystem system(columns);
  Values row(columns);
  for (std::size_t i = 0; i < rows.measured.size(); ++i) {
    double target = rows.measured[i] - predicted[i];
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = slopes[j][i];
      target += row[j] * (x[j] - priors[j].lower);
    }
    system.add_row(row, target, std::sqrt(weights[i]) / (noise * rows.measured[i]));
  }
  for (std::size_t j = 0; j < columns; ++j) {
    std::fill(row.begin(), row.end(), 0.0);
    row[j] = 1.0;
    system.add_row(row, priors[j].mean - priors[j].lower, 1.0 / priors[j].sd);
  }
  return system;
}

// Rows that scatter more than their noise make the parameters less certain.
void widen(double scatter, std::vector<Values>& covariance) {
  for (Values& row : covariance) {
    for (double& cell : row) {
      cell *= std::max(1.0, scatter);
    }
  }
}

}  // namespace

double median_magnitude(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  for (double& value : values) {
    value = std::abs(value);
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

RelativeFit fit_relative(const RelativeRows& rows, std::span<const Prior> priors,
                         const RelativeModel& model, double noise) {
  Values x;
  for (const Prior& prior : priors) {
    x.push_back(std::max(prior.mean, prior.lower));
  }
  Values predicted = model(x);
  Values weights = huber_weights(rows, errors_of(rows, predicted));
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if (iteration % iterations_per_weighting == 0) {
      weights = huber_weights(rows, errors_of(rows, predicted));
    }
    const LeastSquares solved =
        solve_non_negative(linearised(rows, weights, x, predicted, priors, model, noise));
    const double before = cost_of(errors_of(rows, predicted), weights, x, priors, noise);
    for (double share = 1.0; share > 1e-4;
         share /= 2) {  // of the step, as long as it gains nothing
      Values next = x;
      for (std::size_t j = 0; j < x.size(); ++j) {
        next[j] += share * (solved.values[j] + priors[j].lower - x[j]);
      }
      Values there = model(next);
      if (cost_of(errors_of(rows, there), weights, next, priors, noise) <= before) {
        x = std::move(next);
        predicted = std::move(there);
        break;
      }
    }
  }
  // Without the bounds: a parameter at its bound is not known exactly.
  const LeastSquares free =
      solve_least_squares(linearised(rows, weights, x, predicted, priors, model, noise));
  RelativeFit fit{x, free.covariance, errors_of(rows, predicted)};
  const double cost = cost_of(fit.errors, weights, x, priors, noise);
  widen(cost / std::max(1.0, std::accumulate(weights.begin(), weights.end(), 0.0)), fit.covariance);
  return fit;
}

}  // namespace payoff
