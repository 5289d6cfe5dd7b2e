// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/selection.hpp"

// Count sketch (Charikar, Chen, Farach-Colton 2002), as in FetchSGD (Rothchild et al., arXiv
// 2007.07682): each row adds every value, with a random sign, to one of its columns; the estimate
// of a value is the median over the rows. A row errs by at most sqrt(3 / columns) * ||x|| with
// probability 2/3 (Chebyshev: its variance is ||x||^2 / columns). Rows: 1, 3 or 5.

namespace payoff::kernels {

struct SketchPlace {
  std::uint32_t column{};
  bool negated{};
};

[[nodiscard]] PAYOFF_HD inline SketchPlace sketch_place(std::uint32_t index, std::uint32_t row,
                                                        std::uint32_t columns, std::uint32_t seed) {
  const std::uint32_t hash = mixed(index ^ mixed(seed + row * 0x9E3779B9U));
  // The upper half of a product maps a word to [0, columns) without a division; the sign comes
  // from a second mixing, independent of the column.
  const auto column =
      static_cast<std::uint32_t>((static_cast<std::uint64_t>(hash) * columns) >> 32U);
  return {column, (mixed(hash ^ 0x85ebca6bU) & 1U) != 0U};
}

[[nodiscard]] PAYOFF_HD inline float median3(float a, float b, float c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

[[nodiscard]] PAYOFF_HD inline float median5(float a, float b, float c, float d, float e) {
  const float low = larger(smaller(a, b), smaller(c, d));
  const float high = smaller(larger(a, b), larger(c, d));
  return median3(e, low, high);
}

[[nodiscard]] PAYOFF_HD inline float sketch_estimate(const float* sketch, std::uint32_t index,
                                                     std::uint32_t rows, std::uint32_t columns,
                                                     std::uint32_t seed) {
  float found[5] = {};
  for (std::uint32_t row = 0; row < rows; ++row) {
    const SketchPlace place = sketch_place(index, row, columns, seed);
    const float value = sketch[static_cast<std::size_t>(row) * columns + place.column];
    found[row] = place.negated ? -value : value;
  }
  if (rows == 1) {
    return found[0];
  }
  return rows == 3 ? median3(found[0], found[1], found[2])
                   : median5(found[0], found[1], found[2], found[3], found[4]);
}

}  // namespace payoff::kernels
