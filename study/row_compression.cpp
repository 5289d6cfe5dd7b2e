// SPDX-License-Identifier: Apache-2.0
#include "study/row_compression.hpp"

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/units_text.hpp"
#include "profiles/read_method.hpp"

namespace payoff {
namespace {

// Which profile describes the implementation that a source ran, and its one parameter.
struct MethodRule {
  std::string_view source;
  std::string_view method;
  std::string_view profile;
  std::string_view parameter;
};

constexpr std::array rules{
    MethodRule{"grace", "topk", "topk", "ratio"},
    MethodRule{"grace", "randomk", "randomk", "ratio"},
    MethodRule{"grace", "qsgd", "qsgd_framework", "levels"},
    MethodRule{"grace", "efsignsgd", "efsignsgd", ""},
    MethodRule{"grace", "onebit", "onebit", ""},
    MethodRule{"grace", "natural", "natural", ""},
    MethodRule{"grace", "terngrad", "terngrad", ""},
    MethodRule{"grace", "powersgd", "powersgd_gram_schmidt", "rank"},
};

std::optional<double> stated(const TrainingCompression& compression, std::string_view parameter) {
  if (parameter == "ratio") {
    return compression.keep_ratio;
  }
  if (parameter == "levels" && compression.levels) {
    return *compression.levels;
  }
  if (parameter == "rank" && compression.rank) {
    return *compression.rank;
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

CompressionPlan plan_of(const MethodRule& rule, const Method& method, std::optional<double> value) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.method = method;
  if (value) {
    plan.method->parameters[std::string(rule.parameter)] = *value;
    plan.label += ":" + std::string(rule.parameter) + "=" + number_text(*value, 6);
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
  for (const std::string& traffic : compression.traffic) {
    if (traffic != "dp") {
      result.reasons.push_back("compresses " + traffic);
    }
  }
  const MethodRule* rule = rule_for(row);
  const auto method = rule != nullptr ? methods.find(std::string(rule->profile)) : methods.end();
  if (method == methods.end()) {
    result.reasons.push_back("no profile of " + compression.method + " as " + row.source +
                             " ran it");
    return result;
  }
  std::optional<double> value;
  if (!rule->parameter.empty()) {
    value = stated(compression, rule->parameter);
    if (!value) {
      result.reasons.push_back(std::string(rule->parameter) + " not stated");
    }
  }
  if (result.reasons.empty()) {
    result.plan = plan_of(*rule, method->second, value);
  }
  return result;
}

}  // namespace payoff
