// SPDX-License-Identifier: Apache-2.0
#include "model/chunks_alive.hpp"

#include <algorithm>
#include <cstddef>

#include "model/schedule.hpp"

namespace payoff {
namespace {

bool has_all_of(const ChunksAlive& most, const ChunksAlive& less) {
  return std::equal(most.begin(), most.end(), less.begin(), [](int a, int b) { return a >= b; });
}

void add(std::vector<ChunksAlive>& moments, const ChunksAlive& alive) {
  if (std::any_of(moments.begin(), moments.end(),
                  [&](const ChunksAlive& known) { return has_all_of(known, alive); })) {
    return;
  }
  std::erase_if(moments, [&](const ChunksAlive& known) { return has_all_of(alive, known); });
  moments.push_back(alive);
}

// Interleaved stages without sizes of their own are cut in equal chunks; the two of a V are as
// equal as they can be, and the first stage has both ends of the model.
bool are_alike(const ParallelLayout& layout) {
  return layout.virtual_stages == 1 ||
         (!is_v_shaped(layout.schedule) && layout.stage_layers.empty());
}

}  // namespace

std::vector<ChunksAlive> most_alive(const ParallelLayout& layout, int stage) {
  std::vector<ChunksAlive> moments;
  if (are_alike(layout)) {
    return moments;
  }
  // Of more than every stage goes ahead by, the rest repeats what was before.
  constexpr int enough = 4;
  const int passes = std::min(layout.passes(), enough * layout.stages());
  const StageSchedule order(stage, layout.stages(), passes, layout.virtual_stages, layout.schedule);
  ChunksAlive alive(static_cast<std::size_t>(layout.virtual_stages));
  for (int i = 0; i < order.size(); ++i) {
    const Operation operation = order[i];
    int& of_chunk = alive[static_cast<std::size_t>(operation.chunk)];
    if (operation.is_forward) {
      ++of_chunk;
      add(moments, alive);
    } else if (completes(operation, layout.schedule)) {
      --of_chunk;
    }
  }
  return moments;
}

Bytes held(std::span<const ChunksAlive> moments, std::span<const Bytes> of_chunk) {
  Bytes most;
  for (const ChunksAlive& alive : moments) {
    Bytes sum;
    for (std::size_t chunk = 0; chunk < of_chunk.size(); ++chunk) {
      sum += static_cast<double>(alive[chunk]) * of_chunk[chunk];
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace payoff
