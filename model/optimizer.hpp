// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"
#include "model/units.hpp"

// What an optimiser keeps and moves for every parameter of a GPU, besides the parameter and its
// gradient. With 16-bit parameters a 32-bit master copy belongs to it (Rajbhandari et al. 2020,
// ZeRO, section 3.1: 12 bytes for Adam). Traffic is that of one fused update.

namespace payoff {

enum class Optimizer { sgd, sgd_momentum, adam };

struct OptimizerCost {
  Bytes state_per_parameter{};
  Bytes traffic_per_parameter{};
};

[[nodiscard]] OptimizerCost optimizer_cost(Optimizer optimizer, Precision precision,
                                           Precision gradient);

}  // namespace payoff
