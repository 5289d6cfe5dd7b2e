// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study/draws.hpp"

// Of matrices as wide as there are latents, symmetric and positive definite, what a fit of a few
// measurements needs. Eigen stays inside calibrate/.

namespace payoff {

[[nodiscard]] double squared(const Latents& z);

// Lower triangle L with L L^T = m.
[[nodiscard]] LatentMatrix cholesky(const LatentMatrix& m);

// x with L L^T x = b.
[[nodiscard]] Latents solve(const LatentMatrix& l, Latents b);

// L with L L^T = inverse of m.
[[nodiscard]] LatentMatrix inverse_factor(const LatentMatrix& m);

}  // namespace payoff
