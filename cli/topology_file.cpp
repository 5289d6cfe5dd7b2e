// SPDX-License-Identifier: Apache-2.0
#include "cli/topology_file.hpp"

#include <cstddef>
#include <utility>

#include "profiles/check_topology.hpp"
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
  const bool cluster_is_read = cluster == nullptr || !cluster->name.empty();
  report(check(result.read, cluster_is_read, sim::find_in_links), result.read.positions,
         session.diagnostics());
  if (session.diagnostics().error_count() == errors) {
    sim::BuiltTopology built = sim::build(result.read.topology);
    report(built.problems, result.read.positions, session.diagnostics());
    result.graph = std::move(built.graph);
  }
  return result;
}

}  // namespace payoff
