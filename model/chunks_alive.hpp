// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "model/layout.hpp"
#include "model/units.hpp"

// How many micro-batches a stage holds at once in each of its chunks. Where chunks are alike their
// number says how much that is (model/memory.hpp); where they are not, which of them it is matters.

namespace payoff {

// Numbers by chunk, at one moment of the order in which the stage runs its operations.
using ChunksAlive = std::vector<int>;

// The moments at which a stage holds most, whatever its chunks weigh: none has as many of every
// chunk as another. Empty where all chunks weigh alike, or there is one. A micro-batch is held from
// its forward until it has given all its gradients.
[[nodiscard]] std::vector<ChunksAlive> most_alive(const ParallelLayout& layout, int stage);

// What a stage holds at most, of chunks of such sizes.
[[nodiscard]] Bytes held(std::span<const ChunksAlive> moments, std::span<const Bytes> of_chunk);

}  // namespace payoff
