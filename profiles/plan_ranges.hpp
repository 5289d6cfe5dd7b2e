// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/compression.hpp"

// Blocks and buckets as plans name them. Nothing where the text is none.

namespace payoff {

// "12-23", "12-" (and all after it), "12".
[[nodiscard]] std::optional<BlockRange> parse_blocks(std::string_view text);
// Ranges joined by /, in any order, none of them twice: "0-3/7/12-".
[[nodiscard]] std::optional<BucketSet> parse_buckets(std::string_view text);

}  // namespace payoff
