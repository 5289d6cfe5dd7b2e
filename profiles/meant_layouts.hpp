// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "profiles/document.hpp"
#include "profiles/source_map.hpp"

namespace payoff {

// What a `layout` may have been meant to be, some of whose values were refused: without them, and
// with other values in the place of each. What is wrong with every one of them is wrong whatever
// was meant, and can be told beside the refusals. `refused`: paths below `layout`.
[[nodiscard]] std::vector<ParallelLayout> meant_layouts(const Node& layout,
                                                        const std::vector<std::string>& refused,
                                                        const Cluster& cluster, bool knows_gpus,
                                                        const SourceMap& sources);

}  // namespace payoff
