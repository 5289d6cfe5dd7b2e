// SPDX-License-Identifier: Apache-2.0
#include "profiles/check_topology.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/topology_check.hpp"

namespace payoff {
namespace {

// Which vertices and links a regular topology has; bandwidths and latencies decide nothing here.
constexpr std::array<std::string_view, 20> fields_of_links{"server.gpus",
                                                           "server.fabric.kind",
                                                           "server.fabric.links",
                                                           "server.pcie.sockets",
                                                           "server.pcie.switches",
                                                           "server.pcie.gpudirect",
                                                           "server.nics.count",
                                                           "servers",
                                                           "network.kind",
                                                           "network.rails",
                                                           "network.servers_per_leaf",
                                                           "network.spines",
                                                           "network.leaves_per_pod",
                                                           "network.cores_per_spine",
                                                           "network.groups",
                                                           "network.routers",
                                                           "network.leaves",
                                                           "network.servers_per_router",
                                                           "network.global_links",
                                                           "network.sides"};

bool is_below(std::string_view path, std::string_view section) {
  return path.size() > section.size() && path.starts_with(section) && path[section.size()] == '.';
}

// A link with a refused bandwidth joins what it joins.
bool is_rate(std::string_view path) {
  return path.ends_with(".bandwidth") || path.ends_with(".latency") || path.ends_with(".count");
}

class Reading {
 public:
  Reading(const ReadTopology& read, bool cluster_is_read)
      : read_(read), cluster_is_read_(cluster_is_read || !read.from_cluster) {}

  // Whether the field, all below it, and the sections around it were read.
  [[nodiscard]] bool has(std::string_view field) const {
    if (!cluster_is_read_ && (field == "servers" || field.starts_with("server."))) {
      return false;
    }
    if (field == "graph.links" && !read_.links_complete) {
      return false;
    }
    return std::none_of(
        read_.refused.begin(), read_.refused.end(), [&](const std::string& refused) {
          return !(field == "graph.links" && is_rate(refused)) &&
                 (refused == field || is_below(refused, field) || is_below(field, refused));
        });
  }

  [[nodiscard]] bool has_links() const {
    return std::holds_alternative<UserGraph>(read_.topology.shape)
               ? has("graph.links") && has("graph.gpus")
               : std::all_of(fields_of_links.begin(), fields_of_links.end(),
                             [&](std::string_view field) { return has(field); });
  }

  // All of them but the NICs, by which others know them.
  [[nodiscard]] bool has_servers() const {
    return std::all_of(fields_of_links.begin(), fields_of_links.end(), [&](std::string_view field) {
      return field.starts_with("network") || field == "server.nics.count" || has(field);
    });
  }

  [[nodiscard]] bool has_all(const std::vector<std::string>& fields) const {
    return std::all_of(fields.begin(), fields.end(),
                       [&](const std::string& field) { return has(field); });
  }

 private:
  const ReadTopology& read_;
  bool cluster_is_read_;
};

// NICs beside those of the GPUs are no problem of a topology that a cluster describes, where a
// group may have fewer GPUs than its server NICs.
void check_nics(const Topology& topology, std::vector<TopologyProblem>& problems) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  if (regular != nullptr && regular->server.nics > regular->server.gpus) {
    problems.push_back({{"server.nics", "are more than the GPUs",
                         "NICs that a GPU uses together count as one with their bandwidth"},
                        {"server.nics.count", "server.gpus"}});
  }
}

// A rank order and routes that are wrong are told already, and left away to look at the links.
Topology without_what_is_wrong(const ReadTopology& read, const Problems& problems) {
  Topology topology = read.topology;
  const auto is_wrong = [&](std::string_view field) {
    return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
      return problem.path == field || is_below(problem.path, field);
    });
  };
  std::erase_if(topology.faults, [&](const LinkFault& fault) { return is_wrong(fault.path); });
  if (is_wrong("rank_order") || !Reading(read, true).has("rank_order")) {
    topology.rank_order.clear();
  }
  if (auto* own = std::get_if<UserGraph>(&topology.shape); own != nullptr) {
    own->routes.clear();
  }
  return topology;
}

bool servers_have_nics(const Topology& topology) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  return regular != nullptr && regular->server.nics > 0;
}

// Its servers without a network that keeps it from being built; nothing if it is they that do.
std::optional<Topology> servers_alone(Topology topology) {
  auto* regular = std::get_if<RegularTopology>(&topology.shape);
  if (regular == nullptr) {
    return std::nullopt;
  }
  regular->network = SingleSwitch{};
  topology.rank_order.clear();
  if (regular->server.nics == 0) {
    regular->server.nics = 1;
    regular->server.nic = {1_GBps, 0_s};
  }
  return check(topology).empty() ? std::optional(std::move(topology)) : std::nullopt;
}

}  // namespace

bool knows_gpus(const ReadTopology& read, bool cluster_is_read) {
  return Reading(read, cluster_is_read).has_all({"server.gpus", "servers", "graph.gpus"});
}

Problems check(const ReadTopology& read, bool cluster_is_read, FindInLinks find_in_links) {
  const Reading reading(read, cluster_is_read);
  std::vector<TopologyProblem> found = find_problems(read.topology);
  if (!read.server_is_of_cluster) {
    check_nics(read.topology, found);
  }
  Problems problems;
  for (TopologyProblem& one : found) {
    if (reading.has_all(one.rests_on)) {
      problems.push_back(std::move(one.problem));
    }
  }
  if (find_in_links == nullptr) {
    return problems;
  }
  const Topology topology = without_what_is_wrong(read, problems);
  Problems of_links;
  if (reading.has_links() && check(topology).empty()) {
    of_links = find_in_links(topology, KnownParts::all);
  } else if (const auto servers = servers_alone(topology); servers && reading.has_servers()) {
    const bool nics = reading.has("server.nics.count");
    of_links = find_in_links(*servers, nics && servers_have_nics(topology)
                                           ? KnownParts::servers
                                           : KnownParts::servers_without_nics);
  }
  problems.insert(problems.end(), std::make_move_iterator(of_links.begin()),
                  std::make_move_iterator(of_links.end()));
  return problems;
}

}  // namespace payoff
