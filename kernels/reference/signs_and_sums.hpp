// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

// Sums in the fixed order of codec/fixed_order.hpp and what stands on them, on the host.

namespace payoff::kernels {

[[nodiscard]] float sum_of_values(std::span<const float> values);
[[nodiscard]] float sum_of_magnitudes(std::span<const float> values);
[[nodiscard]] float sum_of_squares(std::span<const float> values);

[[nodiscard]] std::vector<std::uint32_t> pack_signs(std::span<const float> values);
[[nodiscard]] std::vector<float> unpack_signs(std::span<const std::uint32_t> words, float scale,
                                              std::size_t count);

struct SignMessage {
  std::vector<std::uint32_t> words;
  float scale{};
};

// EF-signSGD: `error` is added first and holds afterwards what was not sent.
[[nodiscard]] SignMessage encode_with_error_feedback(std::span<const float> gradient,
                                                     std::span<float> error);

// Messages of `workers`, one after the other; each has the same number of words.
[[nodiscard]] std::vector<std::uint32_t> majority_of(std::span<const std::uint32_t> words,
                                                     std::uint32_t workers);

}  // namespace payoff::kernels
