// SPDX-License-Identifier: Apache-2.0
#include "calibrate/log_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace payoff {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class LogLeastSquares {
 public:
  LogLeastSquares(const std::vector<LogParameter>& parameters,
                  const std::vector<LogObservation>& observations, const LogModel& model,
                  const LogFitOptions& options)
      : parameters_(parameters), observations_(observations), model_(model), options_(options) {}

  VectorXd priors() const {
    VectorXd logs(size());
    for (Index p = 0; p < size(); ++p) {
      logs[p] = std::log(parameters_[index(p)].prior);
    }
    return logs;
  }

  VectorXd residuals(const VectorXd& logs) const {
    const std::vector<double> values = exponential(logs);
    VectorXd result(rows());
    for (Index i = 0; i < rows(); ++i) {
      result[i] = log_residual(index(i), values);
    }
    return result;
  }

  double objective(const VectorXd& logs, const VectorXd& residuals) const {
    double sum = 0;
    for (Index i = 0; i < rows(); ++i) {
      const double scaled = std::abs(residuals[i]) / observations_[index(i)].log_sd;
      const double limit = options_.robust_sd;
      sum += scaled <= limit ? scaled * scaled : limit * (2 * scaled - limit);
    }
    const VectorXd start = priors();
    for (Index p = 0; p < size(); ++p) {
      const double scaled = (logs[p] - start[p]) / parameters_[index(p)].prior_log_sd;
      sum += scaled * scaled;
    }
    return sum;
  }

  // Adds up the normal equations one observation at a time: J'WJ + prior, J'Wr + prior pull.
  void linearise(const VectorXd& logs, const VectorXd& residuals, MatrixXd& normal,
                 VectorXd& pull) const {
    normal = MatrixXd::Zero(size(), size());
    pull = VectorXd::Zero(size());
    std::vector<double> values = exponential(logs);
    for (Index i = 0; i < rows(); ++i) {
      add_observation(index(i), residuals[i], values, normal, pull);
    }
    const VectorXd start = priors();
    for (Index p = 0; p < size(); ++p) {
      const double weight = 1 / std::pow(parameters_[index(p)].prior_log_sd, 2);
      normal(p, p) += weight;
      pull[p] += weight * (logs[p] - start[p]);
    }
  }

  std::vector<double> exponential(const VectorXd& logs) const {
    std::vector<double> values(parameters_.size());
    for (std::size_t p = 0; p < values.size(); ++p) {
      values[p] = std::exp(logs[static_cast<Index>(p)]);
    }
    return values;
  }

 private:
  static std::size_t index(Index i) { return static_cast<std::size_t>(i); }
  Index size() const { return static_cast<Index>(parameters_.size()); }
  Index rows() const { return static_cast<Index>(observations_.size()); }

  double log_residual(std::size_t i, std::span<const double> values) const {
    return std::log(model_(i, values) / observations_[i].measured);
  }

  void add_observation(std::size_t i, double residual, std::vector<double>& values,
                       MatrixXd& normal, VectorXd& pull) const {
    const LogObservation& observation = observations_[i];
    const double scaled = std::abs(residual) / observation.log_sd;
    const double weight = std::min(1.0, options_.robust_sd / std::max(scaled, 1e-300)) /
                          (observation.log_sd * observation.log_sd);
    const std::vector<std::size_t>& moved = observation.depends_on;
    std::vector<double> slopes(moved.size());
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const double here = values[moved[k]];
      values[moved[k]] = here * std::exp(options_.step);
      const double above = log_residual(i, values);
      values[moved[k]] = here * std::exp(-options_.step);
      slopes[k] = (above - log_residual(i, values)) / (2 * options_.step);
      values[moved[k]] = here;
    }
    for (std::size_t k = 0; k < moved.size(); ++k) {
      pull[static_cast<Index>(moved[k])] += weight * slopes[k] * residual;
      for (std::size_t l = 0; l < moved.size(); ++l) {
        normal(static_cast<Index>(moved[k]), static_cast<Index>(moved[l])) +=
            weight * slopes[k] * slopes[l];
      }
    }
  }

  const std::vector<LogParameter>& parameters_;
  const std::vector<LogObservation>& observations_;
  const LogModel& model_;
  const LogFitOptions& options_;
};

}  // namespace

double LogFit::log_sd(std::size_t parameter) const {
  return std::sqrt(log_covariance[parameter * values.size() + parameter]);
}

LogFit fit_logarithms(const std::vector<LogParameter>& parameters,
                      const std::vector<LogObservation>& observations, const LogModel& model,
                      const LogFitOptions& options) {
  const LogLeastSquares problem(parameters, observations, model, options);
  VectorXd logs = problem.priors();
  VectorXd residuals = problem.residuals(logs);
  MatrixXd normal;
  VectorXd pull;
  LogFit fit;
  fit.objective = problem.objective(logs, residuals);
  while (fit.iterations < options.max_iterations && !fit.converged) {
    ++fit.iterations;
    problem.linearise(logs, residuals, normal, pull);
    VectorXd step = normal.ldlt().solve(-pull);
    double change = 0;
    for (int halving = 0; halving < 12; ++halving, step /= 2) {
      const VectorXd candidate = logs + step;
      const VectorXd moved = problem.residuals(candidate);
      const double objective = problem.objective(candidate, moved);
      if (objective < fit.objective) {
        change = step.cwiseAbs().maxCoeff();
        logs = candidate;
        residuals = moved;
        fit.objective = objective;
        break;
      }
    }
    fit.converged = change < options.tolerance;
  }
  problem.linearise(logs, residuals, normal, pull);
  const MatrixXd covariance = normal.inverse();
  fit.values = problem.exponential(logs);
  fit.log_residuals.assign(residuals.data(), residuals.data() + residuals.size());
  fit.log_covariance.assign(covariance.data(), covariance.data() + covariance.size());
  return fit;
}

}  // namespace payoff
