// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_file.hpp"

#include <cstddef>
#include <utility>
#include <variant>

#include "profiles/positions.hpp"

namespace payoff {

std::optional<TopologyFile> read_topology_file(const std::filesystem::path& file, Session& session,
                                               const Cluster* cluster) {
  const std::size_t errors = session.diagnostics().error_count();
  auto read = read_topology(file, session.sources(), session.diagnostics(), cluster);
  if (!read) {
    return std::nullopt;
  }
  TopologyFile result{std::move(*read), {}};
  // Routes and a rank order that are wrong are reported already, and left away to build the graph,
  // which finds what reading cannot. Of a regular topology that could not be read, the links are
  // not those that were meant.
  Topology topology = result.read.topology;
  const std::size_t found = session.diagnostics().error_count() - errors;
  const bool as_meant = std::holds_alternative<UserGraph>(topology.shape)
                            ? result.read.links_complete
                            : found == check(topology).size();
  if (found > 0) {
    topology.rank_order.clear();
    if (auto* own = std::get_if<UserGraph>(&topology.shape)) {
      own->routes.clear();
    }
    if (!as_meant || !check(topology).empty()) {
      return result;
    }
  }
  sim::BuiltTopology built = sim::build(topology);
  report(built.problems, result.read.positions, session.diagnostics());
  if (session.diagnostics().error_count() == errors) {
    result.graph = std::move(built.graph);
  }
  return result;
}

}  // namespace payoff
