// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

// How much spanning trees that share the links of a few GPUs carry together (Wang et al., "Blink",
// MLSys 2020): the bound that no packing exceeds. The few trees that sim/tree_packing finds keep 95
// to 100 % of it on every part of a hybrid cube.

namespace payoff {

// In links of one direction.
struct TreeRates {
  // Trees that sum to their root and broadcast from it at once take both directions of a link: over
  // all partitions of the GPUs the least of what leads between its parts, over one less than the
  // parts are (Nash-Williams; Tutte, 1961). 0: some are cut off.
  double both_ways{};
  // Of a buffer of which every GPU is the root of an equal share, one way: over all sets of GPUs
  // the least of what leads into one, over the part of the buffer that is rooted outside (Edmonds
  // 1973, of all roots together). 0: some are cut off.
  double one_way{};
};

// `links`: between every two of them, by [a * gpus + b]. 2 to 10 GPUs.
[[nodiscard]] TreeRates tree_rates(std::span<const int> links, int gpus);

}  // namespace payoff
