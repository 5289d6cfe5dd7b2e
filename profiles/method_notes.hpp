// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/compression.hpp"
#include "model/layout.hpp"
#include "profiles/section.hpp"

// What a compression profile says beside its formulas: what it compresses, who implements it, what
// it composes with, what is published on model quality, and why its numbers may be wrong. No price
// depends on it; `payoff methods` shows it, and `unchecked` counts as an assumed number.

namespace payoff {

struct MethodEvidence {
  std::string says;
  std::string citation;  // its key
};

struct MethodNotes {
  std::vector<std::string> traffic;  // empty: any kind
  std::vector<std::string> implementations;
  std::vector<std::pair<std::string, std::string>> composes;  // feature, "yes: why" or another
  std::vector<MethodEvidence> quality;
  bool users_own{};       // not of the library: whoever wrote it has it
  std::string unchecked;  // empty: a test holds it to an independently sourced number
};

[[nodiscard]] MethodNotes read_method_notes(const Section& root);

// What follows from the formulas alone, after what the profile says. `host_syncs` of a call.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> compositions(
    const Method& method, const MethodNotes& notes);

// Why a plan cannot simply be run in a layout, though its price is known: its implementations do
// not compose with a part of it ("no", "partly"), or nobody is known to have one.
struct Obstacle {
  std::string feature;  // a key of `composes`, or "implementation"
  std::string answer;   // "no: why"

  [[nodiscard]] bool rules_out() const { return answer.starts_with("no"); }
};

[[nodiscard]] std::vector<Obstacle> obstacles(const MethodNotes& notes,
                                              const ParallelLayout& layout);

// How often the host waits for the GPU in one call on one tensor: 1536 x 768 elements of 4 bytes,
// 16 workers in nodes of 4.
[[nodiscard]] double host_syncs_of_a_call(const Method& method);

[[nodiscard]] std::string_view name_of(Traffic traffic);

}  // namespace payoff
