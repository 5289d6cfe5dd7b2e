// SPDX-License-Identifier: Apache-2.0
#include "model/method_on_graph.hpp"

#include <algorithm>
#include <utility>

namespace payoff {
namespace {

constexpr const char* parameter_of_graphs = "neighbours";

int nodes_of(const Workers& group) { return group.all / std::max(1, group.in_node); }

bool is_exchange_of_nodes(const RoundFormula& round) {
  return round.among == Among::nodes && round.collective == Collective::all_to_all;
}

}  // namespace

bool has_neighbours(const Method& method) {
  return method.parameters.contains(parameter_of_graphs) &&
         std::any_of(method.rounds.begin(), method.rounds.end(), is_exchange_of_nodes);
}

int neighbours_in(const Method& method, const RoundFormula& round, const Workers& group) {
  const auto found = method.parameters.find(parameter_of_graphs);
  if (!method.graph || !is_exchange_of_nodes(round) || found == method.parameters.end()) {
    return 0;
  }
  return std::min(static_cast<int>(found->second), nodes_of(group) - 1);
}

bool has_graph(const CompressionPlan& plan) {
  const std::vector<const Method*> methods = plan.gradient_methods();
  return std::any_of(methods.begin(), methods.end(),
                     [](const Method* method) { return method->graph.has_value(); });
}

Method on_graph(const Method& method, const Workers& group) {
  Method result = method;
  const int nodes = nodes_of(group);
  if (nodes > 1) {
    result.parameters[parameter_of_graphs] = most_neighbours(*method.graph, nodes);
  }
  return result;
}

std::vector<std::shared_ptr<const NodeGraph>> graphs_of(const CompressionPlan& plan,
                                                        const Workers& group) {
  std::vector<std::shared_ptr<const NodeGraph>> graphs;
  bool any = false;
  for (const Method* method : plan.gradient_methods()) {
    const bool has = method->graph && nodes_of(group) > 1;
    any = any || has;
    graphs.push_back(
        has ? std::make_shared<const NodeGraph>(NodeGraph{*method->graph, nodes_of(group)})
            : nullptr);
  }
  return any ? graphs : std::vector<std::shared_ptr<const NodeGraph>>{};
}

Problems check_graphs(const CompressionPlan& plan, const Workers& group, const std::string& path) {
  Problems problems;
  for (const Method* method : plan.gradient_methods()) {
    if (!method->graph || nodes_of(group) < 2) {
      continue;  // in one node all average with all
    }
    for (Problem& problem : check(*method->graph, nodes_of(group))) {
      problem.path = path;
      problem.message = "`" + plan.label + "`: " + problem.message;
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

}  // namespace payoff
