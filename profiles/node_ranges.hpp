// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/quantity_range.hpp"

// What a node can cost and a GPU can draw: beyond, the cost and the energy of a long run would not
// be numbers.

namespace payoff {

inline constexpr QuantityRange<Price> node_prices{Price{}, Price{1e6 / 3600},
                                                  "one node: at most 1000000 USD/h"};
inline constexpr QuantityRange<Watts> gpu_powers{Watts{}, Watts{1e6}, "one GPU: at most 1 MW"};

}  // namespace payoff
