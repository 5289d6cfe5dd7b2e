// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
// GPU; inside a mesh rings follow the links.

namespace payoff::sim {

// Programs that NCCL does not have, or leaves to plug-ins. Gossip and a parameter server stand
// where an all-reduce would: Lian et al. (NeurIPS 2017), Assran et al. (ICML 2019) for the graphs;
// Li et al. (OSDI 2014).
enum class OtherProgram : std::uint8_t {
  halving_doubling,
  hierarchical,
  two_shot,
  sharp,
  packed_trees,
  bruck,
  pxn,
  parameter_server,
  gossip,
  sparse_all_gatherv
};
inline constexpr int other_program_count = 10;
[[nodiscard]] std::string_view name(OtherProgram program);
// What it does; packed trees broadcast and reduce, too.
[[nodiscard]] std::vector<Collective> collectives_of(OtherProgram program);

// Whom a rank of gossip sends its buffer to.
enum class GossipGraph : std::uint8_t {
  ring,         // the ranks before and after it
  exponential,  // those 1, 2, 4 ... ranks after it
  complete,     // all others
  links         // those at the other end of its own links
};
inline constexpr int gossip_graph_count = 4;
[[nodiscard]] std::string_view name(GossipGraph graph);

struct ProgramDetails {
  // Of a parameter server: so many of the ranks, the last ones, sum a shard each and hold no data
  // of their own; 0: every rank sums one beside its work.
  Rank servers{};
  GossipGraph neighbours{};
  // Of a sparse all-gather: what rank 0 has, over the mean of all; the others have equal parts of
  // the rest. Between 1 and the number of ranks. The size is what is gathered, of all together.
  double imbalance{1};
  // Which of the collectives of the program; nothing: the first one.
  std::optional<Collective> collective{};
  // Of gossip, instead of a graph above: whom every rank sends to, one or more of them.
  std::vector<std::vector<Rank>> own_neighbours{};
};

// What follows one another in segments is cut into eight times as many as it has steps without, so
// that filling the pipeline is a ninth of the time.
[[nodiscard]] constexpr std::uint32_t segments_for(std::uint32_t steps) { return 8 * steps; }

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
                                      const Topology& topology, const TopologyGraph& graph,
                                      const ProgramDetails& details = {});

// The graph with switches as places after its ranks, those of a program or others.
[[nodiscard]] TopologyGraph with_switches(const TopologyGraph& graph,
                                          std::span<const VertexId> switches);

// The graph with some of its ranks only: rank i is the old rank members[i]. What a job or a group
// on part of a cluster sees; it shares the links with whoever has the rest.
[[nodiscard]] TopologyGraph part_of(const TopologyGraph& graph, std::span<const Rank> members);
// As many ranks of each server, one server after the other, or every rank by itself. Of a graph
// without servers in runs of `gpus`.
[[nodiscard]] ProgramRanks ranks_of_part(const Topology& topology,
                                         std::span<const std::uint32_t> gpu_of_rank, Rank gpus);

}  // namespace payoff::sim
