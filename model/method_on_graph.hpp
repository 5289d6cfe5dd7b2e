// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/compression.hpp"
#include "model/exchange_graph.hpp"
#include "model/problem.hpp"

// Methods whose nodes average with their neighbours in a graph (Method::graph).

namespace payoff {

// Whether a graph can be asked for: it has an exchange among nodes, with `neighbours` of them.
[[nodiscard]] bool has_neighbours(const Method& method);
// Of a round over a graph; one of another kind has none.
[[nodiscard]] int neighbours_in(const Method& method, const RoundFormula& round,
                                const Workers& group);

// Whether a plan has a method with a graph.
[[nodiscard]] bool has_graph(const CompressionPlan& plan);

// With `neighbours` as its graph has them where it has the most. Requires a graph.
[[nodiscard]] Method on_graph(const Method& method, const Workers& group);

// Of each method of gradients; of one without a graph nothing.
[[nodiscard]] std::vector<std::shared_ptr<const NodeGraph>> graphs_of(const CompressionPlan& plan,
                                                                      const Workers& group);

// Graphs that these nodes cannot have.
[[nodiscard]] Problems check_graphs(const CompressionPlan& plan, const Workers& group,
                                    const std::string& path);

}  // namespace payoff
