// SPDX-License-Identifier: Apache-2.0
#include "sim/platform.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/collective.hpp"
#include "model/group_paths.hpp"
#include "model/groups.hpp"
#include "model/node_kinds.hpp"
#include "model/rank_order.hpp"
#include "sim/activity.hpp"

namespace payoff::sim {
namespace {

constexpr std::string_view key_of_slots = "cluster.gpu";  // its generation of PCIe

// What the NICs of a node carry, in each direction.
Bandwidth nics_of(const Cluster& nodes) {
  const Bandwidth line = nodes.nic * nodes.nics_per_node;
  const Bandwidth limit = node_limit(nodes.network);
  return limit > Bandwidth{} ? std::min(line, limit) : line;
}

// Of each stage of a cluster of several kinds of nodes, the one with the narrowest NICs.
std::vector<std::size_t> narrowest_kinds(const Cluster& cluster, const ParallelLayout& layout) {
  std::vector<std::size_t> narrowest;
  for (int stage = 0; cluster.is_mixed() && stage < layout.stages(); ++stage) {
    const auto kinds = kinds_of_stage(cluster, layout, static_cast<std::size_t>(stage));
    narrowest.push_back(
        *std::min_element(kinds.begin(), kinds.end(), [&](std::size_t a, std::size_t b) {
          return nics_of(cluster.kinds[a]) < nics_of(cluster.kinds[b]);
        }));
  }
  return narrowest;
}

}  // namespace

Platform::Platform(const Cluster& cluster, const ParallelLayout& layout)
    : cluster_(cluster),
      layout_(layout),
      stages_(static_cast<std::size_t>(layout.stages())),
      kinds_(narrowest_kinds(cluster, layout)) {
  std::map<int, std::size_t> first_on_node;  // stages that share a node share its NICs
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const int gpu = gpu_of_rank(layout, static_cast<int>(s) * layout.stage_ranks());
    const auto [first, added] = first_on_node.emplace(gpu / cluster.gpus_per_node, s);
    if (added) {
      add_node(s, "node of stage " + std::to_string(s));
    } else {
      stages_[s].nic_out = stages_[first->second].nic_out;
      stages_[s].nic_in = stages_[first->second].nic_in;
    }
    add_gpu(s);
  }
}

Platform::Platform(const Cluster& cluster, const ParallelLayout& layout, FoldedSystem system,
                   const Incidence& incidence, std::vector<Link> links)
    : cluster_(cluster),
      layout_(layout),
      links_(std::move(links)),
      system_(std::move(system)),
      nominal_(incidence.nominal) {}

void Platform::add_node(std::size_t stage, const std::string& name) {
  if (!has_network()) {
    return;
  }
  StageLinks& links = stages_[stage];
  const Bandwidth nics = nics_of(servers_of(stage));
  links.nic_out = links_.size();
  links_.push_back({"NICs out of the " + name, nics, key_between_nodes});
  links.nic_in = links_.size();
  links_.push_back({"NICs into the " + name, nics, key_between_nodes});
}

bool Platform::has_network() const {
  return cluster_.network.kind != NetworkKind::none && cluster_.nodes > 1;
}

void Platform::add_gpu(std::size_t stage) {
  StageLinks& links = stages_[stage];
  const std::string gpu = " the GPU of stage " + std::to_string(stage);
  const Fabric& fabric = servers_of(stage).fabric;
  if (fabric.kind != FabricKind::none && cluster_.gpus_per_node > 1) {
    links.fabric_out = links_.size();
    links_.push_back({fabric.name + " out of" + gpu, fabric.per_gpu, key_inside_nodes});
    links.fabric_in = links_.size();
    links_.push_back({fabric.name + " into" + gpu, fabric.per_gpu, key_inside_nodes});
    if (fabric.kind == FabricKind::pcie_tree) {
      links.slot_out = links.fabric_out;
      links.slot_in = links.fabric_in;
      return;
    }
  }
  if (has_network()) {
    add_slot(stage);
  }
}

void Platform::add_slot(std::size_t stage) {
  StageLinks& links = stages_[stage];
  const std::string gpu = " the GPU of stage " + std::to_string(stage);
  const Bandwidth slot = pcie_slot(servers_of(stage).gpu.architecture);
  links.slot_out = links_.size();
  links_.push_back({"PCIe slot out of" + gpu, slot, key_of_slots});
  links.slot_in = links_.size();
  links_.push_back({"PCIe slot into" + gpu, slot, key_of_slots});
}

Group Platform::group_of(const Message& message, std::size_t stage, Direction direction) const {
  if (direction == Direction::inside) {
    return payoff::group_of(message.kind, layout_, cluster_.gpus_per_node);
  }
  const auto count = static_cast<std::size_t>(layout_.stages());
  const std::size_t boundary =
      direction == Direction::forward ? stage : (stage + count - 1) % count;
  return boundary_group(layout_, cluster_.gpus_per_node, static_cast<int>(boundary));
}

std::string_view Platform::price_key(const Message& message, std::size_t stage,
                                     Direction direction) const {
  const Group group = group_of(message, stage, direction);
  return paths_of(servers_of(stage), group).domains > 1 ? key_between_nodes : key_inside_nodes;
}

std::size_t Platform::neighbour(std::size_t stage, Direction direction) const {
  const auto count = static_cast<std::size_t>(layout_.stages());
  return direction == Direction::forward
             ? static_cast<std::size_t>(
                   stage_after(static_cast<int>(stage), layout_.stages(), layout_.schedule))
             : (stage + count - 1) % count;
}

Places places_of(const StepPlan& plan, const Platform& platform) {
  return platform.places().places.empty()
             ? one_place_per_stage(plan.stages.size(), plan.layout.schedule)
             : platform.places();
}

Problems check(const Platform& platform) {
  Problems problems;
  for (const Link& link : platform.links()) {
    for (Problem& problem : check(Resource{link.capacity}, "")) {
      problem.path = link.key;
      problem.message = "`" + link.name + "`: " + problem.message;
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

}  // namespace payoff::sim
