// SPDX-License-Identifier: Apache-2.0
#include "sim/reduction.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "sim/background.hpp"

namespace payoff::sim {
namespace {

// GPUs of the smallest part of the network whose like are joined to each other by links that do not
// tell them apart; 0: there is none.
int block_gpus(const RegularTopology& regular) {
  if (std::holds_alternative<SingleSwitch>(regular.network)) {
    return regular.server.gpus;
  }
  const auto* tree = std::get_if<FatTree>(&regular.network);
  if (tree == nullptr) {
    return 0;
  }
  const bool peers =
      tree->rails && regular.server.nics > 1 && regular.server.fabric == ServerFabric::mesh;
  const int leaves = tree->leaves_per_pod > 0 ? tree->leaves_per_pod : 1;
  return peers ? 0 : regular.server.gpus * tree->servers_per_leaf * leaves;
}

bool is_uniform(const ClusterState& state) {
  const Topology& topology = *state.topology;
  return topology.faults.empty() && topology.rank_order.empty() &&
         topology.balance == Balance::ideal && state.jitter.sd <= 0.0 &&
         !differs_from_link_to_link(topology);
}

// Groups lie inside a block, or pass through all blocks of their stage.
bool keeps_groups(const ParallelLayout& layout, int block) {
  const int part = layout.shard_ranks() * layout.tp;
  const bool sharded_inside = layout.zero > 0 && layout.replicas() > 1;
  return block % (layout.tp * layout.cp) == 0 && block % layout.expert_ranks() == 0 &&
         (!sharded_inside || block % part == 0);
}

// The groups that keep to a block.
bool exchanges_inside(GroupKinds exchanges) {
  for (const GroupKind kind :
       {GroupKind::tensor, GroupKind::context, GroupKind::experts, GroupKind::expert_tensor}) {
    exchanges.reset(static_cast<std::size_t>(kind));
  }
  return exchanges.none();
}

}  // namespace

std::optional<Reduced> reduce(const ClusterState& state, const ParallelLayout& layout,
                              const GroupKinds& exchanges) {
  const auto* regular = std::get_if<RegularTopology>(&state.topology->shape);
  // Sends between the copies of a pipeline with two ends are no shifts of each other.
  if (regular == nullptr || !is_uniform(state) || !exchanges_inside(exchanges) ||
      is_two_ended(layout.schedule)) {
    return std::nullopt;
  }
  const int block = block_gpus(*regular);
  const int stage = layout.tp * layout.data_ranks();
  if (block == 0 || stage % block != 0 || !keeps_groups(layout, block) ||
      layout.ranks() != regular->servers * regular->server.gpus) {
    return std::nullopt;
  }
  std::set<int> kept;  // blocks of a stage in which something is special
  for (const SlowGpu& slow : state.slow_gpus) {
    kept.insert(slow.gpu % stage / block);
  }
  const int blocks = stage / block;
  const int left = std::max(2, static_cast<int>(kept.size()) + 1);
  if (left >= blocks) {
    return std::nullopt;
  }
  Reduced reduced{state, layout};
  auto& small = std::get<RegularTopology>(reduced.state.topology->shape);
  small.servers = layout.pp * left * block / regular->server.gpus;
  reduced.layout.dp = left * block / (layout.tp * layout.cp);
  for (SlowGpu& slow : reduced.state.slow_gpus) {
    const int s = slow.gpu / stage;
    const auto place =
        static_cast<int>(std::distance(kept.begin(), kept.find(slow.gpu % stage / block)));
    slow.gpu = (s * left + place) * block + slow.gpu % block;
  }
  if (layout.zero > 0 && layout.replicas() == 1) {
    reduced.layout.shard = 0;  // all of them, still
  }
  return reduced;
}

}  // namespace payoff::sim
