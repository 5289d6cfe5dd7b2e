// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// The small steps of PowerSGD (Vogels et al., arXiv 1905.13727, algorithm 1) between its matrix
// products: orthogonalising a tall matrix P of r columns. Gram-Schmidt works column by column.
// Cholesky-QR takes G = P^T P = R^T R and P R^-1; its loss of orthogonality grows with the square
// of P's condition number, so it is done twice (Yamamoto et al., ETNA 44, 2015: orthogonal to
// working precision while the condition number stays below about 1/(8 sqrt(u)), 512 for float).

namespace payoff::kernels {

// A pivot below this share of its diagonal element is rounding: the column depends on the earlier
// ones. Its row becomes a unit vector's, so that a deficient gradient gives no infinities.
inline constexpr float least_pivot_share = 1e-6F;

#if defined(__CUDA_ARCH__)
[[nodiscard]] __device__ inline float root(float value) { return sqrtf(value); }
#else
[[nodiscard]] PAYOFF_HD inline float root(float value) { return __builtin_sqrtf(value); }
#endif

// Upper factor R of a symmetric row-major r x r matrix, in place: only the upper triangle is read
// and written. One row of R at a time, so that a block can share the columns among its threads.
PAYOFF_HD inline float cholesky_pivot(const float* matrix, std::size_t r, std::size_t row,
                                      float original) {
  const float pivot = matrix[row * r + row];
  return pivot > least_pivot_share * original ? root(pivot) : 0.0F;
}

PAYOFF_HD inline void cholesky_scale(float* matrix, std::size_t r, std::size_t row, float pivot,
                                     std::size_t column) {
  float& entry = matrix[row * r + column];
  entry = pivot > 0.0F ? (column == row ? pivot : entry / pivot) : (column == row ? 1.0F : 0.0F);
}

// What the finished row `row` takes from entry (i, column) of the rows below it.
PAYOFF_HD inline void cholesky_update(float* matrix, std::size_t r, std::size_t row, std::size_t i,
                                      std::size_t column) {
  matrix[i * r + column] -= matrix[row * r + i] * matrix[row * r + column];
}

// One row x of P becomes x R^-1, by substitution from the left.
PAYOFF_HD inline void substitute_row(float* row, const float* upper, std::size_t r) {
  for (std::size_t column = 0; column < r; ++column) {
    float value = row[column];
    for (std::size_t k = 0; k < column; ++k) {
      value -= row[k] * upper[k * r + column];
    }
    row[column] = value / upper[column * r + column];
  }
}

}  // namespace payoff::kernels
