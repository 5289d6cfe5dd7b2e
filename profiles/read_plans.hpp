// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/compression.hpp"
#include "model/problem.hpp"
#include "profiles/read_method.hpp"
#include "profiles/section.hpp"

// The list of plans that an experiment compares, "none" put before them. The same plan twice is a
// mistake. A codec law that was measured on other GPUs than the one it prices here is an
// assumption, whatever it was fitted to.

namespace payoff {

struct ReadPlans {
  std::vector<CompressionPlan> plans;  // the first is uncompressed
  Facts facts;                         // "powersgd:rank=4.law.dispatch"
  std::vector<MethodNotes> notes;      // of every plan, none for the first
  std::vector<std::size_t> items;      // of every plan that compresses, its place in the list
};

[[nodiscard]] ReadPlans read_plans(const Value& list, const Gpu& gpu, const ReadContext& context);

// The model counts plans that compress ("compress.0" is the first); the list may hold "none" among
// them.
[[nodiscard]] Problems in_the_list(Problems problems, const ReadPlans& plans);

}  // namespace payoff
