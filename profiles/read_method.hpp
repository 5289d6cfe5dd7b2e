// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/compression.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"

// Compression methods: profiles/compression/NAME.yaml or a user's own file of the same form. The
// law of its implementation class comes from fitted/codecs.yaml.

namespace payoff {

[[nodiscard]] std::optional<Profile<Method>> read_method(std::string_view name, std::optional<Span> asked,
                                                         const ReadContext& context);

struct ReadPlan {
  CompressionPlan plan;
  Facts facts;
};

// A plan as a user writes it: "powersgd:rank=4", "topk:ratio=1 %,placement=side_stream". `written` is
// where it stands; every mistake is reported there.
[[nodiscard]] std::optional<ReadPlan> read_plan(Span written, const ReadContext& context);

[[nodiscard]] CompressionPlan uncompressed_plan();

}  // namespace payoff
