// SPDX-License-Identifier: Apache-2.0
#include "model/rank_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>

namespace payoff {
namespace {

using Sizes = std::array<int, usual_order.size()>;  // by Degree

std::size_t place(Degree degree) { return static_cast<std::size_t>(degree); }

Sizes sizes_of(const ParallelLayout& layout) {
  Sizes sizes{};
  sizes.at(place(Degree::tp)) = layout.tp;
  sizes.at(place(Degree::cp)) = layout.cp;
  sizes.at(place(Degree::dp)) = layout.dp * layout.copies();
  sizes.at(place(Degree::pp)) = layout.stages();
  return sizes;
}

// From one GPU to the next of a degree.
Sizes strides_of(const Sizes& sizes, const RankOrder& order) {
  Sizes strides{};
  int inner = 1;
  for (const Degree degree : order) {
    strides.at(place(degree)) = inner;
    inner *= sizes.at(place(degree));
  }
  return strides;
}

int gpu_of(int rank, const Sizes& sizes, const Sizes& strides) {
  int gpu = 0;
  for (const Degree degree : usual_order) {
    gpu += rank % sizes.at(place(degree)) * strides.at(place(degree));
    rank /= sizes.at(place(degree));
  }
  return gpu;
}

// How many ranks of a group each of its nodes has; different ones if they are not alike.
std::vector<int> in_nodes(const std::vector<int>& gpus, int first, const RankSeries& ranks,
                          int gpus_per_node) {
  std::map<int, int> of_node;
  for (int i = 0, rank = first; i < ranks.count; ++i, rank += ranks.stride) {
    ++of_node[gpus[static_cast<std::size_t>(rank)] / gpus_per_node];
  }
  std::vector<int> counts;
  for (const auto& [node, count] : of_node) {
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) {
      counts.push_back(count);
    }
  }
  return counts;
}

struct Kind {
  std::string_view name;
  RankSeries ranks;
};

std::vector<Kind> kinds_of(const ParallelLayout& layout) {
  const int apart = layout.expert_ranks();
  std::vector<Kind> kinds{{"tensor-parallel groups", {1, layout.tp}},
                          {"groups that share a sequence", {layout.tp, layout.cp}},
                          {"data-parallel groups", {layout.tp, layout.data_ranks()}},
                          {"groups that hold one copy", {layout.tp, layout.shard_ranks()}},
                          {"groups that divide an expert", {1, layout.etp}},
                          {"expert-parallel groups", {layout.etp, layout.ep}}};
  if (apart > 1 && layout.stage_ranks() % apart == 0) {
    kinds.push_back({"groups with the same experts", {apart, layout.expert_replicas()}});
  }
  return kinds;
}

// The first ranks of a kind's groups are those that no group before has reached.
bool is_even(const Kind& kind, const std::vector<int>& gpus, int gpus_per_node) {
  std::vector<bool> reached(gpus.size());
  std::vector<int> all;
  for (std::size_t rank = 0; rank < gpus.size(); ++rank) {
    const std::size_t last = rank + static_cast<std::size_t>(kind.ranks.count - 1) *
                                        static_cast<std::size_t>(kind.ranks.stride);
    if (reached[rank] || last >= gpus.size()) {
      continue;
    }
    for (std::size_t r = rank; r <= last; r += static_cast<std::size_t>(kind.ranks.stride)) {
      reached[r] = true;
    }
    for (const int count : in_nodes(gpus, static_cast<int>(rank), kind.ranks, gpus_per_node)) {
      if (std::find(all.begin(), all.end(), count) == all.end()) {
        all.push_back(count);
      }
    }
  }
  return all.size() <= 1;
}

}  // namespace

std::string order_text(const RankOrder& order) {
  constexpr std::array<std::string_view, usual_order.size()> names{"tp", "cp", "dp", "pp"};
  std::string text;
  for (const Degree degree : order) {
    text += (text.empty() ? "" : "-") + std::string(names.at(place(degree)));
  }
  return text;
}

// Degrees of 1 are neighbours of anything.
bool has_usual_order(const ParallelLayout& layout) {
  const Sizes sizes = sizes_of(layout);
  Degree last = usual_order.front();
  for (const Degree degree : layout.order) {
    if (sizes.at(place(degree)) > 1) {
      if (degree < last) {
        return false;
      }
      last = degree;
    }
  }
  return true;
}

bool fills_nodes_in_order(const ParallelLayout& layout, int gpus_per_node) {
  const Sizes sizes = sizes_of(layout);
  int ranks = 1;
  return std::all_of(layout.order.begin(), layout.order.end(), [&](Degree degree) {
    ranks *= sizes.at(place(degree));
    return gpus_per_node % ranks == 0 || ranks % gpus_per_node == 0;
  });
}

int gpu_of_rank(const ParallelLayout& layout, int rank) {
  const Sizes sizes = sizes_of(layout);
  return gpu_of(rank, sizes, strides_of(sizes, layout.order));
}

std::vector<int> gpus_of_ranks(const ParallelLayout& layout) {
  const Sizes sizes = sizes_of(layout);
  const Sizes strides = strides_of(sizes, layout.order);
  std::vector<int> gpus;
  gpus.reserve(static_cast<std::size_t>(layout.ranks()));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    gpus.push_back(gpu_of(rank, sizes, strides));
  }
  return gpus;
}

Group placed(const ParallelLayout& layout, const RankSeries& ranks, int gpus_per_node) {
  const Sizes sizes = sizes_of(layout);
  const Sizes strides = strides_of(sizes, layout.order);
  Group group{ranks.count, 1, 1};
  for (int i = 1; i < ranks.count; ++i) {
    const int gpu = gpu_of(i * ranks.stride, sizes, strides);
    if (gpu / gpus_per_node == 0) {
      group.stride = group.ranks_per_node == 1 ? gpu : std::min(group.stride, gpu);
      ++group.ranks_per_node;
    }
  }
  return group;
}

int stage_ranks_in_node(const ParallelLayout& layout, int gpus_per_node) {
  return placed(layout, {1, layout.stage_ranks()}, gpus_per_node).ranks_per_node;
}

Problems check_order(const ParallelLayout& layout, const Cluster& cluster) {
  Problems problems;
  if (has_usual_order(layout) || cluster.nodes == 1) {
    return problems;
  }
  const std::vector<int> gpus = gpus_of_ranks(layout);
  for (const Kind& kind : kinds_of(layout)) {
    if (kind.ranks.count > 1 && !is_even(kind, gpus, cluster.gpus_per_node)) {
      problems.push_back({"layout.order",
                          order_text(layout.order) + " puts " + std::string(kind.name) + " of " +
                              std::to_string(kind.ranks.count) + " ranks on nodes of " +
                              std::to_string(cluster.gpus_per_node) + " GPUs in more than one way",
                          "choose degrees that divide a node, or leave the order out"});
    }
  }
  return problems;
}

}  // namespace payoff
