// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/device/transforms.cuh"
#include "kernels/families/common.cuh"
#include "kernels/reference/transforms.hpp"

// Tall matrices whose columns are made orthogonal, and Gram-Schmidt as a framework's operators do
// it, for the orthogonalisations alone and for a step of PowerSGD.

namespace payoff::kernels {

struct TallShape {
  std::size_t rows{};
  std::size_t rank{};
  std::size_t batch{1};  // of such matrices, one behind the other
};

[[nodiscard]] inline Shape flat(const TallShape& shape) {
  return {shape.batch * shape.rows * shape.rank, InputKind::gaussian, 9};
}

[[nodiscard]] inline Parameters parameters_of(const TallShape& shape) {
  return {{"rows", static_cast<double>(shape.rows)}, {"rank", static_cast<double>(shape.rank)}};
}

// Sums of `rows` products differ by their order: rows u relative to the column's length, grown by
// the condition number, which for Gaussian columns that are few against the rows is below 3; each
// of the `rank` earlier columns contributes.
[[nodiscard]] inline float order_bound(const TallShape& shape) {
  // Chosen: Cholesky-QR's first pass loses the square of the condition number, 9, and 16 is the
  // next power of two.
  constexpr float of_condition = 16.0F;
  // Chosen: what subtracting one earlier column rounds, in sums as long as a warp is wide.
  constexpr std::size_t of_a_column = 32;
  return of_condition * static_cast<float>(shape.rows + of_a_column * shape.rank) * unit_roundoff;
}

// One column's norm, or its overlaps with the columns after it, as an operator computes them: of
// each matrix of a batch as many columns from this one on, a block each.
PAYOFF_KERNEL void overlaps_of_column(const float* tall, float* overlaps, std::size_t rows,
                                      std::size_t r, std::size_t column, std::size_t columns) {
  __shared__ float scratch[block_threads];
  const std::size_t matrix = blockIdx.x / columns;
  const std::size_t other = column + blockIdx.x % columns;
  const float dot = column_dot(tall + matrix * rows * r, rows, r, column, other, scratch);
  if (threadIdx.x == 0) {
    overlaps[matrix * r + other] = dot;
  }
}

PAYOFF_KERNEL void normalize_column(float* tall, const float* overlaps, std::size_t rows,
                                    std::size_t r, std::size_t column, std::size_t batch) {
  const std::size_t row = global_thread();
  if (row < batch * rows) {
    const float square = overlaps[row / rows * r + column];
    tall[row * r + column] /= root(larger(square, smallest_normal));
  }
}

PAYOFF_KERNEL void subtract_column(float* tall, const float* overlaps, std::size_t rows,
                                   std::size_t r, std::size_t column, std::size_t batch) {
  const std::size_t i = global_thread();
  const std::size_t later = r - column - 1;
  if (i < batch * rows * later) {
    const std::size_t row = i / later;
    const std::size_t other = column + 1 + i % later;
    tall[row * r + other] -= overlaps[row / rows * r + other] * tall[row * r + column];
  }
}

// Four operators a column: norm, division, overlaps with the later columns, subtraction.
inline void gram_schmidt_by_columns(Stream s, float* tall, float* overlaps,
                                    const TallShape& shape) {
  const std::size_t r = shape.rank;
  for (std::size_t column = 0; column < r; ++column) {
    launch(s, shape.batch, block_threads, overlaps_of_column, tall, overlaps, shape.rows, r, column,
           std::size_t{1});
    launch_threads(s, shape.batch * shape.rows, normalize_column, tall, overlaps, shape.rows, r,
                   column, shape.batch);
    if (column + 1 < r) {
      launch(s, shape.batch * (r - column), block_threads, overlaps_of_column, tall, overlaps,
             shape.rows, r, column, r - column);
      launch_threads(s, shape.batch * shape.rows * (r - column - 1), subtract_column, tall,
                     overlaps, shape.rows, r, column, shape.batch);
    }
  }
}

}  // namespace payoff::kernels
