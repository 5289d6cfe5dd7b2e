// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/section.hpp"
#include "profiles/source_map.hpp"

// A compression plan as it is written, cut into pieces with their places; what they mean is decided
// in read_plan.cpp. Two forms say the same: the text `powersgd:rank=4` and the mapping
// `powersgd: {rank: 4}`. Several methods are joined by ` + `, or make a list. `--set
// compress.0.rank=8` makes a mapping of a text: its `base`, with keys that go over it.

namespace payoff {

struct PlanPiece {
  std::string text;
  Span span;
};

struct PlanAssignment {
  PlanPiece name;
  std::optional<PlanPiece> value;
};

struct WrittenPlan {
  PlanPiece whole;  // the text, of a mapping the text that says the same: the plan's label
  PlanPiece method;
  bool has_colon{};
  std::vector<PlanAssignment> assignments;
};

// The text under `written`, in quotes or not: one method, or several that a ` + ` joins.
[[nodiscard]] std::vector<WrittenPlan> written_parts(Span written, const SourceMap& sources);

// What the parts of a plan are called together.
[[nodiscard]] std::string label_of(const std::vector<WrittenPlan>& parts);

// nullopt where the mapping is no plan; that is reported.
[[nodiscard]] std::optional<WrittenPlan> written_plan(const Value& mapping,
                                                      const SourceMap& sources);

}  // namespace payoff
