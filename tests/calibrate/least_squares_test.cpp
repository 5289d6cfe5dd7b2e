// SPDX-License-Identifier: Apache-2.0
#include "calibrate/least_squares.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "calibrate/relative_fit.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

// A small generator of our own, so that tests are the same everywhere (Numerical Recipes' LCG).
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : state_(seed) {}
  double next() {  // in [-1, 1)
    state_ = 1664525U * state_ + 1013904223U;
    return static_cast<double>(state_ >> 8U) / 8388608.0 - 1.0;
  }

 private:
  std::uint32_t state_;
};

struct Latency {
  std::vector<double> bytes;
  std::vector<double> times;
};

// 8 us + bytes / 45 GB/s, 3 % noise, 8 B to 1 GiB.
Latency measured() {
  Latency data;
  Numbers noise(7);
  for (double bytes = 8; bytes <= 1 << 30; bytes *= 2) {
    for (int k = 0; k < 5; ++k) {
      data.bytes.push_back(bytes);
      data.times.push_back((8e-6 + bytes / 45e9) * (1 + 0.05 * noise.next()));
    }
  }
  return data;
}

LeastSquares line_through(const Latency& data, bool relative) {
  LinearSystem system(2);
  for (std::size_t i = 0; i < data.bytes.size(); ++i) {
    const std::vector<double> row{1.0, data.bytes[i]};
    system.add_row(row, data.times[i], relative ? 1 / data.times[i] : 1.0);
  }
  return solve_least_squares(system);
}

}  // namespace

TEST_CASE("relative weights find a latency that plain least squares cannot see") {
  const Latency data = measured();
  CHECK_THAT(line_through(data, true).values[0], WithinRel(8e-6, 0.01));
  CHECK_THAT(1 / line_through(data, true).values[1], WithinRel(45e9, 0.02));
  CHECK(std::abs(line_through(data, false).values[0] - 8e-6) > 1e-6);
}

TEST_CASE("the covariance of a mean of n rows of unit variance is 1/n") {
  LinearSystem system(1);
  const std::vector<double> one{1.0};
  for (int i = 0; i < 16; ++i) {
    system.add_row(one, i, 1.0);
  }
  const LeastSquares solved = solve_least_squares(system);
  CHECK_THAT(solved.values[0], WithinRel(7.5, 1e-12));
  CHECK_THAT(solved.covariance[0][0], WithinRel(1.0 / 16, 1e-12));
}

TEST_CASE("a column that the rows do not tell apart is named and left at zero") {
  LinearSystem system(3);
  for (int i = 1; i <= 6; ++i) {
    const std::vector<double> row{1.0, 2.0 * i, 4.0 * i};
    system.add_row(row, 3.0 + i, 1.0);
  }
  const LeastSquares solved = solve_least_squares(system);
  CHECK(solved.rank == 2);
  REQUIRE(solved.undetermined.size() == 1);
  CHECK(solved.values[solved.undetermined[0]] == 0.0);
  CHECK_THAT(solved.values[0], WithinRel(3.0, 1e-9));
  CHECK_THAT(solved.squared_error, WithinAbs(0.0, 1e-18));
}

TEST_CASE("a non-negative solution meets the Karush-Kuhn-Tucker conditions") {
  Numbers numbers(3);
  for (int problem = 0; problem < 60; ++problem) {
    constexpr std::size_t columns = 7;
    LinearSystem system(columns);
    std::vector<std::vector<double>> rows;
    std::vector<double> targets;
    for (int i = 0; i < 30; ++i) {
      std::vector<double> row;
      for (std::size_t j = 0; j < columns; ++j) {
        row.push_back(numbers.next());
      }
      targets.push_back(numbers.next());
      rows.push_back(row);
      system.add_row(row, targets.back(), 1.0);
    }
    const std::vector<double> x = solve_non_negative(system).values;
    for (std::size_t j = 0; j < columns; ++j) {
      double gradient = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        double residual = -targets[i];
        for (std::size_t k = 0; k < columns; ++k) {
          residual += rows[i][k] * x[k];
        }
        gradient += residual * rows[i][j];
      }
      CHECK(x[j] >= 0);
      CHECK(gradient > -1e-9);                  // growing does not help
      CHECK(std::abs(gradient * x[j]) < 1e-9);  // nor does shrinking what is not at the bound
    }
  }
}

// With c1 = (1, 0, 0), c2 = (1, 5e-11, 0), c3 = (0.6, 0.48, 0.64) the target is 4 c1 + 10 c3 + r,
// and r = (0, 0.8, -0.6) is at right angles to c1 and c3. What c2 could still gain is within the
// rounding by which it is c1.
TEST_CASE("a non-negative solution does without a column that another one says, nearly") {
  LinearSystem system(3);
  system.add_row(std::vector{1.0, 1.0, 0.6}, 10.0, 1.0);
  system.add_row(std::vector{0.0, 5e-11, 0.48}, 5.6, 1.0);
  system.add_row(std::vector{0.0, 0.0, 0.64}, 5.8, 1.0);
  const LeastSquares found = solve_non_negative(system);
  CHECK_THAT(found.values[0] + found.values[1], WithinAbs(4, 1e-6));
  CHECK_THAT(found.values[2], WithinAbs(10, 1e-6));
  CHECK_THAT(found.squared_error, WithinAbs(1, 1e-6));
}

TEST_CASE("a relative fit shrugs off an accident and keeps an unmeasured parameter at its prior") {
  const Latency data = measured();
  RelativeRows rows{data.times, std::vector<double>(data.times.size(), 1.0)};
  rows.measured[40] *= 20;
  const std::vector<Prior> priors{{5e-6, 1e-5, 0}, {1e-11, 1e-10, 0}, {3.0, 0.5, 0}};
  const RelativeFit fit = fit_relative(
      rows, priors,
      [&](std::span<const double> x) {
        std::vector<double> times;
        for (const double bytes : data.bytes) {
          times.push_back(x[0] + x[1] * bytes);
        }
        return times;
      },
      0.03);
  CHECK_THAT(fit.values[0], WithinRel(8e-6, 0.02));
  CHECK_THAT(1 / fit.values[1], WithinRel(45e9, 0.02));
  CHECK_THAT(fit.values[2], WithinRel(3.0, 1e-6));
  CHECK_THAT(std::sqrt(fit.covariance[2][2]), WithinRel(0.5, 0.5));
  CHECK(fit.errors[40] < -0.9);
}
