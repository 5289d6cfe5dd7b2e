// SPDX-License-Identifier: Apache-2.0
#include "study/latent_matrix.hpp"

#include <cmath>
#include <cstddef>

namespace payoff {

double squared(const Latents& z) {
  double sum = 0.0;
  for (const double value : z) {
    sum += value * value;
  }
  return sum;
}

LatentMatrix cholesky(const LatentMatrix& m) {
  LatentMatrix l{};
  for (std::size_t i = 0; i < all_latents; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = m[i][j];
      for (std::size_t k = 0; k < j; ++k) {
        rest -= l[i][k] * l[j][k];
      }
      l[i][j] = i == j ? std::sqrt(rest) : rest / l[j][j];
    }
  }
  return l;
}

Latents solve(const LatentMatrix& l, Latents b) {
  for (std::size_t i = 0; i < all_latents; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= l[i][k] * b[k];
    }
    b[i] /= l[i][i];
  }
  for (std::size_t i = all_latents; i-- > 0;) {
    for (std::size_t k = i + 1; k < all_latents; ++k) {
      b[i] -= l[k][i] * b[k];
    }
    b[i] /= l[i][i];
  }
  return b;
}

LatentMatrix inverse_factor(const LatentMatrix& m) {
  const LatentMatrix l = cholesky(m);
  LatentMatrix inverse{};
  for (std::size_t column = 0; column < all_latents; ++column) {
    Latents unit{};
    unit[column] = 1.0;
    const Latents x = solve(l, unit);
    for (std::size_t row = 0; row < all_latents; ++row) {
      inverse[row][column] = x[row];
    }
  }
  return cholesky(inverse);
}

}  // namespace payoff
