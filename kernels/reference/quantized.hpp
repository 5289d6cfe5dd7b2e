// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/codec/counter_random.hpp"
#include "kernels/codec/group_quantize.hpp"

// Whole tensors through the scalar codecs on the host: what the GPU has to give byte for byte, and
// what the tests hold against the methods' published error bounds.

namespace payoff::kernels {

[[nodiscard]] float largest_magnitude(std::span<const float> values);

// Codes with one scale (or several) as they would be sent.
struct ScaledCodes {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;         // of the tensor, or one each group
  std::vector<std::uint8_t> shared;  // MX and NVFP4: a byte each block
};

[[nodiscard]] ScaledCodes encode_fp8_tensor(std::span<const float> values);
[[nodiscard]] ScaledCodes encode_fp8_blocks(std::span<const float> values);
[[nodiscard]] std::vector<float> decode_fp8_blocks(const ScaledCodes& message, std::size_t block);

[[nodiscard]] ScaledCodes encode_mxfp8(std::span<const float> values);
[[nodiscard]] std::vector<float> decode_mxfp8(const ScaledCodes& message);
[[nodiscard]] ScaledCodes encode_mxfp4(std::span<const float> values);
[[nodiscard]] std::vector<float> decode_mxfp4(const ScaledCodes& message, std::size_t count);
[[nodiscard]] ScaledCodes encode_nvfp4(std::span<const float> values);
[[nodiscard]] std::vector<float> decode_nvfp4(const ScaledCodes& message, std::size_t count);

enum class Rounding { nearest, stochastic };

// Groups of `group` values with `bits` bits each, symmetric about zero; `key` for stochastic
// rounding. bits is 8, 4 or 2; anything else throws std::invalid_argument.
struct GroupFormat {
  int bits{};
  std::size_t group{};
  Rounding rounding{};
  RandomKey key{};
};

[[nodiscard]] ScaledCodes quantize_groups(std::span<const float> values, const GroupFormat& format);
[[nodiscard]] std::vector<float> dequantize_groups(const ScaledCodes& message,
                                                   const GroupFormat& format, std::size_t count);
// The sum of several messages in the order given, quantised again: what the middle of a
// reduce-scatter of quantised gradients does.
[[nodiscard]] ScaledCodes reduce_groups(std::span<const ScaledCodes> messages,
                                        const GroupFormat& format, std::size_t count);

[[nodiscard]] std::vector<std::uint8_t> encode_natural(std::span<const float> values,
                                                       RandomKey key);

}  // namespace payoff::kernels
