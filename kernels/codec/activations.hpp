// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/portable.hpp"

// Activation functions of transformer layers. The exponential is each machine's own, so results
// agree within a few units of the last place and not byte for byte.

namespace payoff::kernels {

#if defined(__CUDA_ARCH__)
[[nodiscard]] __device__ inline float exponential(float value) { return expf(value); }
#else
[[nodiscard]] PAYOFF_HD inline float exponential(float value) { return __builtin_expf(value); }
#endif

[[nodiscard]] PAYOFF_HD inline float sigmoid(float value) {
  return 1.0F / (1.0F + exponential(-value));
}

// Of gated layers (Shazeer, "GLU Variants Improve Transformer", arXiv 2002.05202).
[[nodiscard]] PAYOFF_HD inline float silu(float value) { return value * sigmoid(value); }

// GELU by its hyperbolic tangent (Hendrycks and Gimpel, arXiv 1606.08415):
//   x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2,  and (1 + tanh(u)) / 2 = sigmoid(2 u).
[[nodiscard]] PAYOFF_HD inline float gelu(float value) {
  constexpr float twice_root = 1.5957691216F;  // 2 sqrt(2 / pi)
  return value * sigmoid(twice_root * (value + 0.044715F * (value * value * value)));
}

}  // namespace payoff::kernels
