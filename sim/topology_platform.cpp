// SPDX-License-Identifier: Apache-2.0
#include "sim/topology_platform.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/rank_order.hpp"
#include "sim/background.hpp"
#include "sim/group_programs.hpp"
#include "sim/incidence.hpp"
#include "sim/listed_job.hpp"
#include "sim/reduction.hpp"
#include "sim/routing.hpp"
#include "sim/step.hpp"
#include "sim/topology.hpp"

namespace payoff::sim {
namespace {

void apply_background(const Topology& topology, const LinkGraph& graph, Incidence& incidence) {
  for (Incidence::LinkPart& link : incidence.links) {
    const LinkClass link_class = graph.edges()[link.edge].link_class;
    link.capacity *= left_by_others(topology, link_class, link.edge);
  }
}

std::vector<double> slowdowns(const ClusterState& state, const TopologyGraph& graph,
                              const ParallelLayout& layout) {
  // A job on a part of a topology counts its own GPUs.
  const bool part = !state.on_gpus.empty();
  std::vector<double> of_gpu(graph.gpu_of_rank.size(), 1.0);
  for (std::size_t g = 0; g < of_gpu.size() && state.jitter.sd > 0; ++g) {
    of_gpu[g] += state.jitter.sd * std::abs(normal_draw(state.jitter.seed, g));
  }
  for (const SlowGpu& slow : state.slow_gpus) {
    of_gpu[static_cast<std::size_t>(slow.gpu)] *= slow.slowdown;
  }
  std::vector<double> result;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const auto own = static_cast<std::size_t>(gpu_of_rank(layout, rank));
    result.push_back(of_gpu[part ? own : graph.gpu_of_rank[static_cast<std::size_t>(rank)]]);
  }
  return result;
}

std::string link_name(const LinkGraph& graph, const FoldedSystem::Link& link) {
  return graph.edge_name(link.edge) +
         (link.alike > 1 ? " and " + std::to_string(link.alike - 1) + " like it" : "");
}

// Which key of the experiment says how wide a link of the graph is.
std::string_view key_of(const Edge& edge, bool has_own_topology) {
  if (has_own_topology) {
    return key_of_topology;
  }
  switch (edge.link_class) {
    case LinkClass::fabric:
    case LinkClass::pcie:
    case LinkClass::socket:
      return key_inside_nodes;
    case LinkClass::nic:
    case LinkClass::network:
    case LinkClass::global:
      break;
  }
  return key_between_nodes;
}

IncidenceRules rules_of(const Cluster& cluster, const StepPlan& plan, const ListedJob& listed,
                        const TopologyGraph& graph) {
  IncidenceRules rules;
  const auto* regular = std::get_if<RegularTopology>(&listed.state.topology->shape);
  rules.server_ranks =
      static_cast<std::uint32_t>(regular != nullptr ? regular->server.gpus : cluster.gpus_per_node);
  rules.exchanges = exchanging_groups(plan);
  rules.joins_ends = plan.sums_tied(0);
  rules.fabric = cluster.fabric.pair;
  rules.nic = cluster.nic;
  rules.slowdown = slowdowns(listed.state, graph, listed.layout);
  return rules;
}

// Nodes as the price has them: so many ranks of the job each.
std::vector<std::uint32_t> nodes_of(const Cluster& cluster, const ParallelLayout& layout) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(static_cast<std::size_t>(layout.ranks()));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    nodes.push_back(static_cast<std::uint32_t>(gpu_of_rank(layout, rank) / cluster.gpus_per_node));
  }
  return nodes;
}

// The sends of level `steps`; nothing at the other one, or where there are too many to list.
std::optional<SendIncidence> sends_of(const StepPlan& plan, const SendRules& send_rules,
                                      const TopologyGraph& graph, const PlatformRules& rules,
                                      Incidence& incidence, Problems& problems) {
  if (!rules.steps) {
    return SendIncidence{};
  }
  std::optional<SendIncidence> known = send_incidence(plan, send_rules, graph, incidence);
  if (!known) {
    problems.push_back({"cluster",
                        "the messages of its groups are more than " +
                            std::to_string(most_listed_sends) +
                            " sends, which level `steps` lists one by one",
                        "level `fluid` has one flow for each message"});
  }
  return known;
}

FoldReport report_of(const StepPlan& plan, const Incidence& incidence, const SendIncidence& sends,
                     const Partition& partition) {
  return {static_cast<std::uint64_t>(plan.layout.ranks()),
          incidence.ranks.size(),
          partition.rank_classes,
          incidence.channels.size(),
          partition.channel_classes,
          incidence.links.size(),
          partition.link_classes,
          sends.sends.size(),
          partition.send_classes};
}

std::vector<Link> links_of(const FoldedSystem& system, const LinkGraph& graph,
                           bool has_own_topology) {
  std::vector<Link> links;
  links.reserve(system.links.size());
  for (const FoldedSystem::Link& link : system.links) {
    links.push_back({link_name(graph, link), link.capacity,
                     key_of(graph.edges()[link.edge], has_own_topology)});
  }
  return links;
}

void put_on(const TopologyGraph& graph, const Cluster& cluster, const ListedJob& listed,
            const StepPlan& plan, const PlatformRules& rules, BuiltPlatform& built) {
  const Topology& topology = *listed.state.topology;
  Routing routing(graph, topology.balance, topology.seed);
  Incidence incidence =
      incidence_of(listed.layout, routing, rules_of(cluster, plan, listed, graph));
  const SendRules send_rules{cluster, listed.layout, topology};
  const std::optional<SendIncidence> sends =
      sends_of(plan, send_rules, graph, rules, incidence, built.problems);
  if (!sends) {
    return;
  }
  apply_background(topology, graph.links, incidence);
  std::vector<Circles> circles;
  if (!plan.graphs.empty()) {
    circles = circles_of(plan.graphs, incidence, nodes_of(cluster, plan.layout), routing,
                         {cluster.fabric.pair, cluster.nic});
  }
  const bool folds = rules.folds && plan.graphs.empty();
  Partition partition = folds ? fold(incidence, *sends) : unfolded(incidence, *sends);
  FoldedSystem system = quotient(incidence, partition);
  built.fold = report_of(plan, incidence, *sends, partition);
  std::shared_ptr<const SendNetwork> network;
  if (rules.steps) {
    network = std::make_shared<SendNetwork>(send_network(send_rules, incidence, *sends, partition));
  }
  built.place_of_rank = std::move(partition.ranks);
  built.class_of_link = std::move(partition.links);
  std::vector<Link> links = links_of(system, graph.links, listed.has_own_topology);
  built.platform = Platform(cluster, plan.layout, std::move(system), incidence, std::move(links));
  built.platform.send_over(std::move(network));
  built.platform.add_circles(std::move(circles));
}

// Where one rank of each stage stands for all.
BuiltPlatform even_platform(const Cluster& cluster, const StepPlan& plan) {
  BuiltPlatform built;
  built.platform = Platform(cluster, plan.layout);
  if (std::any_of(plan.kinds.begin(), plan.kinds.end(), uses_host)) {
    built.platform.add_hosts(plan.host_cores);
  }
  const auto stages = static_cast<std::uint64_t>(plan.layout.stages());
  const std::size_t links = built.platform.links().size();
  built.fold = {
      static_cast<std::uint64_t>(plan.layout.ranks()), stages, stages, 0, 0, links, links};
  return built;
}

// On the GPUs of the topology that the job has.
void put_on_topology(const Cluster& cluster, const ListedJob& listed, const StepPlan& plan,
                     const PlatformRules& rules, BuiltPlatform& built) {
  BuiltTopology topology = build(*listed.state.topology);
  for (Problem& problem : topology.problems) {
    problem.path = "cluster.topology" + (problem.path.empty() ? "" : "." + problem.path);
    built.problems.push_back(std::move(problem));
  }
  if (!topology.graph) {
    return;
  }
  if (listed.state.on_gpus.empty()) {
    put_on(*topology.graph, cluster, listed, plan, rules, built);
  } else {
    const std::vector<Rank> members(listed.state.on_gpus.begin(), listed.state.on_gpus.end());
    put_on(part_of(*topology.graph, members), cluster, listed, plan, rules, built);
  }
}

Problem not_stage_by_stage(bool steps) {
  return steps ? Problem{"cluster.node_kinds",
                         "nodes of several kinds are simulated without a topology, stage by stage, "
                         "and not send by send",
                         "leave away `--level steps`"}
               : Problem{"layout.order",
                         "nodes of several kinds are simulated stage by stage, and in this order "
                         "nodes hold different parts of stages",
                         "choose degrees that divide a node, or leave the order out"};
}

}  // namespace

std::uint64_t listed_events(const StepPlan& plan) {
  return estimate(plan).events / static_cast<std::uint64_t>(plan.layout.stages()) *
         static_cast<std::uint64_t>(plan.layout.ranks());
}

GroupKinds exchanging_groups(const StepPlan& plan) {
  GroupKinds found;
  const auto look_at = [&](const Message& message) {
    if (message.collective == Collective::all_to_all) {
      found.set(static_cast<std::size_t>(group_kind(message.kind)));
    }
  };
  for (const StagePlan& stage : plan.stages) {
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        look_at(piece.message);
      }
    }
  }
  for (const BucketKind& kind : plan.kinds) {
    for (const BucketRound& round : kind.rounds) {
      look_at(round.message);
    }
  }
  return found;
}

BuiltPlatform build_platform(const Cluster& cluster, const ClusterState& state,
                             const StepPlan& plan, const PlatformRules& rules) {
  if (state.is_even() && !rules.steps && has_equal_stages(cluster, plan.layout)) {
    return even_platform(cluster, plan);
  }
  BuiltPlatform built;
  if (cluster.is_mixed()) {
    built.problems.push_back(not_stage_by_stage(rules.steps));
    return built;
  }
  ListedJob listed = with_topology(cluster, state, plan.layout);
  built.problems = check_sizes(listed.state, listed.layout);
  if (!built.problems.empty()) {
    return built;
  }
  if (rules.reduces && rules.folds && !rules.steps && plan.graphs.empty() &&
      listed.state.on_gpus.empty()) {
    if (const auto reduced = reduce(listed.state, listed.layout, exchanging_groups(plan))) {
      listed.state = reduced->state;
      listed.layout = reduced->layout;
    }
  }
  built.problems = check_sizes(listed.state, listed.layout);
  if (listed.layout.ranks() > most_listed_ranks) {
    built.problems.push_back(too_many_listed(listed, plan, rules));
  }
  if (built.problems.empty()) {
    put_on_topology(cluster, listed, plan, rules, built);
  }
  return built;
}

}  // namespace payoff::sim
