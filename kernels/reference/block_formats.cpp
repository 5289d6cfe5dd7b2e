// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/codec/block_scaling.hpp"
#include "kernels/reference/quantized.hpp"

namespace payoff::kernels {
namespace {

std::span<const float> block_of(std::span<const float> values, std::size_t begin,
                                std::size_t size) {
  return values.subspan(begin, std::min(size, values.size() - begin));
}

// Of 8 or 4 bits.
template <unsigned bits, typename Encode>
void append_codes(std::vector<std::uint8_t>& codes, std::span<const float> block,
                  const Encode& encode) {
  if constexpr (bits == 8) {
    for (const float value : block) {
      codes.push_back(static_cast<std::uint8_t>(encode(value)));
    }
  } else {
    for (std::size_t i = 0; i < block.size(); i += 2) {
      const std::uint32_t high = i + 1 < block.size() ? encode(block[i + 1]) : 0U;
      codes.push_back(two_in_a_byte(encode(block[i]), high));
    }
  }
}

ScaledCodes encode_fp8_each(std::span<const float> values, std::size_t block) {
  ScaledCodes message;
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    const auto part = block_of(values, begin, block);
    const float scale = block_scale(largest_magnitude(part), e4m3_top);
    message.scales.push_back(scale);
    for (const float value : part) {
      message.codes.push_back(encode_fp8(value, 1.0F / scale));
    }
  }
  return message;
}

template <typename Format>
ScaledCodes encode_mx(std::span<const float> values) {
  ScaledCodes message;
  for (std::size_t begin = 0; begin < values.size(); begin += mx_block) {
    const auto block = block_of(values, begin, mx_block);
    const std::uint8_t scale = mx_scale(largest_magnitude(block), Format::largest_exponent);
    message.shared.push_back(scale);
    append_codes<Format::bits>(message.codes, block,
                               [scale](float value) { return Format::encode(value, scale); });
  }
  return message;
}

}  // namespace

float largest_magnitude(std::span<const float> values) {
  float largest = 0.0F;
  for (const float value : values) {
    largest = larger(largest, magnitude(value));
  }
  return largest;
}

ScaledCodes encode_fp8_tensor(std::span<const float> values) {
  return encode_fp8_each(values, std::max<std::size_t>(values.size(), 1));
}

ScaledCodes encode_fp8_blocks(std::span<const float> values) {
  return encode_fp8_each(values, fp8_block);
}

std::vector<float> decode_fp8_blocks(const ScaledCodes& message, std::size_t block) {
  std::vector<float> values;
  for (std::size_t i = 0; i < message.codes.size(); ++i) {
    values.push_back(decode_fp8(message.codes[i], message.scales[i / block]));
  }
  return values;
}

ScaledCodes encode_mxfp8(std::span<const float> values) { return encode_mx<Mxfp8>(values); }

std::vector<float> decode_mxfp8(const ScaledCodes& message) {
  std::vector<float> values;
  for (std::size_t i = 0; i < message.codes.size(); ++i) {
    values.push_back(decode_mxfp8(message.codes[i], message.shared[i / mx_block]));
  }
  return values;
}

ScaledCodes encode_mxfp4(std::span<const float> values) { return encode_mx<Mxfp4>(values); }

std::vector<float> decode_mxfp4(const ScaledCodes& message, std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(
        decode_mxfp4(half_byte(message.codes[i / 2], i), message.shared[i / mx_block]));
  }
  return values;
}

ScaledCodes encode_nvfp4(std::span<const float> values) {
  ScaledCodes message;
  const float tensor_scale = nv_tensor_scale(largest_magnitude(values));
  message.scales.push_back(tensor_scale);
  for (std::size_t begin = 0; begin < values.size(); begin += nv_block) {
    const auto block = block_of(values, begin, nv_block);
    const std::uint8_t scale = nv_scale(largest_magnitude(block), tensor_scale);
    const float inverse = nv_inverse(scale, tensor_scale);
    message.shared.push_back(scale);
    append_codes<4>(message.codes, block,
                    [inverse](float value) { return encode_nvfp4(value, inverse); });
  }
  return message;
}

std::vector<float> decode_nvfp4(const ScaledCodes& message, std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const float factor = nv_factor(message.shared[i / nv_block], message.scales.front());
    values.push_back(decode_nvfp4(half_byte(message.codes[i / 2], i), factor));
  }
  return values;
}

}  // namespace payoff::kernels
