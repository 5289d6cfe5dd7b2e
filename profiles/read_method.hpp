// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/compression.hpp"
#include "profiles/library.hpp"
#include "profiles/method_notes.hpp"
#include "profiles/read_hardware.hpp"
#include "profiles/section.hpp"

// Compression methods: profiles/compression/NAME.yaml or a user's own file of the same form
// (profiles/compression/README.md), and plans, which give a method its parameters. The law of its
// implementation class comes from fitted/codecs.yaml.

namespace payoff {

// What a plan may set a parameter to.
struct ParameterRule {
  double min{};
  double max{};
  bool integer{};
  std::vector<double> values{};  // the only ones that there are; empty: all between the bounds

  [[nodiscard]] bool takes(double value) const {
    return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
  }
};

using ParameterRules = std::map<std::string, ParameterRule>;

struct MethodProfile {
  Profile<Method> profile;
  ParameterRules rules;
  MethodNotes notes;
};

// By the name of a shipped method, or the path of a file.
[[nodiscard]] std::optional<MethodProfile> read_method_profile(std::string_view name,
                                                               std::optional<Span> asked,
                                                               const ReadContext& context);
[[nodiscard]] std::optional<Profile<Method>> read_method(std::string_view name,
                                                         std::optional<Span> asked,
                                                         const ReadContext& context);

struct ReadPlan {
  CompressionPlan plan;
  Facts facts;
  MethodNotes notes;
};

// A plan as a user writes it: METHOD or METHOD:NAME=VALUE,... where NAME is a parameter of the
// method or one of plan_options (profiles/read_plan_part.hpp): "powersgd:rank=4",
// "mine.yaml", "topk:ratio=1 %,placement=side_stream". Several methods for several kinds of traffic
// are joined: "powersgd + autoencoder:dim=50,traffic=tp_activations,layers=12-". `written` is where
// it stands, in quotes or not; every mistake is reported there.
[[nodiscard]] std::optional<ReadPlan> read_plan(Span written, const ReadContext& context);

// The same as a mapping, `powersgd: {rank: 4}`, or as a list of methods.
[[nodiscard]] std::optional<ReadPlan> read_plan(const Value& value, const ReadContext& context);

[[nodiscard]] CompressionPlan uncompressed_plan();

}  // namespace payoff
