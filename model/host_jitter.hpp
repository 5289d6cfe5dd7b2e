// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/units.hpp"

// What hosts add to a step by chance: garbage collection, interrupts, other processes. Every rank
// is late by a delay of its own, independent of the others, and a step waits for the latest rank,
// so that a mean too small to notice on one GPU grows with their number (Petrini et al., SC'03;
// Hoefler et al., SC'10). Delays are not negative.

namespace payoff {

// exponential: rare long delays. half_normal: |z| of a normal number, bounded in practice.
enum class JitterLaw { exponential, half_normal };

struct HostJitter {
  JitterLaw law{};
  Seconds mean{};  // of one rank in one step; 0: none
};

// Mean over steps of the latest of `ranks` (>= 1). exponential: mean x H_ranks, the harmonic number
// (Renyi 1953). half_normal: quadrature of the tail, to 1e-9 of itself up to 2^20 ranks.
[[nodiscard]] Seconds expected_maximum(const HostJitter& jitter, int ranks);

// What the latest of `ranks` stays below in a share of the steps (0 < share < 1).
[[nodiscard]] Seconds maximum_quantile(const HostJitter& jitter, int ranks, double share);

}  // namespace payoff
