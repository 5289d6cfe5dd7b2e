// SPDX-License-Identifier: Apache-2.0
#include "cli/collective_members.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/option_values.hpp"
#include "model/cube_part.hpp"
#include "model/series_text.hpp"
#include "model/topology.hpp"

namespace payoff {
namespace {

using Gpus = std::vector<std::int64_t>;

// A group of few ranks has the first GPUs of as many servers as it has nodes.
Gpus first_gpus(const Topology& topology, const Group& group) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  Gpus gpus;
  for (int rank = 0; rank < group.ranks; ++rank) {
    const int node = rank / group.ranks_per_node;
    const int server_gpus = regular != nullptr ? regular->server.gpus : group.ranks_per_node;
    gpus.push_back(std::int64_t{node} * server_gpus + rank % group.ranks_per_node);
  }
  return gpus;
}

// Of a list with mistakes what is none.
Gpus readable(std::string_view text) {
  Gpus gpus;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (const auto part = parse_series<std::int64_t>(text.substr(0, end))) {
      gpus.insert(gpus.end(), part.value->begin(), part.value->end());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return gpus;
}

// What is wrong with the list by itself.
void check_list(const Gpus& gpus, const std::optional<int>& ranks, const Argument& asked,
                Session& session) {
  if (ranks && gpus.size() != static_cast<std::size_t>(*ranks)) {
    session.diagnostics().error(
        asked.span, fmt::format("{} GPUs are listed, the group has {} ranks", gpus.size(), *ranks),
        {}, "--ranks, or --nodes and --gpus-per-node, say how many");
  }
  std::set<std::int64_t> taken;
  std::set<std::int64_t> again;
  for (const std::int64_t gpu : gpus) {
    if (!taken.insert(gpu).second && again.insert(gpu).second) {
      session.diagnostics().error(asked.span, fmt::format("GPU {} is there twice", gpu));
    }
  }
}

// Whether the topology has them all.
bool check_places(const Gpus& gpus, const Topology& topology, const Argument& asked,
                  Session& session) {
  const auto count = static_cast<std::int64_t>(topology.gpus());
  const std::set<std::int64_t> listed(gpus.begin(), gpus.end());
  Gpus missing;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(missing),
               [&](std::int64_t gpu) { return gpu < 0 || gpu >= count; });
  if (!missing.empty()) {
    const std::size_t others = missing.size() - 1;
    session.diagnostics().error(
        asked.span,
        fmt::format("there is no GPU {}{}: the topology has GPUs 0 to {}", missing.front(),
                    others > 0 ? fmt::format(", nor {} more of the list", others) : "", count - 1));
  }
  return missing.empty();
}

// The price is that of a group on its nodes.
void check_servers(const Gpus& gpus, const Topology& topology, int nodes, const Argument& asked,
                   Session& session) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  if (regular == nullptr) {
    return;
  }
  std::set<std::int64_t> servers;
  for (const std::int64_t gpu : gpus) {
    servers.insert(gpu / regular->server.gpus);
  }
  if (servers.size() != static_cast<std::size_t>(nodes)) {
    session.diagnostics().error(
        asked.span,
        fmt::format("these GPUs are on {}, the group on {}", counted(servers.size(), "server"),
                    counted(nodes, "node")),
        {}, "--nodes and --gpus-per-node say on how many");
  }
}

// Which ranks of the topology are on these GPUs.
std::vector<sim::Rank> ranks_on(const Gpus& gpus, const Topology& topology) {
  std::vector<sim::Rank> members;
  const std::vector<int>& order = topology.rank_order;
  for (const std::int64_t gpu : gpus) {
    const auto found = std::find(order.begin(), order.end(), gpu);
    members.push_back(static_cast<sim::Rank>(order.empty() ? gpu : found - order.begin()));
  }
  return members;
}

void place(const Gpus& gpus, CollectiveQuestion& question) {
  const std::vector<int> numbers(gpus.begin(), gpus.end());
  Fabric& fabric = question.cluster.fabric;
  fabric.parts = cube_parts_of(fabric, *question.topology, numbers, question.group.ranks_per_node);
}

}  // namespace

void read_members(const Arguments& arguments, bool group_is_read, CollectiveQuestion& question,
                  Session& session) {
  const Group& group = question.group;
  const auto asked = arguments.value("--on-gpus");
  Gpus gpus;
  if (asked) {
    const std::size_t errors = session.diagnostics().error_count();
    gpus = series_value<std::int64_t>(arguments, "--on-gpus", "", session);
    const bool is_series = session.diagnostics().error_count() == errors;
    gpus = is_series ? gpus : readable(asked->text);
    check_list(gpus, group_is_read && is_series ? std::optional(group.ranks) : std::nullopt, *asked,
               session);
  }
  if (!question.topology) {
    return;
  }
  const Topology& topology = *question.topology;
  if (asked) {
    const bool all = check_places(gpus, topology, *asked, session);
    if (all && group_is_read && gpus.size() == static_cast<std::size_t>(group.ranks)) {
      check_servers(gpus, topology, group.nodes(), *asked, session);
    }
  } else if (group_is_read && topology.gpus() < static_cast<std::size_t>(group.ranks)) {
    session.diagnostics().error(
        arguments.value("--topology")->span,
        fmt::format("the topology has {} GPUs, the group {} ranks", topology.gpus(), group.ranks));
  }
  if (session.diagnostics().has_errors()) {
    return;
  }
  gpus = asked ? gpus : first_gpus(topology, group);
  if (asked || topology.gpus() > gpus.size()) {
    question.members = ranks_on(gpus, topology);
  }
  place(gpus, question);
}

}  // namespace payoff
