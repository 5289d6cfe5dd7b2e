// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/reference/quantized.hpp"
#include "kernels/reference/signs_and_sums.hpp"

namespace payoff::kernels {

std::uint32_t count_reaching(std::span<const float> values, float threshold) {
  return static_cast<std::uint32_t>(std::count_if(
      values.begin(), values.end(),
      [threshold](float value) { return magnitude_key(value) >= magnitude_key(threshold); }));
}

Bisection bisected(std::span<const float> values, std::uint32_t k, int iterations) {
  const float mean = sum_of_magnitudes(values) / static_cast<float>(values.size());
  Bisection bisection = begun_bisection(mean, largest_magnitude(values));
  for (int i = 0; i < iterations; ++i) {
    bisection = halved(bisection, count_reaching(values, middle_of(bisection)), k);
  }
  return bisection;
}

SparseMessage kept_by(const Bisection& bisection, std::span<const float> values, std::uint32_t k) {
  std::uint32_t room = k - bisection.kept;
  SparseMessage message;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int side = bisected_side(values[i], bisection);
    if (side > 0 || (side == 0 && room > 0)) {
      room -= side == 0 ? 1U : 0U;
      message.indices.push_back(static_cast<std::uint32_t>(i));
      message.values.push_back(values[i]);
    }
  }
  return message;
}

// P(|z| > x) = erfc(x / sqrt(2)) falls from 1 at 0 to less than any double's ratio at 40.
double normal_deviations(double ratio) {
  double low = 0.0;
  double high = 40.0;
  for (int i = 0; i < 64; ++i) {
    const double middle = 0.5 * (low + high);
    (std::erfc(middle / std::numbers::sqrt2) > ratio ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

float gaussian_threshold(std::span<const float> values, std::uint32_t k, float deviations,
                         int corrections) {
  float threshold = normal_threshold(sum_of_values(values), sum_of_squares(values),
                                     static_cast<float>(values.size()), deviations);
  for (int i = 0; i < corrections; ++i) {
    threshold = corrected_threshold(threshold, count_reaching(values, threshold), k);
  }
  return threshold;
}

}  // namespace payoff::kernels
