// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Linear least squares, dense and small: by QR with column pivoting (rank and covariance), and with
// coefficients that may not be negative (Lawson and Hanson, Solving Least Squares Problems, 1974,
// chapter 23). Columns are scaled to unit length first. Rows carry their weights already: for
// relative errors divide every row by its measured value.

namespace payoff {

// Row-major: `columns` numbers for every entry of `targets`.
class LinearSystem {
 public:
  explicit LinearSystem(std::size_t columns) : columns_(columns) {}

  // Both sides are multiplied by `weight`.
  void add_row(std::span<const double> coefficients, double target, double weight);

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return targets_.size(); }
  [[nodiscard]] const std::vector<double>& coefficients() const { return coefficients_; }
  [[nodiscard]] const std::vector<double>& targets() const { return targets_; }

 private:
  std::size_t columns_;
  std::vector<double> coefficients_;
  std::vector<double> targets_;
};

struct LeastSquares {
  std::vector<double> values;
  std::size_t rank{};
  std::vector<std::size_t>
      undetermined;  // columns that the rows do not tell apart; their value is 0
  double squared_error{};
  std::vector<std::vector<double>> covariance;  // for rows of unit variance; 0 where undetermined
};

[[nodiscard]] LeastSquares solve_least_squares(const LinearSystem& system);

// The same with values >= 0. Values at the bound count as known: their covariance is 0.
[[nodiscard]] LeastSquares solve_non_negative(const LinearSystem& system);

}  // namespace payoff
