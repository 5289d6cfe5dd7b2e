// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/plan_text.hpp"
#include "profiles/read_method.hpp"

// One method of a plan with what is said about it: its parameters, and the options that every
// method has.

namespace payoff {

inline constexpr std::array<std::string_view, 11> plan_options{
    "placement", "overlap",  "traffic",      "directions", "layers",    "buckets",
    "among",     "smallest", "copy_in_node", "graph",      "graph_seed"};

struct PlanPart {
  Method method;
  std::vector<Traffic> traffic = {};  // at least one
  std::optional<Directions> directions = {};
  std::optional<BlockRange> blocks = {};
  BucketSet buckets = {};
  std::optional<Placement> placement = {};  // left out: the method's usual one
  bool overlap{true};
  bool among_nodes{};   // gradients compressed on the way between nodes alone
  Bytes smallest{};     // gradients compressed from this size on
  bool copy_in_node{};  // of weights: backward gathers from a copy that each node keeps
  std::optional<ExchangeGraph> graph = {};  // of nodes that average with neighbours
  std::int64_t graph_seed{};
  Facts facts;
  MethodNotes notes;
  std::optional<Span> traffic_span = {};     // where it is said, if it is
  std::map<std::string, Span> options = {};  // of those that are said, but traffic
};

// Every mistake is reported at its place.
[[nodiscard]] std::optional<PlanPart> read_plan_part(const WrittenPlan& written,
                                                     const ReadContext& context);

}  // namespace payoff
