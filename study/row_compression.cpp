// SPDX-License-Identifier: Apache-2.0
#include "study/row_compression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"
#include "profiles/read_method.hpp"
#include "study/row_method.hpp"
#include "study/shipped_profiles.hpp"

namespace payoff {
namespace {

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
  for (const MethodSetting& setting : rule.settings) {
    if (setting.parameter.empty()) {
      continue;
    }
    const std::string name(setting.parameter == "grad_bits" ? "bits" : setting.parameter);
    const auto value = setting.fixed ? setting.fixed : stated_parameter(row, setting.parameter);
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
  if (compresses_gradients(rule, row)) {
    compress_gradients(rule, row, method, plan, reasons);
    plan.placement = plan.usual_placement();
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

// What decides how much a method sends, and what such runs have where a row leaves it open: DGC and
// Top-K keep a hundredth or a thousandth (Lin et al. 2018, Aji and Heafield 2017), PowerSGD has
// ranks of 1 to 4 for images and up to 32 for language (Vogels et al. 2019, table 6), and bits are
// 4 or 8.
struct OpenParameter {
  std::string_view name;
  double likely;
  std::array<double, 2> others;
};
constexpr std::array open_parameters{OpenParameter{"ratio", 0.01, {0.001, 0.1}},
                                     OpenParameter{"rank", 4, {1, 32}},
                                     OpenParameter{"bits", 4, {8, 2}}};
// What depends on the data, or on choices that no two runs share.
constexpr std::array<std::string_view, 6> never_guessed{"density", "levels",     "quantiles",
                                                        "kept",    "bytes_kept", "steps"};

// A parameter by what rows call it, or by another field that says the same.
std::optional<double> value_of(const TrainingRow& row, std::string_view parameter) {
  if (const auto value = stated_parameter(row, parameter)) {
    return value;
  }
  if (parameter == "density") {
    return row.compression.keep_ratio;
  }
  if (parameter == "levels" && row.compression.bits) {
    return std::exp2(*row.compression.bits - 1);  // a bit for the sign
  }
  if (parameter == "bits") {
    if (row.compression.levels) {
      return 1 + std::ceil(std::log2(*row.compression.levels));
    }
    return stated_parameter(row, "grad_bits");
  }
  return std::nullopt;
}

// Plans of one profile: the likely one first, then one for each other value of what is open.
std::vector<CompressionPlan> usual_plans(const TrainingRow& row, const Method& method,
                                         RowPlan& result) {
  CompressionPlan likely;
  likely.method = method;
  likely.label = method.name;
  likely.placement = likely.usual_placement();
  char before = ':';
  const auto set = [&](const std::string& name, double value) {
    likely.method->parameters.at(name) = value;
    likely.label += before + name + "=" + number_text(value, 6);
    before = ',';
  };
  std::vector<const OpenParameter*> open;
  for (const auto& parameter : method.parameters) {
    const std::string& name = parameter.first;  // clang 14 lets no lambda have a structured binding
    if (const auto value = value_of(row, name)) {
      set(name, *value);
      continue;
    }
    const auto* guess = std::find_if(open_parameters.begin(), open_parameters.end(),
                                     [&](const OpenParameter& each) { return each.name == name; });
    if (guess != open_parameters.end()) {
      open.push_back(guess);
      result.assumptions.push_back(name + " of " + number_text(guess->likely, 6) + ", or of " +
                                   number_text(guess->others[0], 6) + " or " +
                                   number_text(guess->others[1], 6));
    } else if (std::find(never_guessed.begin(), never_guessed.end(), name) != never_guessed.end()) {
      result.reasons.push_back(name + " not stated");
    }
  }
  for (const OpenParameter* parameter : open) {
    set(std::string(parameter->name), parameter->likely);
  }
  std::vector<CompressionPlan> plans{likely};
  for (const OpenParameter* parameter : open) {
    for (const double value : parameter->others) {
      plans.push_back(likely);
      plans.back().method->parameters.at(std::string(parameter->name)) = value;
    }
  }
  return plans;
}

// Of a source that nobody read: the class of implementation that the row states, or operators of a
// framework, with kernels in the interval.
void plan_as_usual(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result) {
  if (const std::string system = unmodelled_system(row); !system.empty()) {
    result.reasons.push_back(system);
    return;
  }
  const MethodProfiles usual = usual_profiles(row);
  std::vector<std::string> names{usual.operators, usual.kernels};
  const std::string stated = row.compression.implementation.value_or("");
  if (stated == "library" || stated == "fused") {
    std::swap(names[0], names[1]);
  }
  std::erase_if(names, [&](const std::string& name) { return !methods.contains(name); });
  if (names.empty()) {
    result.reasons.push_back("no profile of " + row.compression.method);
    return;
  }
  if (!stated.empty()) {
    names.resize(1);
  }
  std::string assumption = "compressed as " + names.front();
  for (const std::string& name : names) {
    std::vector<CompressionPlan> plans = usual_plans(row, methods.at(name), result);
    if (name != names.front()) {
      assumption += ", or as " + name;
    }
    std::move(plans.begin(), plans.end(), std::back_inserter(result.others));
  }
  result.assumptions.push_back(assumption);
  if (!result.others.empty() && result.reasons.empty()) {
    result.plan = std::move(result.others.front());
    result.others.erase(result.others.begin());
  }
}

void refuse_other_traffic(const TrainingRow& row, bool sharded, RowPlan& result) {
  for (const std::string& traffic : row.compression.traffic) {
    if (traffic != "dp" && !(sharded && traffic.starts_with("zero-"))) {
      result.reasons.push_back("compresses " + traffic);
    }
  }
}

}  // namespace

MethodCatalogue read_method_catalogue(const Library& library) {
  SourceMap sources;
  Diagnostics diagnostics;
  const ReadContext context{library, sources, diagnostics};
  MethodCatalogue catalogue = read_shipped<Method>(ProfileKind::compression, context, read_method);
  throw_if_unreadable(diagnostics, sources);
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
  if (row.software && row.software->starts_with("BytePS")) {
    result.reasons.emplace_back("compressed for servers, which sum between nodes");
  }
  if (result.reasons.empty() && compresses_activations(row)) {
    return activation_plan(row, methods);
  }
  const MethodRule* rule = published_rule(row);
  if (rule == nullptr) {
    refuse_other_traffic(row, false, result);
    plan_as_usual(row, methods, result);
    return result;
  }
  const auto method = methods.find(std::string(rule->profile));
  if (method == methods.end()) {
    result.reasons.push_back("no profile " + std::string(rule->profile));
    return result;
  }
  refuse_other_traffic(row, !rule->weights.empty(), result);
  CompressionPlan plan = plan_of(*rule, row, method->second, methods, result.reasons);
  if (result.reasons.empty()) {
    result.plan = std::move(plan);
  }
  return result;
}

}  // namespace payoff
