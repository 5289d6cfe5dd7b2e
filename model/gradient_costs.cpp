// SPDX-License-Identifier: Apache-2.0
#include "model/gradient_plan.hpp"
#include "model/method_on_graph.hpp"

// What codecs do to kinds of buckets, before it is priced.

namespace payoff {

std::vector<CallCost> codec_costs(const GradientKinds& kinds, const Method& method,
                                  const GradientContext& context) {
  const auto costs_among = [&](const Group& group) {
    const Workers workers{group.ranks, group.ranks_per_node};
    const Bytes element = element_size(context.training.gradient);
    const std::size_t calls = kinds.elements.size();
    return method.graph
               ? compress_calls(on_graph(method, workers), kinds.tensors, calls, element, workers)
               : compress_calls(method, kinds.tensors, calls, element, workers);
  };
  std::vector<CallCost> costs = costs_among(context.network.group());
  std::vector<CallCost> of_experts;
  for (const EqualTensors& tensors : kinds.tensors) {
    if (tensors.tensor.of_expert) {
      if (of_experts.empty()) {
        of_experts = costs_among(context.experts.group());
      }
      costs[tensors.call] = of_experts[tensors.call];
    }
  }
  return costs;
}

std::vector<CallCost> codec_costs(const GradientKinds& kinds, const CompressionPlan& compression,
                                  std::span<const KindUse> uses, const GradientContext& context) {
  const std::vector<const Method*> methods = compression.gradient_methods();
  if (!compression.chooses_buckets()) {
    return methods.empty() ? std::vector<CallCost>{}
                           : codec_costs(kinds, *methods.front(), context);
  }
  std::vector<CallCost> costs(uses.size());
  for (std::size_t method = 0; method < methods.size(); ++method) {
    const std::vector<CallCost> of_kinds = codec_costs(kinds, *methods[method], context);
    for (std::size_t use = 0; use < uses.size(); ++use) {
      if (uses[use].method == method) {
        costs[use] = of_kinds[uses[use].kind];
        costs[use].method = method;
      }
    }
  }
  return costs;
}

}  // namespace payoff
