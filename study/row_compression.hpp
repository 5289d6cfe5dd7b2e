// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/compression.hpp"
#include "profiles/import/training_rows.hpp"
#include "profiles/library.hpp"

// From what a published run says about its compression to the plan that predicts it. Only an
// implementation that a profile describes is mapped: the same method in another library is another
// cost. Whatever is in the way is said, all of it.

namespace payoff {

using MethodCatalogue = std::map<std::string, Method>;  // by profile name

// Throws std::runtime_error with the diagnostics when a shipped profile cannot be read.
[[nodiscard]] MethodCatalogue read_method_catalogue(const Library& library);

struct RowPlan {
  std::optional<CompressionPlan> plan;  // empty when there are reasons
  std::vector<std::string> reasons;
};

[[nodiscard]] RowPlan row_plan(const TrainingRow& row, const MethodCatalogue& methods);

}  // namespace payoff
