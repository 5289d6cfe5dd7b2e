// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/quantized.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/codec/natural.hpp"

namespace payoff::kernels {
namespace {

// Calls `work` with the number of bits as a constant.
template <typename Work>
auto with_bits(int bits, const Work& work) {
  switch (bits) {
    case 8:
      return work(std::integral_constant<int, 8>{});
    case 4:
      return work(std::integral_constant<int, 4>{});
    case 2:
      return work(std::integral_constant<int, 2>{});
    default:
      throw std::invalid_argument("groups are quantised to 8, 4 or 2 bits, not " +
                                  std::to_string(bits));
  }
}

float offset_of(const GroupFormat& format, std::size_t index) {
  return format.rounding == Rounding::nearest ? 0.5F
                                              : unit_interval(random_half(format.key, index));
}

template <int bits>
ScaledCodes quantize_symmetric_groups(std::span<const float> values, const GroupFormat& format) {
  ScaledCodes message;
  message.codes.assign(divided_up(values.size(), codes_per_byte<bits>), 0);
  for (std::size_t begin = 0; begin < values.size(); begin += format.group) {
    const std::size_t end = std::min(values.size(), begin + format.group);
    const float step = symmetric_step<bits>(largest_magnitude(values.subspan(begin, end - begin)));
    message.scales.push_back(step);
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t code =
          quantize_symmetric<bits>(values[i], 1.0F / step, offset_of(format, i));
      std::uint8_t& byte = message.codes[i / codes_per_byte<bits>];
      byte = with_code<bits>(byte, i, code);
    }
  }
  return message;
}

template <int bits>
std::vector<float> dequantize_symmetric_groups(const ScaledCodes& message,
                                               const GroupFormat& format, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] =
        dequantize_symmetric<bits>(code_at<bits>(message.codes[i / codes_per_byte<bits>], i),
                                   message.scales[i / format.group]);
  }
  return values;
}

}  // namespace

ScaledCodes quantize_groups(std::span<const float> values, const GroupFormat& format) {
  return with_bits(format.bits, [&](auto bits) {
    return quantize_symmetric_groups<decltype(bits)::value>(values, format);
  });
}

std::vector<float> dequantize_groups(const ScaledCodes& message, const GroupFormat& format,
                                     std::size_t count) {
  return with_bits(format.bits, [&](auto bits) {
    return dequantize_symmetric_groups<decltype(bits)::value>(message, format, count);
  });
}

ScaledCodes reduce_groups(std::span<const ScaledCodes> messages, const GroupFormat& format,
                          std::size_t count) {
  std::vector<float> sum(count, 0.0F);
  for (const ScaledCodes& message : messages) {
    const std::vector<float> values = dequantize_groups(message, format, count);
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += values[i];
    }
  }
  return quantize_groups(sum, format);
}

std::vector<std::uint8_t> encode_natural(std::span<const float> values, RandomKey key) {
  std::vector<std::uint8_t> bytes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes[i] = encode_natural(values[i], random_half(key, i));
  }
  return bytes;
}

}  // namespace payoff::kernels
