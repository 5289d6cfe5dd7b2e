// SPDX-License-Identifier: Apache-2.0
#include "calibrate/variance_shares.hpp"

#include <cstddef>

#include "calibrate/least_squares.hpp"

namespace payoff {
namespace {

constexpr std::size_t degrees = 2;  // of the polynomials

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a);
  const double mean_b = mean_of(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return sum / static_cast<double>(a.size());
}

// One, and the polynomials of every variable.
std::vector<double> row_of(const std::vector<double>& draw) {
  std::vector<double> row{1.0};
  for (const double z : draw) {
    row.push_back(z);
    row.push_back(z * z - 1);
  }
  return row;
}

}  // namespace

std::vector<double> variance_shares(const std::vector<std::vector<double>>& draws,
                                    const std::vector<double>& values) {
  const std::size_t variables = draws.empty() ? 0 : draws.front().size();
  std::vector<double> shares(variables, 0.0);
  const std::size_t polynomials = variables * degrees;
  if (draws.empty() || draws.size() < 2 * polynomials) {
    return shares;
  }
  const double variance = covariance(values, values);
  if (variance <= 0) {
    return shares;
  }
  LinearSystem system(1 + polynomials);
  std::vector<std::vector<double>> rows;
  rows.reserve(draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    rows.push_back(row_of(draws[i]));
    system.add_row(rows.back(), values[i], 1);
  }
  const std::vector<double> slopes = solve_least_squares(system).values;
  for (std::size_t v = 0; v < variables; ++v) {
    std::vector<double> part(draws.size());
    for (std::size_t i = 0; i < draws.size(); ++i) {
      for (std::size_t d = 0; d < degrees; ++d) {
        const std::size_t column = 1 + degrees * v + d;
        part[i] += slopes[column] * rows[i][column];
      }
    }
    shares[v] = covariance(part, values) / variance;
  }
  return shares;
}

}  // namespace payoff
