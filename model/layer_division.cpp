// SPDX-License-Identifier: Apache-2.0
#include "model/layer_division.hpp"

#include <algorithm>
#include <iterator>

#include "model/schedule.hpp"

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

// Blocks of all chunks, in the order in which a micro-batch passes them.
std::vector<int> chunk_sizes(const Workload& workload, const ParallelLayout& layout) {
  if (!layout.stage_layers.empty()) {
    return layout.stage_layers;
  }
  const auto blocks = static_cast<std::size_t>(
      std::count_if(workload.layers.begin(), workload.layers.end(), is_block));
  const auto chunks = static_cast<std::size_t>(part_count(layout));
  std::vector<int> sizes;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    sizes.push_back(static_cast<int>((chunk + 1) * blocks / chunks - chunk * blocks / chunks));
  }
  return sizes;
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
  for (std::size_t i = 0; i < first; ++i) {
    stages.front().push_back(i);
  }
  const std::vector<int> sizes = chunk_sizes(workload, layout);
  const std::size_t chunks = sizes.size();
  std::size_t next = first;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t end = after_blocks(layers, next, sizes[chunk]);
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
                                      const std::vector<std::size_t>& layers,
                                      const ParallelLayout& layout) {
  const std::vector<int> sizes = chunk_sizes(workload, layout);
  const auto count_blocks = [&](std::size_t end) {
    return std::count_if(workload.layers.begin(),
                         workload.layers.begin() + static_cast<std::ptrdiff_t>(end), is_block);
  };
  // The first of its chunks: the one whose blocks follow those that stand before the stage.
  std::size_t own = 0;
  for (auto before = count_blocks(layers.front()); before > 0 && own < sizes.size(); ++own) {
    before -= sizes[own];
  }
  const auto stages = static_cast<std::size_t>(layout.stages());
  const auto chunks = static_cast<std::size_t>(layout.virtual_stages);
  const auto size_of = [&](std::size_t chunk) {
    const bool returns = is_v_shaped(layout.schedule) && chunk > 0;
    const std::size_t place = returns ? sizes.size() - 1 - own : own + chunk * stages;
    return place < sizes.size() ? sizes[place] : 0;
  };
  std::vector<std::size_t> starts{0};
  int seen = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!is_block(workload.layers[layers[i]])) {
      continue;
    }
    ++seen;
    if (seen == size_of(starts.size() - 1) && starts.size() < chunks) {
      starts.push_back(i + 1);
      seen = 0;
    }
  }
  return starts;
}

}  // namespace payoff
