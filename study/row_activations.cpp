// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"
#include "study/row_compression.hpp"
#include "study/row_method.hpp"
#include "study/row_names.hpp"

namespace payoff {
namespace {

// Which profile describes what model-parallel ranks send each other, by the method's bare name, and
// whether a send between stages compresses the gradients too (`directions` of the profile). Sums of
// tensor parallelism are compressed forward (MCBench, Flash Communication).
struct ActivationRule {
  std::string_view method;
  std::string_view profile;
  bool between_ranks{};   // of tensor parallelism
  bool between_stages{};  // of a pipeline
  bool backward{};        // between stages
};
constexpr std::array activation_rules{
    ActivationRule{"topk", "activation_topk", true, true, true},
    ActivationRule{"acttopk", "activation_topk", true, true, true},
    ActivationRule{"randomk", "activation_randomk", true, true, true},
    ActivationRule{"actrandomk", "activation_randomk", true, true, true},
    ActivationRule{"actquant", "activation_quantization", true, true, false},
    ActivationRule{"quantization", "activation_quantization", true, true, false},
    ActivationRule{"qsgd", "activation_quantization", true, true, false},
    ActivationRule{"u8", "activation_quantization", true, true, false},
    ActivationRule{"ae", "autoencoder", true, true, true},
    ActivationRule{"autoencoder", "autoencoder", true, true, true},
    ActivationRule{"powersgd", "activation_powersgd", true, true, true},
    ActivationRule{"aqsgd", "aqsgd", false, true, true},
    ActivationRule{"tahquant", "tahquant", false, true, false},
    ActivationRule{"flashcomm", "flash_communication", true, false, false},
    ActivationRule{"flashcommunication", "flash_communication", true, false, false},
    ActivationRule{"fp8block", "fp8_block", true, true, false},
    ActivationRule{"mxfp8", "mxfp8", true, true, false},
    ActivationRule{"mxfp4", "mxfp4", true, true, false},
    ActivationRule{"nvfp4", "nvfp4", true, true, false}};

// Elements of what one layer hands on, for one micro-batch.
double activation_elements(const TrainingRow& row) {
  return static_cast<double>(row.layout.micro_batch.value_or(0)) * row.model.seq.value_or(0) *
         row.model.hidden.value_or(0);
}

// A parameter by the field that says it: how many values are kept follows from their share.
std::optional<double> stated_value(const TrainingRow& row, const std::string& parameter) {
  if (parameter == "k") {
    const double kept = row.compression.keep_ratio.value_or(0) * activation_elements(row);
    return kept >= 1 ? std::optional(std::round(kept)) : std::nullopt;
  }
  if (parameter == "dim") {
    return stated_parameter(row, "rank");
  }
  if (parameter == "sequence") {
    return row.model.seq ? std::optional<double>(*row.model.seq) : std::nullopt;
  }
  return stated_parameter(row, parameter);
}

Method with_parameters(const TrainingRow& row, Method method, RowPlan& result) {
  for (auto& [name, value] : method.parameters) {
    if (const auto stated = stated_value(row, name)) {
      value = *stated;
    } else if (name == "k") {
      result.reasons.emplace_back("ratio not stated");
    } else if (name != "group" && name != "backward_bits") {
      result.assumptions.push_back(name + " of " + number_text(value, 6));
    }
  }
  return method;
}

}  // namespace

bool compresses_activations(const TrainingRow& row) {
  const std::vector<std::string>& traffic = row.compression.traffic;
  return !traffic.empty() && std::all_of(traffic.begin(), traffic.end(), [](const auto& each) {
    return each == "tp" || each == "pp";
  });
}

RowPlan activation_plan(const TrainingRow& row, const MethodCatalogue& methods) {
  RowPlan result;
  const std::string name = bare_name(row.compression.method);
  const auto* rule = std::find_if(activation_rules.begin(), activation_rules.end(),
                                  [&](const ActivationRule& each) { return each.method == name; });
  const auto profile =
      rule == activation_rules.end() ? methods.end() : methods.find(std::string(rule->profile));
  if (profile == methods.end()) {
    result.reasons.push_back("no profile of " + row.compression.method + " for activations");
    return result;
  }
  const Method method = with_parameters(row, profile->second, result);
  CompressionPlan plan;
  plan.label = method.name;
  for (const std::string& traffic : row.compression.traffic) {
    const bool stages = traffic == "pp";
    if (stages ? !rule->between_stages : !rule->between_ranks) {
      result.reasons.push_back("no profile of " + row.compression.method + " for " + traffic);
      continue;
    }
    ActivationCompression each;
    each.method = method;
    each.traffic = stages ? Traffic::pp_activations : Traffic::tp_activations;
    each.backward = stages && rule->backward;
    plan.activations.push_back(std::move(each));
  }
  if (!result.reasons.empty()) {
    return result;
  }
  // MCBench compresses the second half of its blocks (start_tensor_compress_layer in its scripts).
  const int half = row.model.layers.value_or(0) / 2;
  if (half > 0) {
    result.others.push_back(plan);
    for (ActivationCompression& each : result.others.back().activations) {
      each.blocks.first = half;
    }
  }
  result.assumptions.emplace_back("activations of all blocks compressed, or of the second half");
  result.plan = std::move(plan);
  return result;
}

}  // namespace payoff
