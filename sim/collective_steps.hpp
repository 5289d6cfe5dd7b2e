// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/collective.hpp"
#include "sim/collective_programs.hpp"
#include "sim/program_run.hpp"
#include "sim/topology.hpp"

// A priced collective at level `steps`: every send of its program a flow over the links of a
// topology. Sends carry the fitted price (sim/program_run.hpp), so a collective that meets no
// narrow link takes what the model says; the links, less what the traffic of others takes of them
// (sim/background.hpp), add what they cannot carry.

namespace payoff::sim {

// What a collective takes alone, its steps in phases that follow each other.
struct StepsPrice {
  Seconds time{};
  std::vector<PhasePrice> phases;
  // Where nobody has measured anything like it, and the law of rings stands in: one standard
  // deviation of the price, the law's own included.
  std::optional<double> assumed_sd{};
};
[[nodiscard]] StepsPrice price_of(const Program& program, const CollectivePrice& price, Bytes size);
// Of a program that NCCL does not have: its phases at the prices of the collectives that they are,
// a ring's reduce-scatter inside servers, an exchange of pairs (send_recv) between them, one after
// the other; of gossip the longer one of what goes on inside servers and between them. Sums in
// switches and packed trees have their own steps and bytes at what rings achieve on the cluster's
// links (model/unmeasured_price.hpp), trees at what the links of the graph let them carry. nullopt
// for groups that the cluster cannot hold.
[[nodiscard]] std::optional<StepsPrice> price_of(OtherProgram other, const Program& program,
                                                 const ProgramRanks& ranks, const Cluster& cluster,
                                                 Bytes size, const TopologyGraph& graph,
                                                 const Topology& topology);

struct CollectiveSteps {
  // With a price only.
  struct Priced {
    Seconds price;
    Seconds time;   // sends with their part of the price, on these links
    Seconds alone;  // the same without links: what the price says, to a tick for each step
    std::optional<double> assumed_sd;  // of the price (StepsPrice)
  };
  std::optional<Priced> priced;
  // More than 106 days, the end of the simulator's clock: already at its price, or on these links.
  enum class TooLong : std::uint8_t { no, alone, on_links };
  TooLong too_long{TooLong::no};
  // Bare links and one latency a step, theirs or `latency`, nothing else; of what may be cut
  // into segments, cut or whole, whichever is sooner through.
  Seconds alpha_beta{};
  std::uint64_t sends{};
};
// Of a step of the Simple protocol, where links say nothing of their latency: as the textbook's
// prices have it (model/textbook.hpp).
[[nodiscard]] Seconds step_latency(const ProgramRanks& ranks, const Cluster& cluster);
[[nodiscard]] CollectiveSteps run_steps(const LaidProgram& laid, Bytes size,
                                        const std::optional<StepsPrice>& price, Seconds latency,
                                        const TopologyGraph& graph, const Topology& topology);

}  // namespace payoff::sim
