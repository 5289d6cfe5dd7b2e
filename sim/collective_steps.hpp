// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "model/collective.hpp"
#include "sim/program.hpp"
#include "sim/program_run.hpp"
#include "sim/topology.hpp"

// A priced collective at level `steps`: the program that NCCL's algorithm is, every send a flow
// over the links of a cluster. Sends carry the fitted price (sim/program_run.hpp), so a collective
// that meets no narrow link takes what the model says; the links add what they cannot carry.
//
// Rings of servers are laid out on their rails. Not here: algorithms of switches (NVLS, SHARP),
// whose switches are no ranks; trees, which NCCL cuts into pieces by rules of its own; and meshes,
// on which rings follow the links (payoff check packs trees there).

namespace payoff::sim {

// Or the reason why there is none.
[[nodiscard]] std::variant<Program, std::string> program_of(Collective collective,
                                                            Algorithm algorithm, int ranks,
                                                            const TopologyGraph& graph);

struct CollectiveSteps {
  Seconds time{};        // sends with their part of the price, on these links
  Seconds alone{};       // the same without links: what the price says, to a tick for each step
  Seconds alpha_beta{};  // nominal links and one latency a step, nothing else
  std::uint64_t sends{};
};
[[nodiscard]] CollectiveSteps run_steps(const Program& program, Bytes size,
                                        const CollectivePrice& price, Routing& routing);

// How many sends the program consists of.
[[nodiscard]] std::uint64_t send_count(const Program& program);

}  // namespace payoff::sim
