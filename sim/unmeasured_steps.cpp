// SPDX-License-Identifier: Apache-2.0
#include "sim/unmeasured_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "model/collective.hpp"
#include "model/group_paths.hpp"
#include "model/unmeasured_price.hpp"
#include "sim/tree_rates.hpp"

namespace payoff::sim {
namespace {

// A fabric that spans nodes makes one server of them.
Group group_of(Rank ranks, Rank gpus, const Cluster& cluster) {
  return {static_cast<int>(ranks), std::min(static_cast<int>(gpus), cluster.gpus_per_node), 1};
}

// As many nodes as the group has, or nothing where the cluster cannot hold it.
std::optional<Cluster> holding(const Cluster& cluster, const Group& group) {
  Cluster own = cluster;
  own.nodes = std::max(own.nodes, group.nodes());
  return check_group(own, group).empty() ? std::optional(own) : std::nullopt;
}

// All steps of a program, or some, at one price.
void add_phase(const Program& program, std::uint32_t steps, const UnmeasuredPrice& price,
               Bytes size, StepsPrice& together) {
  std::uint32_t first = 0;
  for (const PhasePrice& before : together.phases) {
    first += before.steps;
  }
  together.time += price.time;
  together.phases.push_back(phase_price(program, first, steps, size, price.time, price.latency));
  together.assumed_sd = std::max(together.assumed_sd.value_or(0), price.relative_sd);
}

// So many hops of trees that carry `rate` together, on the only kind of links that the group has.
std::optional<UnmeasuredPrice> price_of_trees(const Cluster& cluster, const Group& group,
                                              std::uint32_t hops, Bandwidth rate, Bytes size) {
  const auto own = holding(cluster, group);
  if (!own) {
    return std::nullopt;
  }
  const GroupPaths paths = paths_of(*own, group);
  if (rate <= Bandwidth{} || (paths.domains > 1 && paths.local > 1)) {
    return std::nullopt;
  }
  CollectiveTerms terms;
  const bool between = paths.domains > 1;
  (between ? terms.steps_between : terms.steps_inside) = hops;
  (between ? terms.depth_between : terms.depth_inside) = hops;
  (between ? terms.bytes_between : terms.bytes_inside) =
      (between ? paths.domain : paths.gpu) / rate;
  return UnmeasuredLaw(*own, group, terms, sd_of_packed_trees).price(size);
}

struct ServerCount {
  std::size_t servers{};
  std::size_t shares{};  // of the buffer, with different roots
};

constexpr auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };

struct PhaseTimes {
  UnmeasuredPrice one_way{};  // up or down inside
  CollectivePrice exchange{};
};

// Of a server inside, and as if all servers had as many GPUs between them.
std::optional<PhaseTimes> price_of_server(const ServerRate& server, const ServerCount& count,
                                          std::uint32_t hops, const Cluster& cluster, Bytes size) {
  const auto gpus = static_cast<Rank>(server.ranks.size());
  PhaseTimes times;
  if (gpus > 1) {
    const auto one_way =
        price_of_trees(cluster, group_of(gpus, gpus, cluster), hops, server.inside, size);
    if (!one_way) {
      return std::nullopt;
    }
    times.one_way = *one_way;
  }
  const Group between{static_cast<int>(count.servers), 1, static_cast<int>(gpus)};
  const auto own = holding(cluster, between);
  if (!own) {
    return std::nullopt;
  }
  const double of_root =
      static_cast<double>(server.shares_of_root) / static_cast<double>(count.shares);
  times.exchange = CollectiveModel(*own, between).price(Collective::all_to_all, size * of_root);
  return times;
}

// Up, between the roots of every share as two exchanges of all servers, and down; every phase as
// long as in the slowest server.
std::optional<StepsPrice> price_of_phases(const Program& program, const Cluster& cluster,
                                          Bytes size, Routing& routing) {
  const auto servers = server_rates(std::get<ServerTreesProgram>(program.kind()), routing);
  ServerCount count{servers.size(), 0};
  for (const ServerRate& server : servers) {
    count.shares = std::max(count.shares, server.ranks.size());
  }
  const std::uint32_t inside = program.steps() / 2 - 1;
  PhaseTimes slowest;
  for (const ServerRate& server : servers) {
    const auto times =
        price_of_server(server, count, inside - (program.segments() - 1), cluster, size);
    if (!times) {
      return std::nullopt;
    }
    slowest.one_way = std::max(slowest.one_way, times->one_way, by_time);
    slowest.exchange = std::max(slowest.exchange, times->exchange, by_time);
  }
  StepsPrice together;
  const CollectivePrice& exchange = slowest.exchange;
  add_phase(program, inside, slowest.one_way, size, together);
  add_phase(program, 2, {exchange.time * 2, exchange.latency * 2, exchange.relative_sd}, size,
            together);
  add_phase(program, inside, slowest.one_way, size, together);
  return together;
}

}  // namespace

std::optional<StepsPrice> price_of_switches(const Program& program, const ProgramRanks& ranks,
                                            const Cluster& cluster, Bytes size) {
  const Group group = group_of(ranks.ranks, ranks.gpus, cluster);
  const auto own = holding(cluster, group);
  if (!own || paths_of(*own, group).domains < 2) {
    return std::nullopt;
  }
  const CollectiveTerms terms = collnet_chain_terms(paths_of(*own, group));
  StepsPrice price;
  add_phase(program, program.steps(),
            UnmeasuredLaw(*own, group, terms, sd_of_switch_sums).price(size), size, price);
  return price;
}

std::optional<StepsPrice> price_of_trees(const Program& program, const ProgramRanks& ranks,
                                         const Cluster& cluster, Bytes size, Routing& routing) {
  StepsPrice together;
  const std::uint32_t filling = program.segments() - 1;
  if (const auto* trees = std::get_if<TreesProgram>(&program.kind())) {
    const auto price = price_of_trees(cluster, group_of(ranks.ranks, ranks.gpus, cluster),
                                      program.steps() - filling, rate_of(*trees, routing), size);
    if (!price) {
      return std::nullopt;
    }
    add_phase(program, program.steps(), *price, size, together);
    return together;
  }
  return price_of_phases(program, cluster, size, routing);
}

}  // namespace payoff::sim
