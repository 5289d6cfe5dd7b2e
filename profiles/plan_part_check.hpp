// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/plan_text.hpp"
#include "profiles/read_plan_part.hpp"

// What the options of one part of a plan mean together, once each of them is read.

namespace payoff {

// What it compresses, unless it says so, and options that mean nothing for that.
void check_part(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics);

// Options that make another method of it: `among`, `smallest`.
void change_method(const WrittenPlan& written, PlanPart& part, Diagnostics& diagnostics);

}  // namespace payoff
