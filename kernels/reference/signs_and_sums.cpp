// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/signs_and_sums.hpp"

#include <algorithm>
#include <array>

#include "kernels/codec/fixed_order.hpp"
#include "kernels/codec/signs.hpp"

namespace payoff::kernels {
namespace {

template <typename Term>
float tile_sum(const Term& term, std::size_t begin, std::size_t end) {
  std::array<float, sum_lanes> lanes{};
  for (std::size_t lane = 0; lane < sum_lanes; ++lane) {
    lanes[lane] = lane_sum(term, lane, begin, end);
  }
  for (std::size_t stride = first_stride(); stride > 0; stride /= 2) {
    for (std::size_t lane = 0; lane < stride; ++lane) {
      lanes[lane] += lanes[lane + stride];
    }
  }
  return lanes[0];
}

template <typename Term>
std::vector<float> tile_sums(const Term& term, std::size_t count) {
  std::vector<float> sums;
  for (std::size_t begin = 0; begin < count; begin += sum_tile) {
    sums.push_back(tile_sum(term, begin, std::min(count, begin + sum_tile)));
  }
  return sums;
}

template <typename Term>
float ordered_sum(const Term& term, std::size_t count) {
  std::vector<float> sums = tile_sums(term, count);
  while (sums.size() > 1) {
    sums = tile_sums([&sums](std::size_t i) { return sums[i]; }, sums.size());
  }
  return sums.empty() ? 0.0F : sums.front();
}

}  // namespace

float sum_of_values(std::span<const float> values) {
  return ordered_sum([values](std::size_t i) { return values[i]; }, values.size());
}

float sum_of_magnitudes(std::span<const float> values) {
  return ordered_sum([values](std::size_t i) { return magnitude(values[i]); }, values.size());
}

float sum_of_squares(std::span<const float> values) {
  return ordered_sum([values](std::size_t i) { return values[i] * values[i]; }, values.size());
}

std::vector<std::uint32_t> pack_signs(std::span<const float> values) {
  std::vector<std::uint32_t> words(divided_up(values.size(), signs_per_word), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    words[i / signs_per_word] |= (is_negative(values[i]) ? 1U : 0U) << (i % signs_per_word);
  }
  return words;
}

std::vector<float> unpack_signs(std::span<const std::uint32_t> words, float scale,
                                std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = signed_scale(words[i / signs_per_word], i, scale);
  }
  return values;
}

SignMessage encode_with_error_feedback(std::span<const float> gradient, std::span<float> error) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    error[i] += gradient[i];
  }
  SignMessage message{pack_signs(error),
                      sum_of_magnitudes(error) / static_cast<float>(gradient.size())};
  for (float& value : error) {
    value = sign_residual(value, message.scale);
  }
  return message;
}

std::vector<std::uint32_t> majority_of(std::span<const std::uint32_t> words,
                                       std::uint32_t workers) {
  std::vector<std::uint32_t> result(words.size() / workers);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = majority(words.data() + i, result.size(), workers);
  }
  return result;
}

}  // namespace payoff::kernels
