// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/transforms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/codec/hadamard.hpp"
#include "kernels/codec/low_rank.hpp"

namespace payoff::kernels {
namespace {

void transform_tile(std::span<float> tile, int log2_tile) {
  for (unsigned round = 0; round < static_cast<unsigned>(log2_tile); ++round) {
    for (std::size_t pair = 0; pair < tile.size() / 2; ++pair) {
      const PairOfPlaces places = butterfly_places(pair, round);
      const Butterfly result = butterfly(tile[places.low], tile[places.high]);
      tile[places.low] = result.sum;
      tile[places.high] = result.difference;
    }
  }
  const float norm = hadamard_norm(log2_tile);
  for (float& value : tile) {
    value *= norm;
  }
}

void transform_tiles(std::span<float> values, int log2_tile) {
  const std::size_t tile = std::size_t{1} << static_cast<unsigned>(log2_tile);
  for (std::size_t begin = 0; begin < values.size(); begin += tile) {
    transform_tile(values.subspan(begin, tile), log2_tile);
  }
}

void flip_signs(std::span<float> values, RandomKey key) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = with_random_sign(values[i], key, i);
  }
}

Matrix combined(const Matrix& a, const Matrix& b, float factor) {
  Matrix result = a;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] += factor * b.values[i];
  }
  return result;
}

void factor_upper(std::vector<float>& matrix, std::size_t r) {
  std::vector<float> diagonal(r);
  for (std::size_t i = 0; i < r; ++i) {
    diagonal[i] = matrix[i * r + i];
  }
  for (std::size_t row = 0; row < r; ++row) {
    const float pivot = cholesky_pivot(matrix.data(), r, row, diagonal[row]);
    for (std::size_t column = row; column < r; ++column) {
      cholesky_scale(matrix.data(), r, row, pivot, column);
    }
    for (std::size_t i = row + 1; i < r; ++i) {
      for (std::size_t column = i; column < r; ++column) {
        cholesky_update(matrix.data(), r, row, i, column);
      }
    }
  }
}

// One rotation of Jacobi's method: makes the entry of a symmetric matrix zero.
void rotate_away(std::vector<double>& symmetric, std::size_t size, std::size_t p, std::size_t q) {
  const double beside = symmetric[p * size + q];
  if (beside == 0.0) {
    return;
  }
  const double half = 0.5 * (symmetric[q * size + q] - symmetric[p * size + p]) / beside;
  const double tangent = std::copysign(1.0, half) / (std::abs(half) + std::hypot(half, 1.0));
  const double cosine = 1.0 / std::hypot(tangent, 1.0);
  const double sine = tangent * cosine;
  for (std::size_t i = 0; i < size; ++i) {
    const double a = symmetric[i * size + p];
    const double b = symmetric[i * size + q];
    symmetric[i * size + p] = cosine * a - sine * b;
    symmetric[i * size + q] = sine * a + cosine * b;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double a = symmetric[p * size + i];
    const double b = symmetric[q * size + i];
    symmetric[p * size + i] = cosine * a - sine * b;
    symmetric[q * size + i] = sine * a + cosine * b;
  }
}

}  // namespace

std::vector<float> hadamard(std::span<const float> values, int log2_tile, RandomKey key) {
  const std::size_t tile = std::size_t{1} << static_cast<unsigned>(log2_tile);
  std::vector<float> result(values.begin(), values.end());
  result.resize(divided_up(values.size(), tile) * tile, 0.0F);
  flip_signs(result, key);
  transform_tiles(result, log2_tile);
  return result;
}

std::vector<float> inverse_hadamard(std::span<const float> values, int log2_tile, RandomKey key,
                                    std::size_t count) {
  std::vector<float> result(values.begin(), values.end());
  transform_tiles(result, log2_tile);
  flip_signs(result, key);
  result.resize(count);
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{a.rows, b.columns, std::vector<float>(a.rows * b.columns, 0.0F)};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.columns; ++k) {
      for (std::size_t j = 0; j < b.columns; ++j) {
        result.values[i * b.columns + j] += a(i, k) * b(k, j);
      }
    }
  }
  return result;
}

Matrix transposed(const Matrix& a) {
  Matrix result{a.columns, a.rows, std::vector<float>(a.values.size())};
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) {
      result.values[j * a.rows + i] = a(i, j);
    }
  }
  return result;
}

double condition_number(const Matrix& tall) {
  const std::size_t r = tall.columns;
  std::vector<double> gram(r * r, 0.0);
  for (std::size_t row = 0; row < tall.rows; ++row) {
    for (std::size_t i = 0; i < r; ++i) {
      for (std::size_t j = 0; j < r; ++j) {
        gram[i * r + j] += static_cast<double>(tall(row, i)) * static_cast<double>(tall(row, j));
      }
    }
  }
  constexpr int sweeps = 12;  // each squares what is left beside the diagonal
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t p = 0; p < r; ++p) {
      for (std::size_t q = p + 1; q < r; ++q) {
        rotate_away(gram, r, p, q);
      }
    }
  }
  double largest = 0.0;
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < r; ++i) {
    largest = std::max(largest, gram[i * r + i]);
    smallest = std::min(smallest, gram[i * r + i]);
  }
  return smallest > 0.0 ? std::sqrt(largest / smallest) : std::numeric_limits<double>::infinity();
}

void orthogonalize_gram_schmidt(Matrix& tall) {
  const auto dot = [&tall](std::size_t a, std::size_t b) {
    float sum = 0.0F;
    for (std::size_t row = 0; row < tall.rows; ++row) {
      sum += tall(row, a) * tall(row, b);
    }
    return sum;
  };
  for (std::size_t column = 0; column < tall.columns; ++column) {
    const float length = root(larger(dot(column, column), smallest_normal));
    for (std::size_t row = 0; row < tall.rows; ++row) {
      tall.values[row * tall.columns + column] /= length;
    }
    for (std::size_t later = column + 1; later < tall.columns; ++later) {
      const float overlap = dot(column, later);
      for (std::size_t row = 0; row < tall.rows; ++row) {
        tall.values[row * tall.columns + later] -= overlap * tall(row, column);
      }
    }
  }
}

void orthogonalize_cholesky(Matrix& tall) {
  const std::size_t r = tall.columns;
  Matrix gram = product(transposed(tall), tall);
  factor_upper(gram.values, r);
  for (std::size_t row = 0; row < tall.rows; ++row) {
    substitute_row(tall.values.data() + row * r, gram.values.data(), r);
  }
}

Matrix power_sgd_step(const Matrix& gradient, Matrix& error, Matrix& right) {
  const Matrix corrected = combined(gradient, error, 1.0F);
  Matrix left = product(corrected, right);
  orthogonalize_gram_schmidt(left);
  right = product(transposed(corrected), left);
  Matrix received = product(left, transposed(right));
  error = combined(corrected, received, -1.0F);
  return received;
}

}  // namespace payoff::kernels
