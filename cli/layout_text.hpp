// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "model/layout.hpp"

// Layouts in words, as options and as JSON: what differs from the simplest layout, in one order.

namespace payoff {

// "dp 2, tp 8 with sequence parallelism, pp 8 x 2 chunks, 64 x 1 samples, recompute selective"
[[nodiscard]] std::string layout_words(const ParallelLayout& layout);
// "--dp 2 --tp 8 ...": what makes this layout of the given one, which a file has: every degree, and
// of the rest what differs.
[[nodiscard]] std::string layout_options(const ParallelLayout& layout, const ParallelLayout& given);
// Its keys are those of an experiment file.
[[nodiscard]] nlohmann::ordered_json layout_json(const ParallelLayout& layout);

}  // namespace payoff
