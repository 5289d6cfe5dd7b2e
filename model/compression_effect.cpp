// SPDX-License-Identifier: Apache-2.0
#include "model/compression_effect.hpp"

#include <algorithm>
#include <string>

namespace payoff {
namespace {

bool compresses(const Method& method, const ParameterTensor& tensor, Bytes element,
                const Workers& group) {
  return !compress(method, {&tensor, 1}, element, group.all, group.in_node).rounds.empty();
}

// Whether the parameters are any that the tensor can have.
bool suits(const Method& method, const ParameterTensor& tensor, Bytes element,
           const Workers& group) {
  Method asked = method;
  asked.worth = method.fits;
  return compresses(asked, tensor, element, group);
}

Problems check_effect(const CompressionPlan& plan, const Method& method, const Workload& workload,
                      Bytes element, const Workers& group) {
  const Layer* largest_of = nullptr;
  ParameterTensor largest;
  bool smaller = false;
  for (const Layer& layer : workload.layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      if (compresses(method, tensor, element, group)) {
        smaller = true;
        if (suits(method, tensor, element, group)) {
          return {};
        }
      }
      if (largest_of == nullptr || tensor.elements() > largest.elements()) {
        largest_of = &layer;
        largest = tensor;
      }
    }
  }
  std::string message = "`" + plan.label + "` " +
                        (smaller ? "asks for more than any tensor of the model has"
                                 : "compresses nothing of the model");
  if (largest_of != nullptr) {
    message += ": not even `" + largest_of->name + "` (" + std::to_string(largest.rows) + " x " +
               std::to_string(largest.columns) + ") " + (smaller ? "suits it" : "gets smaller");
  }
  return {{"", message, "use a smaller rank or ratio, or another method"}};
}

}  // namespace

bool has_nothing_to_do(const Method& method, const Workers& group) {
  return group.all == group.in_node &&
         std::any_of(method.rounds.begin(), method.rounds.end(),
                     [](const RoundFormula& round) { return round.among == Among::nodes; });
}

Problems check_effect(const CompressionPlan& plan, const Workload& workload, Bytes element,
                      const Workers& group) {
  for (const Method* method : plan.gradient_methods()) {
    if (method->granularity != Granularity::bucket && !has_nothing_to_do(*method, group)) {
      if (Problems problems = check_effect(plan, *method, workload, element, group);
          !problems.empty()) {
        return problems;
      }
    }
  }
  return {};
}

}  // namespace payoff
