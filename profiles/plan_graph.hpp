// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/exchange_graph.hpp"
#include "profiles/plan_text.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/read_plan_part.hpp"

// `graph=` of a plan: a name, a file of kind `gossip`, or edges as text: 0-1/1-2 both ways, 2>0 one
// way.

namespace payoff {

// Every mistake is reported; then it is nothing.
[[nodiscard]] std::optional<ExchangeGraph> read_graph(const PlanPiece& value,
                                                      const ReadContext& context);

// What `graph`, `graph_seed` and `neighbours` of a plan have to do with each other and the method.
void check_graph_options(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics);

}  // namespace payoff
