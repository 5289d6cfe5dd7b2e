// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/codec/thresholds.hpp"
#include "kernels/reference/sparse.hpp"

// Thresholds by counting, on the host.

namespace payoff::kernels {

// How many magnitudes reach a threshold.
[[nodiscard]] std::uint32_t count_reaching(std::span<const float> values, float threshold);

[[nodiscard]] Bisection bisected(std::span<const float> values, std::uint32_t k, int iterations);

// All that a bisection keeps, and of what fills up the first ones, in the order of their places:
// min(k, count) entries.
[[nodiscard]] SparseMessage kept_by(const Bisection& bisection, std::span<const float> values,
                                    std::uint32_t k);

// How many standard deviations a normal value lies off its mean with a probability of `ratio`, to
// either side; 0 < ratio <= 1.
[[nodiscard]] double normal_deviations(double ratio);

[[nodiscard]] float gaussian_threshold(std::span<const float> values, std::uint32_t k,
                                       float deviations, int corrections);

}  // namespace payoff::kernels
