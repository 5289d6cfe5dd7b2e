// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "cli/session.hpp"
#include "profiles/read_topology.hpp"
#include "sim/topology.hpp"

namespace payoff {

// A topology file and its links.
struct TopologyFile {
  ReadTopology read;
  std::optional<sim::TopologyGraph> graph;
};

// Everything wrong is reported, in the file and in what it describes: GPUs that are cut off, faults
// of links that are not there. Nothing if there is no such file; no graph if anything is wrong.
[[nodiscard]] std::optional<TopologyFile> read_topology_file(const std::filesystem::path& file,
                                                             Session& session,
                                                             const Cluster* cluster = nullptr);

}  // namespace payoff
