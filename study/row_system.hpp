// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study/row_compression.hpp"
#include "study/row_usual.hpp"

// Part of row_compression: systems in which not every worker compresses alike. Gradients are summed
// inside the node and compressed on the way between nodes alone, by GPUs (HiTopKComm, HiPress,
// Bagua) or by the cores of the host, which send to each other or to servers (BytePS); or the
// system tries such ways and takes for each tensor what is fastest (Espresso).

namespace payoff {

enum class Scheme { workers, nodes, hosts, servers, chosen, neighbours };

[[nodiscard]] Scheme scheme_of(const TrainingRow& row);

// Turns plans of all workers, as rules or the usual profiles give them, into those of the scheme.
// Nothing else is asked of `result` where the scheme has profiles of its own.
void apply_scheme(const TrainingRow& row, const MethodCatalogue& methods, RowPlan& result);

}  // namespace payoff
