// SPDX-License-Identifier: Apache-2.0
#include "study/row_compression.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"
#include "profiles/read_method.hpp"

namespace payoff {
namespace {

// A parameter of a profile: a number that every run of the source has, or what the row states.
// What depends on the data (`density`, `bytes_kept`) no row states, and GRACE logged it in other
// runs only.
struct Setting {
  std::string_view parameter;
  std::optional<double> fixed = std::nullopt;
};

// Which profile describes the implementation that a source ran. GRACE's records come from its
// TensorFlow side, the only one with adaq, sketch, inceptionn and u8bit; profiles whose operators
// were counted in its PyTorch twin stand for methods that do the same on both.
struct MethodRule {
  std::string_view source;
  std::string_view method;
  std::string_view profile;
  std::array<Setting, 2> settings{};
  Placement placement{Placement::compute_stream};
  // Of the weights that sharded data parallelism gathers, and the bits that it stands for.
  std::string_view weights{};
  int weight_bits{};
  // Of gradients, where the profile has bits of its own inside the node and between nodes; 0: all
  // of them are what `grad_bits` of the row says.
  int intra_bits{};
  int inter_bits{};
};

constexpr std::array rules{
    MethodRule{"grace", "topk", "topk_sort", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "randomk", "randomk_uniform", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "qsgd", "qsgd_framework", {{{"levels"}}}},
    MethodRule{"grace", "efsignsgd", "efsignsgd"},
    MethodRule{"grace", "onebit", "onebit"},
    MethodRule{"grace", "natural", "natural"},
    MethodRule{"grace", "terngrad", "terngrad"},
    MethodRule{"grace", "powersgd", "powersgd_gram_schmidt", {{{"rank"}}}},
    MethodRule{"grace", "adaq", "adaq", {{{"ratio"}, {"error_feedback"}}}},
    MethodRule{"grace", "dgc", "dgc", {{{"ratio"}}}},
    MethodRule{"grace", "inceptionn", "inceptionn", {{{"bytes_kept"}}}},
    MethodRule{"grace", "signsgd", "signsgd_bytes", {{{"error_feedback"}}}},
    MethodRule{"grace", "signum", "signsgd_bytes", {{{"error_feedback"}, {"momentum", 1.0}}}},
    MethodRule{"grace", "sketch", "sketch", {{{"quantiles"}, {"error_feedback"}}}},
    MethodRule{"grace", "threshold", "threshold", {{{"density"}, {"error_feedback"}}}},
    MethodRule{"grace", "u8", "u8_dynamic", {{{"error_feedback"}}}},
    MethodRule{"deepspeed", "onebitadam", "onebitadam", {}, Placement::after_backward},
    MethodRule{"espresso", "randomk", "randomk_indexed", {{{"ratio"}}}},
    MethodRule{"espresso", "dgc", "dgc_horovod", {{{"ratio"}, {"index_bytes", 4.0}}}},
    MethodRule{"global_qsgd", "globalqsgd", "globalqsgd", {{{"bits"}}}},
    MethodRule{
        "sdp4bit", "sdp4bit", "sdp4bit", {}, Placement::compute_stream, "sdp4bit_weights", 4, 8, 4},
    MethodRule{"zeropp", "zeropp", "qgz", {{{"grad_bits"}}}, Placement::compute_stream, "qwz", 8},
};

std::optional<double> stated(const TrainingRow& row, std::string_view parameter) {
  const TrainingCompression& compression = row.compression;
  const auto number = [](const auto& field) {
    return field ? std::optional(static_cast<double>(*field)) : std::nullopt;
  };
  if (parameter == "ratio") {
    return compression.keep_ratio;
  }
  if (parameter == "levels") {
    return number(compression.levels);
  }
  if (parameter == "rank") {
    return number(compression.rank);
  }
  if (parameter == "quantiles") {
    return number(compression.quantiles);
  }
  if (parameter == "bits") {
    return number(compression.bits);
  }
  if (parameter == "grad_bits") {
    return number(compression.grad_bits);
  }
  if (parameter == "error_feedback") {
    return number(compression.error_feedback);
  }
  return std::nullopt;
}

const MethodRule* rule_for(const TrainingRow& row) {
  for (const MethodRule& rule : rules) {
    if (row.source == rule.source && row.compression.method == rule.method) {
      return &rule;
    }
  }
  return nullptr;
}

// ZeRO++ has parts that runs switch on one by one: qwz, hpz, qgz. All of them where none is named.
bool has_part(const MethodRule& rule, const TrainingRow& row, std::string_view part) {
  const std::vector<std::string>& parts = row.compression.parts;
  return rule.method == "zeropp" &&
         (parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end());
}

bool compresses_gradients(const MethodRule& rule, const TrainingRow& row) {
  return rule.method != "zeropp" || has_part(rule, row, "qgz");
}

bool compresses_weights(const MethodRule& rule, const TrainingRow& row) {
  return !rule.weights.empty() && (rule.method != "zeropp" || has_part(rule, row, "qwz"));
}

// Groups of other sizes than the profile's are other bytes and other kernels.
void refuse_other_group(const std::optional<int>& stated_group, const Method& method,
                        std::string_view of, std::vector<std::string>& reasons) {
  const auto group = method.parameters.find("group");
  if (stated_group && (group == method.parameters.end() || *stated_group != group->second)) {
    reasons.push_back(std::string(of) + " in groups of " + std::to_string(*stated_group));
  }
}

void refuse_other_bits(const MethodRule& rule, const TrainingCompression& compression,
                       std::vector<std::string>& reasons) {
  const auto differs = [&](const std::optional<int>& stated_bits, int profile) {
    return stated_bits && stated_bits != (profile > 0 ? profile : compression.grad_bits);
  };
  if (differs(compression.grad_bits_intra, rule.intra_bits)) {
    reasons.push_back("gradients in " + std::to_string(*compression.grad_bits_intra) +
                      " bits inside the node");
  }
  if (differs(compression.grad_bits_inter, rule.inter_bits)) {
    reasons.push_back("gradients in " + std::to_string(*compression.grad_bits_inter) +
                      " bits between nodes");
  }
  if (differs(compression.grad_bits, rule.inter_bits)) {
    reasons.push_back("gradients in " + std::to_string(*compression.grad_bits) + " bits");
  }
}

void compress_gradients(const MethodRule& rule, const TrainingRow& row, const Method& method,
                        CompressionPlan& plan, std::vector<std::string>& reasons) {
  plan.label = method.name;
  plan.method = method;
  char before = ':';
  for (const Setting& setting : rule.settings) {
    if (setting.parameter.empty()) {
      continue;
    }
    const std::string name(setting.parameter == "grad_bits" ? "bits" : setting.parameter);
    const auto value = setting.fixed ? setting.fixed : stated(row, setting.parameter);
    if (!value) {
      reasons.push_back(name + " not stated");
      continue;
    }
    plan.method->parameters.at(name) = *value;
    plan.label += before + name + "=" + number_text(*value, 6);
    before = ',';
  }
  if (!rule.weights.empty()) {
    refuse_other_group(row.compression.grad_group, method, "gradients", reasons);
    refuse_other_bits(rule, row.compression, reasons);
  }
}

void compress_weights(const MethodRule& rule, const TrainingRow& row,
                      const MethodCatalogue& methods, CompressionPlan& plan,
                      std::vector<std::string>& reasons) {
  const auto method = methods.find(std::string(rule.weights));
  if (method == methods.end()) {
    reasons.push_back("no profile of " + std::string(rule.weights));
    return;
  }
  refuse_other_group(row.compression.weight_group, method->second, "weights", reasons);
  plan.weights = WeightCompression{method->second, has_part(rule, row, "hpz")};
  if (plan.label.empty()) {
    plan.label = method->second.name;
  }
}

CompressionPlan plan_of(const MethodRule& rule, const TrainingRow& row, const Method& method,
                        const MethodCatalogue& methods, std::vector<std::string>& reasons) {
  CompressionPlan plan;
  plan.placement = rule.placement;
  if (compresses_gradients(rule, row)) {
    compress_gradients(rule, row, method, plan, reasons);
  }
  const std::optional<int>& bits = row.compression.weight_bits;
  if (!rule.weights.empty() && bits && *bits != rule.weight_bits) {
    reasons.push_back("weights in " + std::to_string(*bits) + " bits");
  }
  if (compresses_weights(rule, row)) {
    compress_weights(rule, row, methods, plan, reasons);
  } else if (has_part(rule, row, "hpz")) {
    reasons.emplace_back("gathers inside the node of weights as they are");
  }
  return plan;
}

}  // namespace

MethodCatalogue read_method_catalogue(const Library& library) {
  SourceMap sources;
  Diagnostics diagnostics;
  const ReadContext context{library, sources, diagnostics};
  MethodCatalogue catalogue;
  for (const std::string& name : library.names(ProfileKind::compression)) {
    if (auto method = read_method(name, std::nullopt, context)) {
      catalogue.emplace(name, std::move(method->value));
    }
  }
  if (diagnostics.error_count() > 0) {
    throw std::runtime_error("a shipped compression profile cannot be read:\n" +
                             render_text(diagnostics, sources));
  }
  return catalogue;
}

RowPlan row_plan(const TrainingRow& row, const MethodCatalogue& methods) {
  RowPlan result;
  const TrainingCompression& compression = row.compression;
  if (compression.where == "cpu") {
    result.reasons.emplace_back("compressed on the CPU");
  }
  if (compression.per_tensor_choice.value_or(false)) {
    result.reasons.emplace_back("chooses for each tensor whether to compress");
  }
  const MethodRule* rule = rule_for(row);
  const auto method = rule != nullptr ? methods.find(std::string(rule->profile)) : methods.end();
  if (method == methods.end()) {
    result.reasons.push_back("no profile of " + compression.method + " as " + row.source +
                             " ran it");
    return result;
  }
  const bool sharded = !rule->weights.empty();
  for (const std::string& traffic : compression.traffic) {
    if (traffic != "dp" && !(sharded && traffic.starts_with("zero-"))) {
      result.reasons.push_back("compresses " + traffic);
    }
  }
  CompressionPlan plan = plan_of(*rule, row, method->second, methods, result.reasons);
  if (result.reasons.empty()) {
    result.plan = std::move(plan);
  }
  return result;
}

}  // namespace payoff
