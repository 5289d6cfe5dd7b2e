// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/layout.hpp"
#include "model/workload.hpp"

// Blocks of a model are divided into parts, one for every chunk of every stage (both copies of a
// stage have the same), as `layout.stage_layers` says or as evenly as can be. A micro-batch passes
// the parts in order: round by round through the stages where chunks are interleaved, there and
// back in a V.

namespace payoff {

[[nodiscard]] inline int part_count(const ParallelLayout& layout) {
  return layout.stages() * layout.virtual_stages;
}

// Indices of the layers of each stage, in forward order. Blocks are the recomputable layers; what
// stands before the first one belongs to the stage that it is on, what follows the last one to the
// stage of that one.
[[nodiscard]] std::vector<std::vector<std::size_t>> divide_layers(const Workload& workload,
                                                                  const ParallelLayout& layout);

// Where each chunk of a stage begins among its layers: what stands before its first block belongs
// to it, what follows the last one to the last.
[[nodiscard]] std::vector<std::size_t> chunk_starts(const Workload& workload,
                                                    const std::vector<std::size_t>& layers,
                                                    const ParallelLayout& layout);

}  // namespace payoff
