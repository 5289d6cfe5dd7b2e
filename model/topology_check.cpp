// SPDX-License-Identifier: Apache-2.0
#include "model/topology_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

namespace payoff {
namespace {

using Fields = std::vector<std::string>;

class Checks {
 public:
  // `rests_on`: the fields that it follows from.
  void require(bool holds, const std::string& path, std::string message, Fields rests_on,
               std::string help = {}) {
    if (!holds) {
      problems_.push_back({{path, std::move(message), std::move(help)}, std::move(rests_on)});
    }
  }
  void rate(const LinkRate& rate, const std::string& path) {
    require(rate.bandwidth > Bandwidth{}, path, "has no bandwidth", {path});
    require(rate.latency >= 0_s, path, "has a negative latency", {path});
  }
  [[nodiscard]] std::vector<TopologyProblem> take() { return std::move(problems_); }

 private:
  std::vector<TopologyProblem> problems_;
};

void check_mesh(const Server& server, Checks& checks) {
  const std::string path = "server.fabric.links";
  const auto n = static_cast<std::size_t>(server.gpus);
  if (server.mesh.size() != n * n) {
    checks.require(false, path,
                   "is not one row and one column for each of " + std::to_string(n) + " GPUs",
                   {path, "server.gpus"});
    return;
  }
  for (std::size_t a = 0; a < n; ++a) {
    checks.require(server.mesh[a * n + a] == 0, path,
                   "joins GPU " + std::to_string(a) + " to itself", {path});
    for (std::size_t b = 0; b < a; ++b) {
      checks.require(server.mesh[a * n + b] == server.mesh[b * n + a], path,
                     "has not as many links from " + std::to_string(a) + " to " +
                         std::to_string(b) + " as back",
                     {path});
    }
  }
}

void check_server(const Server& server, Checks& checks) {
  checks.require(server.gpus >= 1, "server.gpus", "has to be at least 1", {"server.gpus"});
  if (server.fabric != ServerFabric::none) {
    checks.rate(server.fabric_link, "server.fabric");
  }
  if (server.fabric == ServerFabric::mesh) {
    check_mesh(server, checks);
  }
  if (server.sockets > 0) {
    checks.require(
        server.pcie_switches >= server.sockets && server.pcie_switches % server.sockets == 0,
        "server.pcie.switches", "is no multiple of the number of sockets",
        {"server.pcie.switches", "server.pcie.sockets"},
        "GPUs on the root complex itself: one switch for each socket");
    checks.rate(server.pcie, "server.pcie");
    checks.rate(server.pcie_uplink, "server.pcie.uplink");
    if (server.sockets > 1) {
      checks.rate(server.socket_link, "server.pcie.socket_link");
    }
  }
  checks.require(server.gpus == 1 || server.fabric != ServerFabric::none || server.sockets > 0,
                 "server", "has several GPUs and nothing that joins them",
                 {"server.gpus", "server.fabric", "server.pcie"},
                 "write `fabric`, `pcie`, or both");
  if (server.nics > 0) {
    checks.rate(server.nic, "server.nics");
  }
}

// Of networks that GPUs reach through NICs alone.
void require_nics(const Server& server, const char* message, Checks& checks) {
  checks.require(server.nics >= 1, "server.nics", message, {"server.nics", "network.kind"});
}

// Of networks that a server of one GPU is itself a part of.
void require_nics_of_several(const Server& server, Checks& checks) {
  checks.require(server.nics >= 1 || server.gpus == 1, "server.nics",
                 "several GPUs of a server reach the network through NICs",
                 {"server.nics", "server.gpus", "network.kind"});
}

void check_network(const FatTree& tree, const RegularTopology& topology, Checks& checks) {
  const auto at_least_one = [&](int number, const std::string& path) {
    checks.require(number >= 1, path, "has to be at least 1", {path});
  };
  at_least_one(tree.servers_per_leaf, "network.servers_per_leaf");
  at_least_one(tree.spines, "network.spines");
  checks.require(tree.oversubscription > 0 && tree.core_oversubscription > 0,
                 "network.oversubscription", "has to be positive",
                 {"network.oversubscription", "network.core_oversubscription"});
  checks.require(tree.leaves_per_pod == 0 || tree.cores_per_spine >= 1, "network.cores_per_spine",
                 "has to be at least 1 where there are pods",
                 {"network.leaves_per_pod", "network.cores_per_spine"});
  require_nics(topology.server, "a fat tree is joined by NICs", checks);
}

void check_places(const Dragonfly& fly, const RegularTopology& topology, Checks& checks) {
  const std::string carriers = fly.plus ? "network.spines" : "network.routers";
  const std::int64_t ports = std::int64_t{fly.plus ? fly.spines : fly.routers} * fly.global_links;
  checks.require(ports >= 1 && ports % (fly.groups - 1) == 0, "network.global_links",
                 "gives a group " + std::to_string(ports) + " global links, no multiple of the " +
                     std::to_string(fly.groups - 1) + " other groups",
                 {"network.kind", "network.groups", "network.global_links", carriers});
  const std::int64_t places = std::int64_t{fly.groups} * fly.routers * fly.servers_per_router;
  checks.require(
      topology.servers <= places, "servers",
      "is more than the " + std::to_string(places) + " places of the network",
      {"servers", "network.kind", "network.groups", fly.plus ? "network.leaves" : "network.routers",
       fly.plus ? "network.servers_per_leaf" : "network.servers_per_router"});
}

void check_network(const Dragonfly& fly, const RegularTopology& topology, Checks& checks) {
  const std::string routers = fly.plus ? "network.leaves" : "network.routers";
  const std::string servers = fly.plus ? "network.servers_per_leaf" : "network.servers_per_router";
  checks.require(fly.groups >= 2, "network.groups", "has to be at least 2", {"network.groups"});
  checks.require(fly.routers >= 1, routers, "has to be at least 1", {routers});
  checks.require(!fly.plus || fly.spines >= 1, "network.spines", "has to be at least 1",
                 {"network.spines"});
  checks.require(fly.servers_per_router >= 1, servers, "has to be at least 1", {servers});
  checks.rate(fly.local, "network.local");
  checks.rate(fly.global, "network.global");
  require_nics(topology.server, "a dragonfly is joined by NICs", checks);
  if (fly.groups >= 2) {
    check_places(fly, topology, checks);
  }
}

void check_network(const Torus& torus, const RegularTopology& topology, Checks& checks) {
  std::int64_t places = 1;
  for (const int side : torus.sides) {
    checks.require(side >= 1, "network.sides", "has a side that is not positive",
                   {"network.sides"});
    places = std::min<std::int64_t>(places * std::max(side, 1), std::int64_t{1} << 40U);
  }
  checks.require(!torus.sides.empty() && places == topology.servers, "network.sides",
                 "has " + std::to_string(places) + " places for " +
                     std::to_string(topology.servers) + " servers",
                 {"servers", "network.kind", "network.sides"});
  checks.rate(torus.link, "network");
  require_nics_of_several(topology.server, checks);
}

void check_network(const FullMesh& mesh, const RegularTopology& topology, Checks& checks) {
  checks.rate(mesh.link, "network");
  checks.require(topology.servers <= 4096, "servers", "is more than a full mesh of 4096",
                 {"servers", "network.kind"});
  require_nics_of_several(topology.server, checks);
}

void check_network(const SingleSwitch& /*star*/, const RegularTopology& topology, Checks& checks) {
  checks.require(topology.servers == 1 || topology.server.nics >= 1, "server.nics",
                 "several servers are joined by NICs", {"servers", "server.nics", "network.kind"});
}

std::string rank_path(std::size_t rank) { return "rank_order." + std::to_string(rank); }

// Only GPUs that are there, each of them once. That one is there twice does not depend on how many
// there are.
void check_order(const Topology& topology, Checks& checks) {
  const auto gpus = static_cast<std::int64_t>(topology.gpus());
  const Fields number_of_gpus{"server.gpus", "servers", "graph.gpus"};
  std::map<int, std::size_t> rank_of;
  for (std::size_t rank = 0; rank < topology.rank_order.size(); ++rank) {
    const int gpu = topology.rank_order[rank];
    const auto [before, is_new] = rank_of.emplace(gpu, rank);
    if (gpu < 0 || gpu >= gpus) {
      Fields rests_on = number_of_gpus;
      rests_on.push_back(rank_path(rank));
      checks.require(false, rank_path(rank),
                     "there is no GPU " + std::to_string(gpu) + " among " + std::to_string(gpus),
                     std::move(rests_on));
    }
    if (!is_new) {
      checks.require(false, rank_path(rank),
                     "GPU " + std::to_string(gpu) + " is rank " + std::to_string(before->second) +
                         " already: no permutation",
                     {rank_path(rank), rank_path(before->second)});
    }
  }
  Fields rests_on = number_of_gpus;
  rests_on.emplace_back("rank_order");
  const auto has_rank = [&](int gpu) { return rank_of.find(gpu) != rank_of.end(); };
  for (int gpu = 0; gpu < gpus && !topology.rank_order.empty(); ++gpu) {
    if (has_rank(gpu)) {
      continue;
    }
    const int first = gpu;
    while (gpu + 1 < gpus && !has_rank(gpu + 1)) {
      ++gpu;
    }
    checks.require(false, "rank_order",
                   first == gpu ? "GPU " + std::to_string(gpu) + " has no rank"
                                : "GPUs " + std::to_string(first) + " to " + std::to_string(gpu) +
                                      " have no rank",
                   rests_on);
  }
}

// Whence a link of a graph leads, and where.
using Ways = std::set<std::pair<std::size_t, std::size_t>>;

Ways ways_of(const UserGraph& graph) {
  Ways ways;
  for (const UserGraph::Link& link : graph.links) {
    ways.emplace(link.from, link.to);
    if (link.both_ways) {
      ways.emplace(link.to, link.from);
    }
  }
  return ways;
}

void check_route(const UserGraph& graph, const Ways& ways, std::size_t number, Checks& checks) {
  const std::vector<std::size_t>& route = graph.routes[number];
  const std::string path = "graph.routes." + std::to_string(number);
  std::set<std::size_t> seen;
  for (std::size_t at = 0; at < route.size(); ++at) {
    const std::string there = path + "." + std::to_string(at);
    checks.require(seen.insert(route[at]).second, there,
                   "is passed a second time: the route is a loop", {path});
    checks.require(at == 0 || ways.contains({route[at - 1], route[at]}), there,
                   "no link leads there from the one before", {path, "graph.links"});
  }
  checks.require(route.empty() || (route.front() < graph.gpus && route.back() < graph.gpus), path,
                 "does not lead from a GPU to a GPU", {path});
}

void check_graph(const UserGraph& graph, Checks& checks) {
  checks.require(graph.gpus >= 1, "graph.gpus", "has no GPU", {"graph.gpus"});
  const Ways ways = ways_of(graph);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> route_of;  // by its ends
  for (std::size_t i = 0; i < graph.routes.size(); ++i) {
    check_route(graph, ways, i, checks);
    const std::vector<std::size_t>& route = graph.routes[i];
    if (route.empty()) {
      continue;
    }
    const auto [before, is_new] = route_of.try_emplace({route.front(), route.back()}, i);
    const std::string path = "graph.routes." + std::to_string(i);
    const std::string first = "graph.routes." + std::to_string(before->second);
    checks.require(is_new, path,
                   "leads from `" + graph.vertices[route.front()].name + "` to `" +
                       graph.vertices[route.back()].name + "`, as `" + first + "` does",
                   {path, first}, "two GPUs have one route; of several, leave the others out");
  }
}

// A link has failed, or it has one ratio.
void check_faults(const std::vector<LinkFault>& faults, Checks& checks) {
  std::map<std::pair<std::string, std::string>, const LinkFault*> known;
  for (const LinkFault& fault : faults) {
    const auto [before, is_new] = known.try_emplace(std::minmax(fault.a, fault.b), &fault);
    if (!is_new && !fault.a.empty() && !fault.b.empty()) {
      checks.require(false, fault.path,
                     "the link of `" + fault.a + "` and `" + fault.b + "` is in `" +
                         before->second->path + "` already",
                     {fault.path, before->second->path});
    }
  }
}

}  // namespace

std::vector<TopologyProblem> find_problems(const Topology& topology) {
  Checks checks;
  if (const auto* graph = std::get_if<UserGraph>(&topology.shape)) {
    check_graph(*graph, checks);
  } else {
    const auto& regular = std::get<RegularTopology>(topology.shape);
    checks.require(regular.servers >= 1 && regular.servers <= most_ranks, "servers",
                   "has to be between 1 and " + std::to_string(most_ranks), {"servers"});
    check_server(regular.server, checks);
    std::visit([&](const auto& network) { check_network(network, regular, checks); },
               regular.network);
  }
  const bool few = topology.gpus() <= std::size_t{most_ranks};
  checks.require(few, "servers", "more than " + std::to_string(most_ranks) + " GPUs",
                 {"servers", "server.gpus"});
  if (few) {
    check_order(topology, checks);
  }
  check_faults(topology.faults, checks);
  return checks.take();
}

Problems check(const Topology& topology) {
  Problems problems;
  for (TopologyProblem& found : find_problems(topology)) {
    problems.push_back(std::move(found.problem));
  }
  return problems;
}

}  // namespace payoff
