// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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
  bool links_complete{true};    // false: a link was refused, and what it joined may look cut off
  bool from_cluster{};          // the server, the number of servers, or both
  bool server_is_of_cluster{};  // which may use fewer GPUs of a server than it has NICs
  // By path, "server.gpus": values that were refused or are missing, and have their fallback.
  std::vector<std::string> refused;
};

// What its text says is wrong is reported; what is wrong with what was read, is for
// check_topology.hpp to say. Throws std::runtime_error where a file cannot be read. What is left
// out of the server and the number of servers is taken from `cluster`, where there is one.
[[nodiscard]] std::optional<ReadTopology> read_topology(const std::filesystem::path& file,
                                                        SourceMap& sources,
                                                        Diagnostics& diagnostics,
                                                        const Cluster* cluster = nullptr);
[[nodiscard]] ReadTopology read_topology(const Document& document, const SourceMap& sources,
                                         Diagnostics& diagnostics,
                                         const Cluster* cluster = nullptr);
// All keys but `topology`, as they may stand in the section of a cluster. Positions and what was
// refused are the caller's, whose reader knows them.
void read_topology_keys(const Section& root, const Cluster* cluster, ReadTopology& result);

}  // namespace payoff
