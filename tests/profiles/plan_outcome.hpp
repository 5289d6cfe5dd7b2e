// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "profiles/read_method.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/profile_folder.hpp"

// A plan as users write it, and what becomes of it.

namespace payoff::test {

struct Outcome {
  std::optional<ReadPlan> plan;
  std::string errors;
};

// As the first argument of a command.
inline Outcome read(const std::string& text) {
  ProfileReading reading(shipped());
  const std::size_t source = reading.sources.add_argument(1, text);
  auto plan = read_plan({source, 0, text.size()}, reading.context());
  CHECK(plan.has_value() != reading.diagnostics.has_errors());
  return {std::move(plan), reading.errors()};
}

}  // namespace payoff::test
