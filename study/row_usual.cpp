// SPDX-License-Identifier: Apache-2.0
#include "study/row_usual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/units_text.hpp"
#include "study/row_method.hpp"

namespace payoff {
namespace {

// DGC and Top-K keep a hundredth or a thousandth (Lin et al. 2018, Aji and Heafield 2017), PowerSGD
// has ranks of 1 to 4 for images and up to 32 for language (Vogels et al. 2019, table 6), and bits
// are 4 or 8, which are 8 or 128 levels. GRACE's sketches have 64 to 256 quantiles. INCEPTIONN's
// values keep a quarter of their bytes, or up to half of them (Li et al. 2018).
struct OpenParameter {
  std::string_view name;
  double likely;
  std::array<double, 2> others;
};
constexpr std::array open_parameters{
    OpenParameter{"ratio", 0.01, {0.001, 0.1}}, OpenParameter{"rank", 4, {1, 32}},
    OpenParameter{"bits", 4, {8, 2}},           OpenParameter{"levels", 128, {8, 256}},
    OpenParameter{"quantiles", 128, {64, 256}}, OpenParameter{"bytes_kept", 1, {0.3, 2}}};
// What depends on the data, or on choices that no two runs share.
constexpr std::array<std::string_view, 3> never_guessed{"density", "kept", "steps"};

// How many values pass a fixed threshold is the data's to say. Gradients have heavy tails: with
// those shares of ResNet-50's, all workers of GRACE's runs of the fit half took as long as measured
// (10 Gb/s, thresholds of 0.0001 to 0.01: 0.11, 0.05 and 0.03). Other models may pass a tenth of
// them, or three times as many.
UsualValues usual_density(double threshold) {
  constexpr double at_a_thousandth = 0.05;
  constexpr double most = 0.9;
  const double likely = std::min(0.5, at_a_thousandth / std::cbrt(threshold / 1e-3));
  return {likely, {likely / 10, std::min(most, 3 * likely)}, {}};
}

std::string in_words(std::string_view parameter, const UsualValues& usual) {
  std::string words(parameter);
  words += " of " + number_text(usual.likely, 6);
  for (const double other : usual.others) {
    words += (&other == &usual.others.front() ? ", or of " : " or ") + number_text(other, 6);
  }
  return words;
}

}  // namespace

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

std::optional<UsualValues> usual_values(const TrainingRow& row, std::string_view parameter) {
  UsualValues usual;
  if (parameter == "density" && row.compression.threshold) {
    usual = usual_density(*row.compression.threshold);
  } else {
    const auto* guess =
        std::find_if(open_parameters.begin(), open_parameters.end(),
                     [&](const OpenParameter& each) { return each.name == parameter; });
    if (guess == open_parameters.end()) {
      return std::nullopt;
    }
    usual.likely = guess->likely;
    usual.others.assign(guess->others.begin(), guess->others.end());
  }
  usual.words = in_words(parameter, usual);
  return usual;
}

std::vector<CompressionPlan> usual_plans(const TrainingRow& row, const Method& method,
                                         RowPlan& result) {
  CompressionPlan likely;
  likely.method = method;
  likely.label = method.name;
  if (method.name.starts_with("onebit") || method.name == "zeroone_adam") {
    likely.placement = Placement::after_backward;  // the optimizer's own message
  }
  char before = ':';
  const auto set = [&](const std::string& name, double value) {
    likely.method->parameters.at(name) = value;
    likely.label += before + name + "=" + number_text(value, 6);
    before = ',';
  };
  std::vector<std::pair<std::string, UsualValues>> open;
  for (const auto& [name, profile] : method.parameters) {
    if (const auto value = value_of(row, name)) {
      set(name, *value);
    } else if (auto usual = usual_values(row, name)) {
      result.assumptions.push_back(usual->words);
      open.emplace_back(name, *std::move(usual));
    } else if (std::find(never_guessed.begin(), never_guessed.end(), name) != never_guessed.end()) {
      result.reasons.push_back(name + " not stated");
    }
  }
  for (const auto& [name, usual] : open) {
    set(name, usual.likely);
  }
  std::vector<CompressionPlan> plans{likely};
  for (const auto& [name, usual] : open) {
    for (const double value : usual.others) {
      plans.push_back(likely);
      plans.back().method->parameters.at(name) = value;
    }
  }
  return plans;
}

}  // namespace payoff
