// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/families/group_formats.cuh"
#include "kernels/families/operators.cuh"

// Quantisation of groups, one operator after the other, for the chains that contain it.

namespace payoff::kernels {

template <unsigned bits>
inline constexpr float side_of = static_cast<float>(middle_code<bits>);
template <unsigned bits>
inline constexpr double packing = bits < 8 ? 1.0 : 0.0;  // bytes a value, each way

// Magnitude, maximum of each group, product, shift, clamp, cast, and packing below 8 bits. The
// shift of stochastic rounding is a tensor: random numbers, and their sum with the middle code.
template <unsigned group, unsigned bits, bool stochastic>
void quantize_in_steps(Stream s, const float* in, Byte* codes, float* steps, const Between& between,
                       const Shape& shape) {
  const std::size_t n = shape.elements;
  float* first = between.first->data();
  float* second = between.second->data();
  map<4>(s, in, first, n, Magnitude{});
  launch_threads(s, divided_up(n, group) * GroupLayout<group>::lanes, scales_of_groups<group>,
                 first, steps, between.inverse->data(), side_of<bits>, n);
  map<4>(s, in, first, n, TimesGroupFactor{between.inverse->data(), group});
  if constexpr (stochastic) {
    map<8>(s, in, second, n, UniformNumbers{RandomKey{shape.seed, rounding_stream}});
    map<4>(s, second, second, n, PlusConstant{side_of<bits>});
    combine<4>(s, first, second, second, n, Sum{});
  } else {
    map<4>(s, first, second, n, PlusConstant{side_of<bits> + 0.5F});
  }
  map<4>(s, second, first, n, Clamp{0.0F, 2.0F * side_of<bits>});
  map<4>(s, first, bits < 8 ? between.bytes->data() : codes, n, FloatToByte{});
  if constexpr (bits < 8) {
    launch_threads(s, divided_up(n, pack_values), pack_codes<bits>, between.bytes->data(), codes,
                   n);
  }
}

template <unsigned group, unsigned bits, bool stochastic>
[[nodiscard]] Traffic quantizing_traffic(std::size_t elements) {
  // The random tensor: written, read and written by the sum, read by the next.
  const double random_read = stochastic ? 8.0 : 0.0;
  const double random_written = stochastic ? 8.0 : 0.0;
  return streamed(elements, 24 + 4.0 / group + random_read + packing<bits>,
                  16 + packing<bits> + bits / 8.0 + 8.0 / group + random_written,
                  6 + (stochastic ? 2 : 0) + (bits < 8 ? 1 : 0));
}

}  // namespace payoff::kernels
