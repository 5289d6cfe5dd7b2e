// SPDX-License-Identifier: Apache-2.0
#include "sim/switch_trees.hpp"

#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/program_shape.hpp"
#include "sim/regular_layout.hpp"

namespace payoff::sim {
namespace {

// The switch above one of the network, on the way to the root of rail `k`; the root's is itself.
VertexId above(const RegularLayout& layout, VertexId at, Rank k) {
  if (!std::holds_alternative<FatTree>(layout.topology().network)) {
    return at;
  }
  const RegularLayout::TreeSize& tree = layout.tree();
  const std::uint32_t index = at - layout.network(0);
  const std::uint32_t spine = k % tree.spines;
  if (index < tree.leaves()) {
    const bool is_root = tree.leaf_groups == 1;  // of its rail's only leaf
    return is_root ? at : layout.network(tree.spine(tree.pod_of_leaf(index), spine));
  }
  const bool is_core = index >= tree.core(0, 0);
  return is_core || tree.pods == 1
             ? at
             : layout.network(tree.core(spine, k / tree.spines % tree.cores_per_spine));
}

// Null: no tree of switches joins its servers.
const RegularTopology* with_switch_tree(const Topology& topology) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  const bool has_tree = regular != nullptr && regular->server.nics > 0 && regular->servers > 1 &&
                        (std::holds_alternative<SingleSwitch>(regular->network) ||
                         std::holds_alternative<FatTree>(regular->network));
  return has_tree ? regular : nullptr;
}

}  // namespace

SwitchTrees switch_trees(const Topology& topology, Rank ranks) {
  const RegularTopology* regular = with_switch_tree(topology);
  if (regular == nullptr) {
    return {};
  }
  const RegularLayout layout(*regular);
  SwitchTrees trees;
  std::map<VertexId, Rank> places;
  const auto place_of = [&](VertexId at) {
    const auto [known, added] = places.try_emplace(at, ranks + static_cast<Rank>(places.size()));
    if (added) {
      trees.switches.push_back(at);
    }
    return known->second;
  };
  const Rank gpus = layout.gpus_per_server();
  std::vector<std::vector<std::pair<Rank, Rank>>> pairs(gpus);  // of a place and its parent
  for (Rank k = 0; k < gpus; ++k) {
    for (Rank s = 0; s < layout.servers(); ++s) {
      for (Rank i = 1; i < gpus; ++i) {
        pairs[k].emplace_back(detail::on_rail(s * gpus + i, gpus, k),
                              detail::on_rail(s * gpus + i - 1, gpus, k));
      }
      Rank from = s * gpus + k;
      VertexId at = layout.entry(s, layout.nic_of_gpu(k));
      pairs[k].emplace_back(from, place_of(at));
      for (VertexId up = above(layout, at, k); up != at; at = up, up = above(layout, at, k)) {
        from = place_of(at);
        pairs[k].emplace_back(from, place_of(up));
      }
    }
  }
  std::vector<Rank> alone(ranks + trees.switches.size());
  std::iota(alone.begin(), alone.end(), Rank{0});
  for (const auto& of_tree : pairs) {
    trees.above.push_back(alone);
    for (const auto& [place, parent] : of_tree) {
      trees.above.back()[place] = parent;
    }
  }
  return trees;
}

}  // namespace payoff::sim
