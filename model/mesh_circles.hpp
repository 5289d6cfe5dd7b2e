// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// Circles through all GPUs of a small mesh that fit beside each other: what NCCL's rings use, one
// in each direction. All cases are counted.

namespace payoff {

inline constexpr int most_counted_gpus = 10;

// Links between GPUs a and b at [a * gpus + b], symmetric. As many circles as fit, each with one
// link of every pair it joins, as the order of its GPUs; none of fewer than three GPUs.
[[nodiscard]] std::vector<std::vector<int>> mesh_circles(std::vector<int> links, int gpus);

}  // namespace payoff
