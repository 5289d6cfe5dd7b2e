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
    MethodRule{"sdp4bit", "sdp4bit", "sdp4bit"},
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

CompressionPlan plan_of(const MethodRule& rule, const TrainingRow& row, const Method& method,
                        std::vector<std::string>& reasons) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.method = method;
  plan.placement = rule.placement;
  char before = ':';
  for (const Setting& setting : rule.settings) {
    if (setting.parameter.empty()) {
      continue;
    }
    const std::string name(setting.parameter);
    const auto value = setting.fixed ? setting.fixed : stated(row, name);
    if (!value) {
      reasons.push_back(name + " not stated");
      continue;
    }
    plan.method->parameters.at(name) = *value;
    plan.label += before + name + "=" + number_text(*value, 6);
    before = ',';
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
  CompressionPlan plan = plan_of(*rule, row, method->second, result.reasons);
  if (result.reasons.empty()) {
    result.plan = std::move(plan);
  }
  return result;
}

}  // namespace payoff
