// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/compression.hpp"
#include "profiles/import/training_rows.hpp"
#include "profiles/library.hpp"

// From what a published run says about its compression to the plan that predicts it. Of sources
// whose code was read, only an implementation that a profile describes is mapped: the same method
// in another library is another cost. Other sources have the usual profile of their method, and the
// interval holds other implementations and other values of what they leave open, by rules that see
// neither the source nor what was measured. Whatever is in the way is said, all of it.

namespace payoff {

using MethodCatalogue = std::map<std::string, Method>;  // by profile name

// Throws std::runtime_error with the diagnostics when a shipped profile cannot be read.
[[nodiscard]] MethodCatalogue read_method_catalogue(const Library& library);

struct RowPlan {
  std::optional<CompressionPlan> plan;  // empty when there are reasons
  std::vector<std::string> reasons;
  std::vector<CompressionPlan> others;   // that such a run may as well have had
  std::vector<std::string> assumptions;  // of a method whose implementation is not known
  // What each of them is compared with, the first one's first; empty: no compression at all.
  std::vector<CompressionPlan> baselines;
  // Of a system that tries several ways: those beside `plan`. What is fastest ran, none of them
  // where all are slower.
  std::vector<CompressionPlan> choices;
};

[[nodiscard]] RowPlan row_plan(const TrainingRow& row, const MethodCatalogue& methods);

// Of what model-parallel ranks send each other, and nothing else.
[[nodiscard]] bool compresses_activations(const TrainingRow& row);
[[nodiscard]] RowPlan activation_plan(const TrainingRow& row, const MethodCatalogue& methods);

}  // namespace payoff
