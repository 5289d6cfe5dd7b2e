// SPDX-License-Identifier: Apache-2.0
#include "model/reference_mgwfbp.hpp"

#include <algorithm>

namespace payoff {

// Theorem 1 (equation 38): a message waits for the next layer if that layer is complete before the
// message, had it been sent alone, would be through its startup. The paper recomputes all start
// times after every merge; they depend on earlier layers only, so one pass with the state of the
// pending message gives the same groups in linear time.
std::vector<std::size_t> merge_layers(std::span<const LayerGradient> layers,
                                      const LinearAllReduce& all_reduce) {
  std::vector<std::size_t> groups;
  if (layers.empty()) {
    return groups;
  }
  Seconds computed = layers.front().backward;  // gradients so far are complete
  Seconds network_free;                        // the messages before the pending one are through
  Bytes pending = layers.front().size;
  std::size_t count = 1;
  for (const LayerGradient& next : layers.subspan(1)) {
    const Seconds start = std::max(network_free, computed);
    computed += next.backward;
    if (computed < start + all_reduce.startup) {
      pending += next.size;
      ++count;
      continue;
    }
    network_free = start + all_reduce.time(pending);
    groups.push_back(count);
    pending = next.size;
    count = 1;
  }
  groups.push_back(count);
  return groups;
}

Seconds synchronised_backward(std::span<const LayerGradient> layers,
                              std::span<const std::size_t> groups,
                              const LinearAllReduce& all_reduce) {
  Seconds computed;
  Seconds network_free;
  std::size_t next = 0;
  for (const std::size_t count : groups) {
    Bytes size;
    for (const std::size_t end = next + count; next < end; ++next) {
      computed += layers[next].backward;
      size += layers[next].size;
    }
    network_free = std::max(network_free, computed) + all_reduce.time(size);
  }
  return network_free;  // the last message holds the last gradient
}

}  // namespace payoff
