// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/explanation.hpp"

// What each term of the waterfall is made of: one function a term, in one table.

namespace payoff {

// The plan that is explained, with what its terms are computed from.
struct ExplainedPlan {
  const PreparedExperiment& prepared;
  const CompressionPlan& compression;
  StepPlan step;
  StepPrediction prediction;
  const StagePlan& stage;  // the one that ends last
  std::size_t stage_index{};

  [[nodiscard]] const Experiment& experiment() const { return prepared.experiment(); }
};

struct TermRule {
  std::string_view term;
  std::string_view what;
  Seconds Waterfall::*time;
  std::string_view equation;
  std::string_view section;
  // Numbers, the equation with them, parts. The time is known already.
  void (*fill)(const ExplainedPlan&, TermExplanation&);
  std::vector<std::string_view> facts;  // beginnings of their paths
  std::vector<MessageKind> messages;
  std::optional<WorkKind> work{};  // whose kernels it is the time of
  bool where_stated{};             // told only of jobs that have it
};

[[nodiscard]] const std::vector<TermRule>& term_rules();

}  // namespace payoff
