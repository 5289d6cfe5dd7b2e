// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/codec/counter_random.hpp"

// Hadamard transforms and the matrix steps of PowerSGD on the host.

namespace payoff::kernels {

// Random signs, then the normalised transform, tile by tile of 2^log2_tile values; the last tile
// may be short and is padded with zeros, so the result fills whole tiles.
[[nodiscard]] std::vector<float> hadamard(std::span<const float> values, int log2_tile,
                                          RandomKey key);
// Its inverse, cut to `count` values.
[[nodiscard]] std::vector<float> inverse_hadamard(std::span<const float> values, int log2_tile,
                                                  RandomKey key, std::size_t count);

// Row-major, `rows` x `columns`.
struct Matrix {
  std::size_t rows{};
  std::size_t columns{};
  std::vector<float> values;

  [[nodiscard]] float operator()(std::size_t row, std::size_t column) const {
    return values[row * columns + column];
  }
};

[[nodiscard]] Matrix product(const Matrix& a, const Matrix& b);
[[nodiscard]] Matrix transposed(const Matrix& a);

// The largest of its singular values over the smallest, in double precision: what an error of its
// entries grows by, relative to their size, in an orthogonal basis of its columns.
[[nodiscard]] double condition_number(const Matrix& tall);

void orthogonalize_gram_schmidt(Matrix& tall);
// One Cholesky-QR; done twice it is orthogonal to working precision.
void orthogonalize_cholesky(Matrix& tall);

// One step of PowerSGD on one worker: `error` and `right` (columns x rank) are kept between steps.
// Returns what the receiver reconstructs.
[[nodiscard]] Matrix power_sgd_step(const Matrix& gradient, Matrix& error, Matrix& right);

}  // namespace payoff::kernels
