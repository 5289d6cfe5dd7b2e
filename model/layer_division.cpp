// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "model/stage_compute.hpp"

// Which layers are on which stage, and in which of its chunks.

namespace payoff {

namespace {

bool is_block(const Layer& layer) { return layer.recomputable; }

// Behind `count` blocks from `next` on, and what stands between them.
std::size_t after_blocks(const std::vector<Layer>& layers, std::size_t next, int count) {
  for (; count > 0 && next < layers.size(); ++next) {
    count -= is_block(layers[next]) ? 1 : 0;
  }
  return next;
}

}  // namespace

std::vector<std::vector<std::size_t>> divide_layers(const Workload& workload,
                                                    const ParallelLayout& layout) {
  const auto& layers = workload.layers;
  const auto first = static_cast<std::size_t>(
      std::distance(layers.begin(), std::find_if(layers.begin(), layers.end(), is_block)));
  const auto last =
      layers.size() - static_cast<std::size_t>(std::distance(
                          layers.rbegin(), std::find_if(layers.rbegin(), layers.rend(), is_block)));
  std::vector<std::vector<std::size_t>> stages(static_cast<std::size_t>(layout.stages()));
  if (first >= last) {  // a table of layers without blocks is one stage
    for (std::size_t i = 0; i < layers.size(); ++i) {
      stages.front().push_back(i);
    }
    return stages;
  }
  const bool v_shaped = is_v_shaped(layout.schedule);
  const std::size_t chunks = stages.size() * static_cast<std::size_t>(layout.virtual_stages);
  for (std::size_t i = 0; i < first; ++i) {
    stages.front().push_back(i);
  }
  const auto blocks =
      static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), is_block));
  const auto even = [&](std::size_t chunk) {
    return static_cast<int>((chunk + 1) * blocks / chunks - chunk * blocks / chunks);
  };
  std::size_t next = first;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t end = after_blocks(
        layers, next, layout.stage_layers.empty() ? even(chunk) : layout.stage_layers[chunk]);
    for (; next < end; ++next) {
      const bool returns = v_shaped && chunk >= stages.size();
      stages[returns ? chunks - 1 - chunk : chunk % stages.size()].push_back(next);
    }
  }
  for (std::size_t i = last; i < layers.size(); ++i) {
    (v_shaped ? stages.front() : stages.back()).push_back(i);
  }
  return stages;
}

std::vector<std::size_t> chunk_starts(const Workload& workload,
                                      const std::vector<std::size_t>& layers, int chunks) {
  std::size_t blocks = 0;
  for (const std::size_t layer : layers) {
    blocks += workload.layers[layer].recomputable ? 1U : 0U;
  }
  const std::size_t of_chunk = blocks / static_cast<std::size_t>(chunks);
  std::vector<std::size_t> starts{0};
  std::size_t seen = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!workload.layers[layers[i]].recomputable) {
      continue;
    }
    if (seen > 0 && seen % of_chunk == 0 && starts.size() < static_cast<std::size_t>(chunks)) {
      starts.push_back(i);
    }
    ++seen;
  }
  return starts;
}

}  // namespace payoff
