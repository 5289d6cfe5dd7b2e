// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/topology.hpp"
#include "sim/program.hpp"
#include "sim/topology.hpp"

// Which program of sends a collective is on the links of a topology. NCCL's algorithms are laid out
// as NCCL does: rings, chains and trees once for every GPU of a server, each over the rail of that
// GPU; inside a mesh rings follow the links. What follows one another in segments is cut into so
// many that filling the pipeline is a ninth of the time.

namespace payoff::sim {

// Programs that NCCL does not have, or leaves to plug-ins.
enum class OtherProgram : std::uint8_t {
  halving_doubling,
  hierarchical,
  two_shot,
  sharp,
  packed_trees,
  bruck,
  pxn
};
inline constexpr int other_program_count = 7;
[[nodiscard]] std::string_view name(OtherProgram program);
[[nodiscard]] Collective collective_of(OtherProgram program);

struct LaidProgram {
  Program program;
  Program whole;                   // the same in one segment
  std::vector<VertexId> switches;  // of the places after the ranks
};
using LaidOrReason = std::variant<LaidProgram, std::string>;

// Who takes part: as many ranks as the topology has GPUs. A graph of the user's own has no servers,
// so that its ranks are numbered in runs of `gpus`.
struct ProgramRanks {
  Rank ranks{};
  Rank gpus{};
};
[[nodiscard]] ProgramRanks ranks_on(const Topology& topology, const Group& group);

// Or the reason why there is none.
[[nodiscard]] LaidOrReason program_of(Collective collective, Algorithm algorithm,
                                      const ProgramRanks& ranks, const Topology& topology,
                                      const TopologyGraph& graph);
[[nodiscard]] LaidOrReason program_of(OtherProgram program, const ProgramRanks& ranks,
                                      const Topology& topology, const TopologyGraph& graph);

// The graph with the program's switches as places after its ranks.
[[nodiscard]] TopologyGraph with_switches(const TopologyGraph& graph, const LaidProgram& program);

}  // namespace payoff::sim
