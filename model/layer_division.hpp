// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/layout.hpp"

// Blocks of a model are divided into parts, one for every chunk of every stage (both copies of a
// stage have the same), as `layout.stage_layers` says or as evenly as can be. A micro-batch passes
// the parts in order: round by round through the stages where chunks are interleaved, there and
// back in a V. Which layers that makes: divide_layers() and chunk_starts() (model/stage_compute).

namespace payoff {

[[nodiscard]] inline int part_count(const ParallelLayout& layout) {
  return layout.stages() * layout.virtual_stages;
}

}  // namespace payoff
