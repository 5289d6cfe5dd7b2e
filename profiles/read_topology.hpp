// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/topology.hpp"
#include "profiles/positions.hpp"
#include "profiles/section.hpp"

// A topology file: servers on a regular network, or a graph of the user's own (profiles/README.md
// has the keys, examples/topologies the files). Names are resolved here, so that a misspelt one has
// a place and a suggestion.

namespace payoff {

struct ReadTopology {
  Topology topology;
  std::string description;
  PositionMap positions;
  bool links_complete{true};  // false: a link was refused, and what it joined may look cut off
};

// Everything wrong is reported, except what only the graph of links tells (sim/topology): where
// the caller can build one in spite of the errors, it finds the rest in the same run. What is left
// out of the server and the number of servers is taken from `cluster`, where there is one.
[[nodiscard]] std::optional<ReadTopology> read_topology(const std::filesystem::path& file,
                                                        SourceMap& sources,
                                                        Diagnostics& diagnostics,
                                                        const Cluster* cluster = nullptr);
[[nodiscard]] ReadTopology read_topology(const Document& document, const SourceMap& sources,
                                         Diagnostics& diagnostics,
                                         const Cluster* cluster = nullptr);
// All keys but `topology`, as they may stand in the section of a cluster; check() is the caller's.
void read_topology_keys(const Section& root, const Cluster* cluster, ReadTopology& result);

}  // namespace payoff
