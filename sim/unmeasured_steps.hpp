// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/hardware.hpp"
#include "model/units.hpp"
#include "sim/collective_programs.hpp"
#include "sim/collective_steps.hpp"
#include "sim/program.hpp"
#include "sim/routing.hpp"

// Prices of programs that no law was fitted to: their own steps and bytes, at what rings achieve on
// the same links (model/unmeasured_price.hpp). nullopt for groups that the cluster cannot hold.

namespace payoff::sim {

// Of sums in the switches between servers.
[[nodiscard]] std::optional<StepsPrice> price_of_switches(const Program& program,
                                                          const ProgramRanks& ranks,
                                                          const Cluster& cluster, Bytes size);
// Of packed trees, in one server or in three phases across servers, which may have different
// numbers of GPUs: at a ring's share of what the links of the graph let the trees carry together.
[[nodiscard]] std::optional<StepsPrice> price_of_trees(const Program& program,
                                                       const ProgramRanks& ranks,
                                                       const Cluster& cluster, Bytes size,
                                                       Routing& routing);

}  // namespace payoff::sim
