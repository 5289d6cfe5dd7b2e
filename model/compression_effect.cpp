// SPDX-License-Identifier: Apache-2.0
#include "model/compression_effect.hpp"

#include <string>

namespace payoff {
namespace {

bool compresses(const Method& method, const ParameterTensor& tensor, Bytes element,
                const Workers& group) {
  return !compress(method, {&tensor, 1}, element, group.all, group.in_node).rounds.empty();
}

}  // namespace

Problems check_effect(const CompressionPlan& plan, const Workload& workload, Bytes element,
                      const Workers& group) {
  if (!plan.method || plan.method->granularity == Granularity::bucket) {
    return {};
  }
  const Layer* largest_of = nullptr;
  ParameterTensor largest;
  for (const Layer& layer : workload.layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      if (compresses(*plan.method, tensor, element, group)) {
        return {};
      }
      if (largest_of == nullptr || tensor.elements() > largest.elements()) {
        largest_of = &layer;
        largest = tensor;
      }
    }
  }
  std::string message = "`" + plan.label + "` compresses nothing of the model";
  if (largest_of != nullptr) {
    message += ": not even `" + largest_of->name + "` (" + std::to_string(largest.rows) + " x " +
               std::to_string(largest.columns) + ") gets smaller";
  }
  return {{"", message, "use a smaller rank or ratio, or another method"}};
}

}  // namespace payoff
