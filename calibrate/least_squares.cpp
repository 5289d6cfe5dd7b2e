// SPDX-License-Identifier: Apache-2.0
#include "calibrate/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>

namespace payoff {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

struct Scaled {
  Matrix a;
  Vector b;
  Vector length;  // of the columns before scaling
};

Scaled scaled(const LinearSystem& system) {
  const auto rows = static_cast<Index>(system.rows());
  const auto columns = static_cast<Index>(system.columns());
  Scaled s{Matrix(rows, columns), Vector(rows), Vector(columns)};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      s.a(i, j) = system.coefficients()[static_cast<std::size_t>(i * columns + j)];
    }
    s.b(i) = system.targets()[static_cast<std::size_t>(i)];
  }
  for (Index j = 0; j < columns; ++j) {
    s.length(j) = s.a.col(j).norm();
    if (s.length(j) > 0) {
      s.a.col(j) /= s.length(j);
    }
  }
  return s;
}

// Solves for the columns of `used` only.
LeastSquares solve_columns(const Scaled& s, const std::vector<Index>& used) {
  LeastSquares result;
  const auto all = static_cast<std::size_t>(s.a.cols());
  result.values.assign(all, 0.0);
  result.covariance.assign(all, std::vector<double>(all, 0.0));
  if (used.empty()) {
    result.squared_error = s.b.squaredNorm();
    return result;
  }
  Matrix part(s.a.rows(), static_cast<Index>(used.size()));
  for (std::size_t k = 0; k < used.size(); ++k) {
    part.col(static_cast<Index>(k)) = s.a.col(used[k]);
  }
  Eigen::ColPivHouseholderQR<Matrix> qr(part);
  qr.setThreshold(1e-10);
  const Index rank = qr.rank();
  result.rank = static_cast<std::size_t>(rank);
  const Vector rotated = (qr.householderQ().transpose() * s.b).head(part.cols());
  const Matrix r = qr.matrixR().topLeftCorner(rank, rank);
  const Vector solution = r.triangularView<Eigen::Upper>().solve(rotated.head(rank));
  const Matrix inverse = r.triangularView<Eigen::Upper>().solve(Matrix::Identity(rank, rank));
  const Matrix covariance = inverse * inverse.transpose();
  const auto& order = qr.colsPermutation().indices();
  const auto column = [&](Index k) { return used[static_cast<std::size_t>(order(k))]; };
  Vector fitted = Vector::Zero(s.b.size());
  for (Index k = 0; k < rank; ++k) {
    const auto j = static_cast<std::size_t>(column(k));
    fitted += solution(k) * s.a.col(column(k));
    result.values[j] = solution(k) / s.length(column(k));
    for (Index l = 0; l < rank; ++l) {
      result.covariance[j][static_cast<std::size_t>(column(l))] =
          covariance(k, l) / (s.length(column(k)) * s.length(column(l)));
    }
  }
  for (Index k = rank; k < part.cols(); ++k) {
    result.undetermined.push_back(static_cast<std::size_t>(column(k)));
  }
  std::sort(result.undetermined.begin(), result.undetermined.end());
  result.squared_error = (fitted - s.b).squaredNorm();
  return result;
}

// The column outside of the positive set whose growth lowers the error fastest; -1 when none does.
Index steepest(const Scaled& s, const std::vector<double>& values, const std::vector<bool>& free) {
  Vector residual = s.b;
  for (Index j = 0; j < s.a.cols(); ++j) {
    residual -= values[static_cast<std::size_t>(j)] * s.length(j) * s.a.col(j);
  }
  const Vector gradient = s.a.transpose() * residual;
  Index best = -1;
  const double tolerance = 1e-12 * std::max(1.0, s.b.norm());
  for (Index j = 0; j < s.a.cols(); ++j) {
    if (!free[static_cast<std::size_t>(j)] && s.length(j) > 0 && gradient(j) > tolerance &&
        (best < 0 || gradient(j) > gradient(best))) {
      best = j;
    }
  }
  return best;
}

std::vector<Index> members(const std::vector<bool>& set) {
  std::vector<Index> result;
  for (std::size_t j = 0; j < set.size(); ++j) {
    if (set[j]) {
      result.push_back(static_cast<Index>(j));
    }
  }
  return result;
}

// Moves `values` towards `wanted` until the first of them reaches zero and leaves the free set. One
// that is at zero and stays there, as the others say all that it could, leaves without a move.
void step_to_bound(std::vector<double>& values, const std::vector<double>& wanted,
                   std::vector<bool>& free) {
  double share = 1.0;
  std::size_t first = values.size();
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (free[j] && wanted[j] <= 0) {
      const double reach = values[j] > 0 ? values[j] / (values[j] - wanted[j]) : 0.0;
      if (first == values.size() || reach < share) {
        share = reach;
        first = j;
      }
    }
  }
  for (std::size_t j = 0; j < values.size(); ++j) {
    values[j] += share * (wanted[j] - values[j]);
    if (free[j] && (j == first || values[j] <= 0)) {
      values[j] = 0;
      free[j] = false;
    }
  }
}

}  // namespace

void LinearSystem::add_row(std::span<const double> coefficients, double target, double weight) {
  for (const double coefficient : coefficients) {
    coefficients_.push_back(coefficient * weight);
  }
  targets_.push_back(target * weight);
}

LeastSquares solve_least_squares(const LinearSystem& system) {
  std::vector<Index> all;
  for (std::size_t j = 0; j < system.columns(); ++j) {
    all.push_back(static_cast<Index>(j));
  }
  return solve_columns(scaled(system), all);
}

LeastSquares solve_non_negative(const LinearSystem& system) {
  const Scaled s = scaled(system);
  std::vector<bool> free(system.columns(), false);
  std::vector<double> values(system.columns(), 0.0);
  const std::size_t most_steps = 10 * system.columns() + 10;
  for (std::size_t outer = 0; outer < most_steps; ++outer) {
    const Index next = steepest(s, values, free);
    if (next < 0) {
      break;
    }
    free[static_cast<std::size_t>(next)] = true;
    for (std::size_t inner = 0; inner < most_steps; ++inner) {
      const auto chosen = members(free);
      const std::vector<double> wanted = solve_columns(s, chosen).values;
      const bool feasible = std::all_of(chosen.begin(), chosen.end(), [&](Index j) {
        return wanted[static_cast<std::size_t>(j)] > 0;
      });
      if (feasible) {
        values = wanted;
        break;
      }
      step_to_bound(values, wanted, free);
    }
  }
  return solve_columns(s, members(free));
}

}  // namespace payoff
