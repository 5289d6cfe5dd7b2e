// SPDX-License-Identifier: Apache-2.0
// PowerSGD's orthogonalisation: Gram-Schmidt by one block, the same column by column in separate
// kernels, and Cholesky-QR twice, both ways; and a library's QR.
// A whole step: power_sgd.cu.
#include "kernels/families/families.hpp"
#include "kernels/families/orthogonal.cuh"
#include "kernels/program/factorizations.hpp"
#include "kernels/reference/transforms.hpp"

namespace payoff::kernels {
namespace {

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
                  copy_in_stream(s, tall->data(), start->data(), start->bytes());
                  gram_schmidt_by_columns(s, tall->data(), overlaps->data(), shape);
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
                                   shape.rows, r, shape.batch);
                  }
                },
                [=] { return orthogonalized(*tall, *start, shape, cholesky_twice); },
                [=] { return checksum_of(*tall); }};
  };
  return b;
}

// A finished row of the factor, and what the rows below take from it, as two operators.
PAYOFF_KERNEL void factor_row(float* matrix, const float* diagonal, std::size_t r,
                              std::size_t row) {
  const std::size_t column = row + threadIdx.x;
  const float pivot = cholesky_pivot(matrix, r, row, diagonal[row]);
  __syncthreads();
  if (column < r) {
    cholesky_scale(matrix, r, row, pivot, column);
  }
}

PAYOFF_KERNEL void factor_below(float* matrix, std::size_t r, std::size_t row) {
  const std::size_t side = r - row - 1;
  const std::size_t entry = global_thread();
  if (entry < side * side) {
    const std::size_t i = row + 1 + entry / side;
    const std::size_t column = row + 1 + entry % side;
    if (column >= i) {
      cholesky_update(matrix, r, row, i, column);
    }
  }
}

PAYOFF_KERNEL void take_diagonal(const float* matrix, float* diagonal, std::size_t r) {
  if (threadIdx.x < r) {
    diagonal[threadIdx.x] = matrix[threadIdx.x * r + threadIdx.x];
  }
}

// One column of P R^-1, from the columns before it.
PAYOFF_KERNEL void substitute_column(float* tall, const float* upper, std::size_t rows,
                                     std::size_t r, std::size_t column) {
  const std::size_t row = global_thread();
  if (row < rows) {
    float value = tall[row * r + column];
    for (std::size_t k = 0; k < column; ++k) {
      value -= tall[row * r + k] * upper[k * r + column];
    }
    tall[row * r + column] = value / upper[column * r + column];
  }
}

// The Gram matrix, a row of the factor after the other, a column of the result after the other.
void cholesky_by_rows(Stream s, float* tall, float* gram, float* diagonal, const TallShape& shape) {
  const std::size_t r = shape.rank;
  launch(s, r, block_threads, gram_rows, tall, gram, shape.rows, r);
  launch(s, 1, block_threads, take_diagonal, gram, diagonal, r);
  for (std::size_t row = 0; row < r; ++row) {
    launch(s, 1, block_threads, factor_row, gram, diagonal, r, row);
    launch_threads(s, (r - row - 1) * (r - row - 1), factor_below, gram, r, row);
  }
  for (std::size_t column = 0; column < r; ++column) {
    launch_threads(s, shape.rows, substitute_column, tall, gram, shape.rows, r, column);
  }
}

// Of a pass: the Gram matrix reads the columns once from memory; each column of the result reads
// and writes the lines it lies in, which are everybody's. The diagonal is a tensor of its own.
Benchmark cholesky_by_operators(const TallShape& shape) {
  const auto n = static_cast<double>(flat(shape).elements);
  const auto rank = static_cast<double>(shape.rank);
  const Traffic traffic{bytes_of(4.0 * n * (1.0 + 2.0 * (1.0 + rank)) + 16.0 * rank),
                        bytes_of(4.0 * n * (1.0 + 2.0 * rank) + 8.0 * rank),
                        Flops{2.0 * (2.0 * n * rank)},
                        0.0,
                        1 + 2 * (1 + 3 * static_cast<int>(shape.rank)),
                        0};
  Benchmark b{point_of("cholesky_qr", "low_rank", "framework_ops", flat(shape),
                       parameters_of(shape), traffic),
              bytes_of(8.0 * n + 4.0 * rank * rank),
              {}};
  b.make = [shape] {
    auto start = drawn_on_device(flat(shape));
    auto tall = array_of<float>(start->count());
    auto gram = array_of<float>(shape.rank * shape.rank);
    auto diagonal = array_of<float>(shape.rank);
    return Work{[=](Stream s) {
                  copy_in_stream(s, tall->data(), start->data(), start->bytes());
                  for (int pass = 0; pass < 2; ++pass) {
                    cholesky_by_rows(s, tall->data(), gram->data(), diagonal->data(), shape);
                  }
                },
                [=] { return orthogonalized(*tall, *start, shape, cholesky_twice); },
                [=] { return checksum_of(*tall); }};
  };
  return b;
}

// The library's columns, column-major and of either sign, against Gram-Schmidt's of the same start.
[[nodiscard]] std::string same_columns(const DeviceArray<float>& found,
                                       const DeviceArray<float>& start, const TallShape& shape) {
  if (!found.guard_is_whole()) {
    return "columns: written past their end";
  }
  const auto by_rows = [&](const std::vector<float>& by_columns) {
    Matrix matrix{shape.rows, shape.rank, std::vector<float>(by_columns.size())};
    for (std::size_t i = 0; i < by_columns.size(); ++i) {
      matrix.values[i % shape.rows * shape.rank + i / shape.rows] = by_columns[i];
    }
    return matrix;
  };
  Matrix expected = by_rows(start.read());
  orthogonalize_gram_schmidt(expected);
  Matrix columns = by_rows(found.read());
  for (std::size_t column = 0; column < shape.rank; ++column) {
    float overlap = 0.0F;
    for (std::size_t row = 0; row < shape.rows; ++row) {
      overlap += columns(row, column) * expected(row, column);
    }
    for (std::size_t row = 0; row < shape.rows && overlap < 0.0F; ++row) {
      columns.values[row * shape.rank + column] *= -1.0F;
    }
  }
  return first_deviation("columns", columns.values, expected.values, order_bound(shape));
}

// Reflections, then the columns they stand for: 2 n r of arithmetic each. A library's launches are
// its own affair: they count as one.
Benchmark by_library(const TallShape& shape) {
  const auto n = static_cast<double>(flat(shape).elements);
  const auto rank = static_cast<double>(shape.rank);
  const Traffic traffic{bytes_of(12.0 * n), bytes_of(12.0 * n), Flops{4.0 * n * rank}, 0.0, 1, 0};
  Benchmark b{point_of("qr", "low_rank", "library", flat(shape), parameters_of(shape), traffic),
              bytes_of(12.0 * n),
              {}};
  b.needs = "cusolver";
  b.make = [shape] {
    auto start = drawn_on_device(flat(shape));
    auto tall = array_of<float>(start->count());
    auto library = std::make_shared<Orthogonalization>(shape.rows, shape.rank);
    return Work{[=](Stream s) {
                  copy_in_stream(s, tall->data(), start->data(), start->bytes());
                  library->run(s, tall->data());
                },
                [=] {
                  const int status = library->status();
                  return status != 0 ? "cuSOLVER: " + std::to_string(status)
                                     : same_columns(*tall, *start, shape);
                },
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
      all.push_back(cholesky_by_operators(shape));
      all.push_back(by_library(shape));
    }
  }
  return all;
}

}  // namespace payoff::kernels
