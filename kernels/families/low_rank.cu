// SPDX-License-Identifier: Apache-2.0
// PowerSGD's orthogonalisation: Gram-Schmidt by one block, the same column by column in separate
// kernels, and Cholesky-QR twice. Its matrix products are in the family of layers.
#include <cmath>

#include "kernels/device/transforms.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/reference/transforms.hpp"

namespace payoff::kernels {
namespace {

struct TallShape {
  std::size_t rows{};
  std::size_t rank{};
};

[[nodiscard]] Shape flat(const TallShape& shape) {
  return {shape.rows * shape.rank, InputKind::gaussian, 9};
}

[[nodiscard]] Parameters parameters_of(const TallShape& shape) {
  return {{"rows", static_cast<double>(shape.rows)}, {"rank", static_cast<double>(shape.rank)}};
}

// Sums of `rows` products differ by their order: rows u relative to the column's length, grown by
// the condition number, which for Gaussian columns that are few against the rows is below 3; each
// of the `rank` earlier columns contributes.
[[nodiscard]] float order_bound(const TallShape& shape) {
  constexpr float unit = 6.0e-8F;
  return 16.0F * static_cast<float>(shape.rows + 32 * shape.rank) * unit;
}

[[nodiscard]] std::string orthogonalized(const DeviceArray<float>& found,
                                         const DeviceArray<float>& start, const TallShape& shape,
                                         void (*reference)(Matrix&)) {
  Matrix expected{shape.rows, shape.rank, start.read()};
  reference(expected);
  return deviates("columns", found, expected.values, order_bound(shape));
}

// Every run begins with a copy: the second time the columns would be orthogonal already.
Benchmark by_one_block(const TallShape& shape) {
  const auto n = static_cast<double>(flat(shape).elements);
  const auto rank = static_cast<double>(shape.rank);
  // After the first touch the columns stay in the L2 cache.
  Benchmark b{point_of("gram_schmidt", "low_rank", "fused", flat(shape), parameters_of(shape),
                       {bytes_of(8.0 * n), bytes_of(8.0 * n), Flops{2.0 * n * rank}, 0.0, 2, 0}),
              bytes_of(8.0 * n),
              {}};
  b.make = [shape] {
    auto start = drawn_on_device(flat(shape));
    auto tall = array_of<float>(start->count());
    return Work{[=](Stream s) {
                  copy_in_stream(s, tall->data(), start->data(), start->bytes());
                  launch(s, 1, block_threads, gram_schmidt, tall->data(), shape.rows, shape.rank);
                },
                [=] { return orthogonalized(*tall, *start, shape, orthogonalize_gram_schmidt); },
                [=] { return checksum_of(*tall); }};
  };
  return b;
}

// One column's norm, or its overlaps with the columns after it, as an operator computes them.
PAYOFF_KERNEL void overlaps_of_column(const float* tall, float* overlaps, std::size_t rows,
                                      std::size_t r, std::size_t column) {
  __shared__ float scratch[block_threads];
  const std::size_t other = column + blockIdx.x;
  const float dot = column_dot(tall, rows, r, column, other, scratch);
  if (threadIdx.x == 0) {
    overlaps[other] = dot;
  }
}

PAYOFF_KERNEL void normalize_column(float* tall, const float* overlaps, std::size_t rows,
                                    std::size_t r, std::size_t column) {
  const std::size_t row = global_thread();
  if (row < rows) {
    tall[row * r + column] /= root(larger(overlaps[column], smallest_normal));
  }
}

PAYOFF_KERNEL void subtract_column(float* tall, const float* overlaps, std::size_t rows,
                                   std::size_t r, std::size_t column) {
  const std::size_t i = global_thread();
  const std::size_t later = r - column - 1;
  if (i < rows * later) {
    const std::size_t row = i / later;
    const std::size_t other = column + 1 + i % later;
    tall[row * r + other] -= overlaps[other] * tall[row * r + column];
  }
}

// Four operators a column: norm, division, overlaps, subtraction.
Benchmark by_operators(const TallShape& shape) {
  const auto n = static_cast<double>(flat(shape).elements);
  const auto rank = static_cast<double>(shape.rank);
  const Traffic traffic{bytes_of(4.0 * n * (2.0 + rank)),
                        bytes_of(4.0 * n * (2.0 + rank / 2.0)),
                        Flops{2.0 * n * rank},
                        0.0,
                        static_cast<int>(4 * shape.rank) - 1,
                        0};
  Benchmark b{point_of("gram_schmidt", "low_rank", "framework_ops", flat(shape),
                       parameters_of(shape), traffic),
              bytes_of(8.0 * n),
              {}};
  b.make = [shape] {
    auto start = drawn_on_device(flat(shape));
    auto tall = array_of<float>(start->count());
    auto overlaps = array_of<float>(shape.rank);
    return Work{[=](Stream s) {
                  const std::size_t r = shape.rank;
                  copy_in_stream(s, tall->data(), start->data(), start->bytes());
                  for (std::size_t column = 0; column < r; ++column) {
                    launch(s, 1, block_threads, overlaps_of_column, tall->data(), overlaps->data(),
                           shape.rows, r, column);
                    launch_threads(s, shape.rows, normalize_column, tall->data(), overlaps->data(),
                                   shape.rows, r, column);
                    if (column + 1 < r) {
                      launch(s, r - column, block_threads, overlaps_of_column, tall->data(),
                             overlaps->data(), shape.rows, r, column);
                      launch_threads(s, shape.rows * (r - column - 1), subtract_column,
                                     tall->data(), overlaps->data(), shape.rows, r, column);
                    }
                  }
                },
                [=] { return orthogonalized(*tall, *start, shape, orthogonalize_gram_schmidt); },
                [=] { return checksum_of(*tall); }};
  };
  return b;
}

void cholesky_twice(Matrix& tall) {
  orthogonalize_cholesky(tall);
  orthogonalize_cholesky(tall);
}

Benchmark by_cholesky(const TallShape& shape) {
  const auto n = static_cast<double>(flat(shape).elements);
  const auto rank = static_cast<double>(shape.rank);
  const Traffic traffic{
      bytes_of(4.0 * n * 5.0), bytes_of(4.0 * n * 3.0), Flops{2.0 * (2.0 * n * rank)}, 0.0, 7, 0};
  Benchmark b{
      point_of("cholesky_qr", "low_rank", "fused", flat(shape), parameters_of(shape), traffic),
      bytes_of(8.0 * n + 4.0 * rank * rank),
      {}};
  b.make = [shape] {
    auto start = drawn_on_device(flat(shape));
    auto tall = array_of<float>(start->count());
    auto gram = array_of<float>(shape.rank * shape.rank);
    return Work{[=](Stream s) {
                  const std::size_t r = shape.rank;
                  copy_in_stream(s, tall->data(), start->data(), start->bytes());
                  for (int pass = 0; pass < 2; ++pass) {
                    launch(s, r, block_threads, gram_rows, tall->data(), gram->data(), shape.rows,
                           r);
                    launch(s, 1, block_threads, cholesky, gram->data(), r);
                    launch_threads(s, shape.rows, substitute_rows, tall->data(), gram->data(),
                                   shape.rows, r);
                  }
                },
                [=] { return orthogonalized(*tall, *start, shape, cholesky_twice); },
                [=] { return checksum_of(*tall); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> low_rank_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const std::size_t rows : plan.matrix_rows) {
    for (const std::size_t rank : plan.ranks) {
      const TallShape shape{rows, rank};
      all.push_back(by_one_block(shape));
      all.push_back(by_operators(shape));
      all.push_back(by_cholesky(shape));
    }
  }
  return all;
}

}  // namespace payoff::kernels
