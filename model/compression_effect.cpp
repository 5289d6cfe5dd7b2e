// SPDX-License-Identifier: Apache-2.0
#include "model/compression_effect.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace payoff {
namespace {

bool compresses(const Method& method, const ParameterTensor& tensor, Bytes element,
                const Workers& group) {
  return !compress(method, {&tensor, 1}, element, group.all, group.in_node).rounds.empty();
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

// Of a model one of each shape; one vector of all for a method that sees buckets.
std::vector<ParameterTensor> shapes_for(const Method& method, const Workload& workload) {
  std::vector<ParameterTensor> shapes;
  ParameterTensor all{0, 1, false};
  for (const Layer& layer : workload.layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      all.rows += tensor.elements();
      const bool known =
          std::any_of(shapes.begin(), shapes.end(), [&](const ParameterTensor& other) {
            return other.rows == tensor.rows && other.columns == tensor.columns &&
                   other.is_matrix == tensor.is_matrix;
          });
      if (!known) {
        shapes.push_back(tensor);
      }
    }
  }
  return method.granularity == Granularity::bucket ? std::vector{all} : shapes;
}

}  // namespace

bool has_nothing_to_do(const Method& method, const Workers& group) {
  return group.all == group.in_node &&
         std::any_of(method.rounds.begin(), method.rounds.end(),
                     [](const RoundFormula& round) { return round.among == Among::nodes; });
}

Problems check_amounts(const CompressionPlan& plan, const Workload& workload, Bytes element,
                       const Workers& group) {
  Problems problems;
  for (const Method* method : plan.gradient_methods()) {
    if (auto problem = check_amounts(*method, shapes_for(*method, workload), element, group)) {
      problems.push_back({"",
                          "`" + problem->path + "` of `" + plan.label + "` is " + problem->message +
                              " of the model",
                          "look for a unit or a power that is wrong"});
    }
  }
  return problems;
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
