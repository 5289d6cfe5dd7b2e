// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/transforms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/codec/hadamard.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/tensors.hpp"

using namespace payoff::kernels;

namespace {

double wide(float value) { return static_cast<double>(value); }

double norm(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += wide(value) * wide(value);
  }
  return std::sqrt(sum);
}

Matrix drawn_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  return {rows, columns, test::drawn(InputKind::gaussian, rows * columns, seed)};
}

// Largest element of |Q^T Q - I|.
double orthogonality_error(const Matrix& q) {
  double worst = 0.0;
  for (std::size_t a = 0; a < q.columns; ++a) {
    for (std::size_t b = 0; b < q.columns; ++b) {
      double dot = a == b ? -1.0 : 0.0;
      for (std::size_t row = 0; row < q.rows; ++row) {
        dot += wide(q(row, a)) * wide(q(row, b));
      }
      worst = std::max(worst, std::abs(dot));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("the Hadamard transform is its definition: the sign of bit i AND j, over sqrt(n)") {
  for (const int log2_tile : {1, 2, 5, 7, 10}) {
    const std::size_t tile = std::size_t{1} << static_cast<unsigned>(log2_tile);
    const auto values = test::drawn(InputKind::gaussian, tile);
    const RandomKey key{4, 2};
    const auto transformed = hadamard(values, log2_tile, key);
    for (std::size_t i = 0; i < tile; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < tile; ++j) {
        const double value = wide(flips(key, j) ? -values[j] : values[j]);
        sum += std::popcount(i & j) % 2 == 0 ? value : -value;
      }
      // m additions on every path, each off by 2^-24 of at most ||x||_1 <= sqrt(n) ||x||.
      REQUIRE_THAT(wide(transformed[i]),
                   Catch::Matchers::WithinAbs(sum / std::sqrt(static_cast<double>(tile)),
                                              (log2_tile + 2) * 6e-8 * norm(values)));
    }
  }
}

TEST_CASE("a Hadamard transform keeps lengths and is undone by its inverse") {
  for (const auto& tensor : test::tensors()) {
    if (tensor.name == "denormal") {
      continue;  // halving a denormal number rounds
    }
    INFO(tensor.name);
    const RandomKey key{1, 9};
    const auto transformed = hadamard(tensor.values, 7, key);
    const auto back = inverse_hadamard(transformed, 7, key, tensor.values.size());
    const double length = norm(tensor.values);
    CHECK(transformed.size() % 128 == 0);
    CHECK_THAT(norm(transformed),
               Catch::Matchers::WithinRel(length, 1e-5) || Catch::Matchers::WithinAbs(0.0, 1e-30));
    for (std::size_t i = 0; i < back.size(); ++i) {
      REQUIRE(std::abs(wide(back[i]) - wide(tensor.values[i])) <= 2.0 * 9.0 * 6e-8 * length);
    }
  }
}

TEST_CASE("a single outlier spreads evenly over its tile") {
  std::vector<float> values(1024, 0.0F);
  values[77] = 32.0F;
  for (const float value : hadamard(values, 10, {1, 1})) {
    REQUIRE(std::abs(value) == 1.0F);
  }
}

TEST_CASE("butterflies of a round touch every place of a tile once") {
  for (unsigned round = 0; round < 6; ++round) {
    std::vector<int> touched(64, 0);
    for (std::size_t pair = 0; pair < 32; ++pair) {
      const PairOfPlaces places = butterfly_places(pair, round);
      CHECK((places.low ^ places.high) == std::size_t{1} << round);
      ++touched.at(places.low);
      ++touched.at(places.high);
    }
    CHECK(touched == std::vector<int>(64, 1));
  }
}

TEST_CASE("Gram-Schmidt and Cholesky-QR orthogonalise well-conditioned matrices") {
  for (const std::size_t r : {1UL, 4UL, 32UL}) {
    Matrix by_columns = drawn_matrix(256, r, r);
    Matrix once = by_columns;
    orthogonalize_gram_schmidt(by_columns);
    orthogonalize_cholesky(once);
    Matrix twice = once;
    orthogonalize_cholesky(twice);
    // Random 256 x 32 matrices have condition numbers of about (16 + 6) / (16 - 6): rounding of
    // 256-term dot products, 256 u, grows by its square at most.
    const double rounding = 256.0 * 6e-8;
    CHECK(orthogonality_error(by_columns) < 5.0 * rounding);
    CHECK(orthogonality_error(once) < 25.0 * rounding);
    CHECK(orthogonality_error(twice) < rounding);
  }
}

TEST_CASE("the second Cholesky-QR mends what a condition number of 100 costs the first") {
  Matrix matrix = drawn_matrix(256, 4, 3);
  for (std::size_t row = 0; row < 256; ++row) {
    matrix.values[row * 4 + 1] = matrix(row, 0) + 0.02F * matrix(row, 1);
  }
  orthogonalize_cholesky(matrix);
  const double first = orthogonality_error(matrix);
  orthogonalize_cholesky(matrix);
  CHECK(first > 1e-5);
  CHECK(first < 1e4 * 256.0 * 6e-8);
  CHECK(orthogonality_error(matrix) < 256.0 * 6e-8);
}

TEST_CASE("a dependent column gives finite numbers") {
  Matrix matrix = drawn_matrix(64, 3, 8);
  for (std::size_t row = 0; row < 64; ++row) {
    matrix.values[row * 3 + 2] = matrix(row, 0);
  }
  Matrix zero{64, 3, std::vector<float>(192, 0.0F)};
  orthogonalize_cholesky(matrix);
  orthogonalize_cholesky(zero);
  Matrix zero_columns{64, 3, std::vector<float>(192, 0.0F)};
  orthogonalize_gram_schmidt(zero_columns);
  for (const Matrix& result : {matrix, zero, zero_columns}) {
    for (const float value : result.values) {
      REQUIRE(std::isfinite(value));
    }
  }
}

TEST_CASE("PowerSGD recovers a gradient whose rank it has") {
  const Matrix gradient = product(drawn_matrix(60, 3, 1), drawn_matrix(3, 40, 2));
  Matrix error{60, 40, std::vector<float>(2400, 0.0F)};
  Matrix right = drawn_matrix(40, 3, 4);
  const Matrix received = power_sgd_step(gradient, error, right);
  CHECK(norm(error.values) < 1e-4 * norm(gradient.values));
  CHECK_THAT(norm(received.values), Catch::Matchers::WithinRel(norm(gradient.values), 1e-4));
}

TEST_CASE("error feedback sends in time what a low rank leaves out") {
  // The same gradient every step: the mean of what was sent tends to it, the error stays bounded.
  const Matrix gradient = drawn_matrix(48, 32, 5);
  Matrix error{48, 32, std::vector<float>(48 * 32, 0.0F)};
  Matrix right = drawn_matrix(32, 2, 6);
  std::vector<double> sent(48 * 32, 0.0);
  constexpr int steps = 200;
  for (int step = 0; step < steps; ++step) {
    const Matrix received = power_sgd_step(gradient, error, right);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] += wide(received.values[i]);
    }
  }
  double left = 0.0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const double difference = sent[i] / steps - wide(gradient.values[i]);
    left += difference * difference;
    REQUIRE_THAT(sent[i] + wide(error.values[i]),
                 Catch::Matchers::WithinAbs(steps * wide(gradient.values[i]), 1e-4));
  }
  CHECK(std::sqrt(left) < 0.1 * norm(gradient.values));
}

// Orthonormal columns scaled by known numbers, and mixed by a rotation of the columns, which leaves
// singular values as they are.
TEST_CASE("the condition number is that of the singular values") {
  Matrix tall = drawn_matrix(200, 3, 4);
  orthogonalize_gram_schmidt(tall);
  constexpr std::array<float, 3> scales{8.0F, 2.0F, 0.5F};
  Matrix mixed = tall;
  for (std::size_t row = 0; row < tall.rows; ++row) {
    const float a = scales[0] * tall(row, 0);
    const float b = scales[1] * tall(row, 1);
    mixed.values[3 * row] = 0.6F * a - 0.8F * b;
    mixed.values[3 * row + 1] = 0.8F * a + 0.6F * b;
    mixed.values[3 * row + 2] = scales[2] * tall(row, 2);
  }
  CHECK_THAT(condition_number(tall), Catch::Matchers::WithinRel(1.0, 1e-4));
  CHECK_THAT(condition_number(mixed), Catch::Matchers::WithinRel(16.0, 1e-4));
}
