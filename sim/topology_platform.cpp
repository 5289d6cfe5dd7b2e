// SPDX-License-Identifier: Apache-2.0
#include "sim/topology_platform.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/rank_order.hpp"
#include "sim/background.hpp"
#include "sim/group_programs.hpp"
#include "sim/incidence.hpp"
#include "sim/not_folded.hpp"
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

// What is listed rank by rank.
struct Listed {
  ClusterState state;
  ParallelLayout layout;
  bool has_own_topology{};
};

// What has more ranks than are listed says why it does not fold, and what listing would cost.
Problem too_many_listed(const Listed& listed, const StepPlan& plan, const PlatformRules& rules) {
  const std::uint64_t events = listed_events(plan);
  return {"cluster.topology",
          std::to_string(listed.layout.ranks()) + " ranks would be simulated one by one, in some " +
              std::to_string(std::max<std::uint64_t>(events / 1'000'000, 1)) +
              " million events: " + why_not_folded(listed.state, listed.layout, rules) +
              "; at most " + std::to_string(most_listed_ranks) + " can be",
          "`routing: {balance: ideal}`, a regular topology without faults and jitter, "
          "and stages that fill whole leaves (or pods) fold"};
}

Problems check_sizes(const ClusterState& state, const ParallelLayout& layout) {
  Problems problems;
  const auto gpus =
      static_cast<int>(state.on_gpus.empty() ? state.topology->gpus() : state.on_gpus.size());
  if (gpus < layout.ranks()) {
    problems.push_back({"cluster.topology",
                        "has " + std::to_string(gpus) + " GPUs, the layout needs " +
                            std::to_string(layout.ranks()),
                        {}});
  }
  for (const SlowGpu& slow : state.slow_gpus) {
    if (slow.gpu >= gpus) {
      problems.push_back(
          {slow.path, "is GPU " + std::to_string(slow.gpu) + " of " + std::to_string(gpus), {}});
    }
  }
  return problems;
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

// By rank, of the GPUs of a topology that the cluster has.
std::vector<int> in_order(const ParallelLayout& layout, const std::vector<int>& on_gpus) {
  std::vector<int> gpus = gpus_of_ranks(layout);
  for (int& gpu : gpus) {
    gpu = on_gpus.empty() ? gpu : on_gpus[static_cast<std::size_t>(gpu)];
  }
  return gpus;
}

// A cluster without a topology is on one switch.
Listed with_topology(const Cluster& cluster, const ClusterState& state,
                     const ParallelLayout& layout) {
  Listed result{state, layout, state.topology.has_value()};
  if (!result.state.topology) {
    result.state.topology = topology_of(cluster);
    result.state.topology->balance = Balance::ideal;
  }
  if (!has_usual_order(layout)) {
    result.state.on_gpus = in_order(layout, state.on_gpus);
  }
  return result;
}

IncidenceRules rules_of(const Cluster& cluster, const StepPlan& plan, const Listed& listed,
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

void put_on(const TopologyGraph& graph, const Cluster& cluster, const Listed& listed,
            const StepPlan& plan, const PlatformRules& rules, BuiltPlatform& built) {
  const Topology& topology = *listed.state.topology;
  Routing routing(graph, topology.balance, topology.seed);
  Incidence incidence =
      incidence_of(listed.layout, routing, rules_of(cluster, plan, listed, graph));
  SendIncidence sends;
  const SendRules send_rules{cluster, listed.layout, topology};
  if (rules.steps) {
    std::optional<SendIncidence> known = send_incidence(plan, send_rules, graph, incidence);
    if (!known) {
      built.problems.push_back({"cluster",
                                "the messages of its groups are more than " +
                                    std::to_string(most_listed_sends) +
                                    " sends, which level `steps` lists one by one",
                                "level `fluid` has one flow for each message"});
      return;
    }
    sends = *std::move(known);
  }
  apply_background(topology, graph.links, incidence);
  std::vector<Circles> circles;
  if (!plan.graphs.empty()) {
    circles = circles_of(plan.graphs, incidence, nodes_of(cluster, plan.layout), routing,
                         {cluster.fabric.pair, cluster.nic});
  }
  const bool folds = rules.folds && plan.graphs.empty();
  Partition partition = folds ? fold(incidence, sends) : unfolded(incidence, sends);
  FoldedSystem system = quotient(incidence, partition);
  built.fold = {static_cast<std::uint64_t>(plan.layout.ranks()),
                incidence.ranks.size(),
                partition.rank_classes,
                incidence.channels.size(),
                partition.channel_classes,
                incidence.links.size(),
                partition.link_classes,
                sends.sends.size(),
                partition.send_classes};
  std::shared_ptr<const SendNetwork> network;
  if (rules.steps) {
    network = std::make_shared<SendNetwork>(send_network(send_rules, incidence, sends, partition));
  }
  built.place_of_rank = std::move(partition.ranks);
  built.class_of_link = std::move(partition.links);
  std::vector<Link> links;
  links.reserve(system.links.size());
  for (const FoldedSystem::Link& link : system.links) {
    links.push_back({link_name(graph.links, link), link.capacity,
                     key_of(graph.links.edges()[link.edge], listed.has_own_topology)});
  }
  built.platform = Platform(cluster, plan.layout, std::move(system), incidence, std::move(links));
  built.platform.send_over(std::move(network));
  built.platform.add_circles(std::move(circles));
}

// Whether one rank of each stage stands for all. In an order of its own that is so where all nodes
// hold the same; ranks on nodes of one kind are listed all the same, as far as they can be.
bool has_equal_stages(const Cluster& cluster, const ParallelLayout& layout) {
  return has_usual_order(layout) || (fills_nodes_in_order(layout, cluster.gpus_per_node) &&
                                     (cluster.is_mixed() || layout.ranks() > most_listed_ranks));
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
  BuiltPlatform built;
  if (state.is_even() && !rules.steps && has_equal_stages(cluster, plan.layout)) {
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
  if (cluster.is_mixed()) {
    built.problems.push_back(not_stage_by_stage(rules.steps));
    return built;
  }
  Listed listed = with_topology(cluster, state, plan.layout);
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
  if (!built.problems.empty()) {
    return built;
  }
  BuiltTopology topology = build(*listed.state.topology);
  for (Problem& problem : topology.problems) {
    problem.path = "cluster.topology" + (problem.path.empty() ? "" : "." + problem.path);
    built.problems.push_back(std::move(problem));
  }
  if (topology.graph && listed.state.on_gpus.empty()) {
    put_on(*topology.graph, cluster, listed, plan, rules, built);
  } else if (topology.graph) {
    const std::vector<Rank> members(listed.state.on_gpus.begin(), listed.state.on_gpus.end());
    put_on(part_of(*topology.graph, members), cluster, listed, plan, rules, built);
  }
  return built;
}

}  // namespace payoff::sim
