// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/compression.hpp"
#include "model/layout.hpp"
#include "profiles/section.hpp"

// What a compression profile says beside its formulas: what it compresses, who implements it, what
// it composes with, what is published on model quality, and why its numbers may be wrong. No price
// depends on it; `payoff methods` shows it, and `unchecked` counts as an assumed number.

namespace payoff {

// What a method may compress, as files and plans spell it.
inline constexpr std::array<std::pair<std::string_view, Traffic>, 7> traffic_names{{
    {"dp_gradients", Traffic::dp_gradients},
    {"dp_weights", Traffic::dp_weights},
    {"tp_activations", Traffic::tp_activations},
    {"pp_activations", Traffic::pp_activations},
    {"ep_dispatch", Traffic::ep_dispatch},
    {"ep_combine", Traffic::ep_combine},
    {"embeddings", Traffic::embeddings},
}};

struct MethodEvidence {
  std::string says;
  std::string citation;  // its key
};

// Of activations, and of their gradients.
struct Directions {
  bool forward{true};
  bool backward{true};

  bool operator==(const Directions&) const = default;
};
inline constexpr std::array<std::pair<std::string_view, Directions>, 3> direction_names{
    {{"forward", {true, false}}, {"backward", {false, true}}, {"both", {true, true}}}};

struct MethodNotes {
  std::vector<std::string> traffic;              // empty: any kind
  std::map<std::string, Directions> directions;  // by traffic, that implementations compress
  std::vector<std::string> implementations;
  std::vector<std::pair<std::string, std::string>> composes;  // feature, "yes: why" or another
  std::vector<MethodEvidence> quality;
  bool users_own{};       // not of the library: whoever wrote it has it
  std::string unchecked;  // empty: a test holds it to an independently sourced number
};

[[nodiscard]] MethodNotes read_method_notes(const Section& root);

// Of two methods in one plan: what either of them stands in the way of.
[[nodiscard]] MethodNotes joined(const MethodNotes& a, const MethodNotes& b);

// By feature: what the profile says, and behind it what follows from the formulas alone.
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
// "forward", and "12-23" ("12-" up to the last block), as plans say it.
[[nodiscard]] std::string_view directions_text(const ActivationCompression& of);
[[nodiscard]] std::string layers_text(const BlockRange& blocks);
// "0-3/7/12-", empty for all.
[[nodiscard]] std::string buckets_text(const BucketSet& buckets);

}  // namespace payoff
