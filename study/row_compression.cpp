// SPDX-License-Identifier: Apache-2.0
#include "study/row_compression.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"
#include "profiles/read_method.hpp"
#include "study/row_method.hpp"
#include "study/row_system.hpp"
#include "study/row_usual.hpp"

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

// What a run of the source leaves open has the usual values: the likely one in the plan.
void compress_gradients(const MethodRule& rule, const TrainingRow& row, const Method& method,
                        CompressionPlan& plan, RowPlan& result) {
  plan.label = method.name;
  plan.method = method;
  char before = ':';
  std::vector<std::pair<std::string, UsualValues>> open;
  for (const MethodSetting& setting : rule.settings) {
    if (setting.parameter.empty()) {
      continue;
    }
    const std::string name(setting.parameter == "grad_bits" ? "bits" : setting.parameter);
    auto value = setting.fixed ? setting.fixed : value_of(row, setting.parameter);
    if (!value && setting.otherwise) {
      value = setting.otherwise;
      result.assumptions.push_back(name + " of " + number_text(*value, 6) + ", as in its code");
    }
    if (!value) {
      auto usual = usual_values(row, name);
      if (!usual) {
        result.reasons.push_back(name + " not stated");
        continue;
      }
      value = usual->likely;
      result.assumptions.push_back(usual->words);
      open.emplace_back(name, *std::move(usual));
    }
    plan.method->parameters.at(name) = *value;
    plan.label += before + name + "=" + number_text(*value, 6);
    before = ',';
  }
  for (const auto& [name, usual] : open) {
    for (const double value : usual.others) {
      result.others.push_back(plan);
      result.others.back().method->parameters.at(name) = value;
    }
  }
  if (!rule.weights.empty()) {
    refuse_other_group(row.compression.grad_group, method, "gradients", result.reasons);
    refuse_other_bits(rule, row.compression, result.reasons);
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

void plan_by_rule(const MethodRule& rule, const TrainingRow& row, const Method& method,
                  const MethodCatalogue& methods, RowPlan& result) {
  std::vector<std::string>& reasons = result.reasons;
  CompressionPlan plan;
  plan.placement = rule.placement;
  if (compresses_gradients(rule, row)) {
    compress_gradients(rule, row, method, plan, result);
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
  for (CompressionPlan& other : result.others) {
    other.weights = plan.weights;
  }
  if (reasons.empty()) {
    result.plan = std::move(plan);
  }
}

bool sends(const TrainingRow& row, std::string_view traffic) {
  const std::vector<std::string>& all = row.compression.traffic;
  return std::find(all.begin(), all.end(), traffic) != all.end();
}

// The profiles of a method that a row may mean: the class of implementation that it states, or
// operators of a framework, with kernels in the interval.
std::vector<std::string> profiles_of(const TrainingRow& row, const MethodCatalogue& methods) {
  const MethodProfiles usual = usual_profiles(row);
  std::vector<std::string> names{usual.operators, usual.kernels};
  const std::string stated = row.compression.implementation.value_or("");
  if (stated == "library" || stated == "fused") {
    std::swap(names[0], names[1]);
  }
  std::erase_if(names, [&](const std::string& name) { return !methods.contains(name); });
  if (!stated.empty() && names.size() > 1) {
    names.resize(1);
  }
  return names;
}

// Weights on their way to all ranks, beside the gradients or alone.
void add_weights(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result) {
  const auto method = methods.find(usual_weights(row));
  if (method == methods.end()) {
    result.reasons.push_back("no profile of " + row.compression.method + " for weights");
    return;
  }
  const bool alone = !sends(row, "zero-grads") && !sends(row, "dp");
  if (alone) {
    result.plan.emplace().label = method->second.name;
    result.others.clear();
    result.assumptions = {"compressed as " + method->second.name};
  }
  result.plan->weights = WeightCompression{method->second, false};
  for (CompressionPlan& other : result.others) {
    other.weights = result.plan->weights;
  }
}

// Of a source that nobody read.
void plan_as_usual(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result) {
  const std::vector<std::string> names = profiles_of(row, methods);
  const bool of_weights = sends(row, "zero-weights") && !usual_weights(row).empty();
  if (names.empty() && !of_weights) {
    result.reasons.push_back("no profile of " + row.compression.method);
    return;
  }
  std::string assumption;
  for (const std::string& name : names) {
    std::vector<CompressionPlan> plans = usual_plans(row, methods.at(name), result);
    assumption += (assumption.empty() ? "compressed as " : ", or as ") + name;
    std::move(plans.begin(), plans.end(), std::back_inserter(result.others));
  }
  result.assumptions.push_back(assumption);
  if (!result.others.empty() && result.reasons.empty()) {
    result.plan = std::move(result.others.front());
    result.others.erase(result.others.begin());
  }
  if (sends(row, "zero-weights") && (result.plan || of_weights)) {
    add_weights(row, methods, result);
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

namespace {

// As if every worker compressed alike.
void plan_of_workers(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result) {
  const MethodRule* rule = published_rule(row);
  if (rule == nullptr) {
    refuse_other_traffic(row, true, result);
    plan_as_usual(row, methods, result);
    return;
  }
  const auto method = methods.find(std::string(rule->profile));
  if (method == methods.end()) {
    result.reasons.push_back("no profile " + std::string(rule->profile));
    return;
  }
  refuse_other_traffic(row, !rule->weights.empty(), result);
  plan_by_rule(*rule, row, method->second, methods, result);
}

}  // namespace

RowPlan row_plan(const TrainingRow& row, const MethodCatalogue& methods) {
  if (compresses_activations(row)) {
    return activation_plan(row, methods);
  }
  RowPlan result;
  const Scheme scheme = scheme_of(row);
  if (scheme == Scheme::servers || scheme == Scheme::hosts || scheme == Scheme::neighbours) {
    refuse_other_traffic(row, false, result);
  } else {
    plan_of_workers(row, methods, result);
  }
  apply_scheme(row, methods, result);
  return result;
}

}  // namespace payoff
