// SPDX-License-Identifier: Apache-2.0
#include "model/other_all_reduce.hpp"

#include "model/cube_part.hpp"
#include "model/group_paths.hpp"
#include "model/groups.hpp"
#include "model/packed_trees.hpp"

namespace payoff {
namespace {

// What trees put on the links inside a domain.
struct TreeTerms {
  CollectiveTerms both_ways;
  CollectiveTerms one_way;
};

CollectiveTerms hops_inside(double hops, double bytes) {
  CollectiveTerms terms;
  terms.steps_inside = hops;
  terms.depth_inside = hops;
  terms.bytes_inside = bytes;
  return terms;
}

// Trees as deep as chains, which most of the few that pack best are (tests/sim/tree_bounds_test).
TreeTerms on_mesh(const TreeRates& rates, const GroupPaths& paths, Bandwidth link) {
  const double hops = paths.local - 1;
  return {hops_inside(2 * hops, paths.gpu / (link * rates.both_ways)),
          hops_inside(hops, paths.gpu / (link * rates.one_way))};
}

TreeTerms on_switch(const GroupPaths& paths) {
  const double n = paths.local;
  return {hops_inside(2, 2 * (n - 1) / n), hops_inside(1, (n - 1) / n)};
}

// One link between every two: of all partitions that into single GPUs leaves the least a part, n (n
// - 1) / 2 links over n - 1, of all sets every one the same.
TreeRates rates_of_full_mesh(int gpus) { return {gpus / 2.0, static_cast<double>(gpus)}; }

// Nothing where GPUs have no direct links to each other and no switch of their own.
std::optional<TreeTerms> trees_inside(const Cluster& cluster, const Group& inside) {
  const GroupPaths paths = paths_of(cluster, inside);
  const Fabric& fabric = cluster.fabric;
  switch (fabric.kind) {
    case FabricKind::switched:
      return on_switch(paths);
    case FabricKind::full_mesh:
    case FabricKind::bridge:
      return on_mesh(rates_of_full_mesh(paths.local), paths, fabric.pair);
    case FabricKind::hybrid_cube: {
      const TreeRates rates = worst_cube_trees(fabric, inside, paths.local);
      return rates.one_way > 0 ? std::optional(on_mesh(rates, paths, fabric.pair)) : std::nullopt;
    }
    case FabricKind::none:
    case FabricKind::pcie_tree:
      break;
  }
  return std::nullopt;
}

OtherOrReason by_sharp(const Cluster& cluster, const Group& group, const GroupPaths& paths) {
  if (paths.domains < 2) {
    return {{}, "its ranks are in one node, and the switches that sum are between nodes"};
  }
  if (!cluster.network.sums) {
    return {{}, "the switches of " + cluster.network.name + " sum nothing"};
  }
  OtherAllReduce sum;
  sum.phases.emplace_back(cluster, group, collnet_chain_terms(paths), sd_of_switch_sums);
  return {sum, {}};
}

OtherOrReason by_trees(const Cluster& cluster, const Group& group, const GroupPaths& paths) {
  if (paths.domains > 1 && paths.local > group.ranks_per_node) {
    return {{}, "a switch joins several of its nodes, for which no trees are known"};
  }
  OtherAllReduce sum;
  Group inside = group;
  inside.ranks = paths.local;
  if (paths.local > 1) {
    const auto terms = trees_inside(cluster, inside);
    if (!terms) {
      return {{}, "no direct links, nor a switch of their own, join all its GPUs in a node"};
    }
    const CollectiveTerms& first = paths.domains == 1 ? terms->both_ways : terms->one_way;
    sum.phases.emplace_back(cluster, inside, first, sd_of_packed_trees);
    if (paths.domains > 1) {
      sum.phases.push_back(sum.phases.front());
    }
  }
  if (paths.domains > 1) {
    sum.roots = Group{paths.domains, 1, group.rivals * paths.local};
    sum.of_root = 1.0 / paths.local;
  }
  return {sum, {}};
}

}  // namespace

OtherOrReason other_all_reduce(const Cluster& cluster, const Group& group) {
  const GroupPaths paths = paths_of(cluster, group);
  switch (group.all_reduce) {
    case AllReduceBy::sharp:
      return by_sharp(cluster, group, paths);
    case AllReduceBy::packed_trees:
      return by_trees(cluster, group, paths);
    case AllReduceBy::nccl:
      break;
  }
  return {{}, "NCCL makes it"};
}

Problems check_dp_collective(const ParallelLayout& layout, const Cluster& cluster) {
  if (layout.dp_collective == AllReduceBy::nccl) {
    return {};
  }
  const std::string by(name(layout.dp_collective));
  const auto refused = [&](const std::string& why, const std::string& help) {
    return Problems{{"layout.dp_collective", by + " cannot sum the gradients: " + why, help}};
  };
  if (layout.zero > 0) {
    return refused("zero " + std::to_string(layout.zero) +
                       " scatters the sum, and only all-reduces are known of it",
                   "set zero to 0, or leave dp_collective out");
  }
  if (cluster.is_mixed()) {
    return refused("nothing is known of it among nodes of several kinds",
                   "leave dp_collective out");
  }
  const Group group = data_group(layout, cluster.gpus_per_node);
  if (group.ranks < 2) {
    return refused("no two ranks hold the same ones", "leave dp_collective out");
  }
  if (!check_group(cluster, group).empty()) {
    return {};  // which is told elsewhere
  }
  const OtherOrReason sum = other_all_reduce(cluster, group);
  return sum.other ? Problems{} : refused(sum.reason, "leave dp_collective out");
}

}  // namespace payoff
