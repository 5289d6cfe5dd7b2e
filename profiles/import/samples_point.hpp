// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/import/json_values.hpp"
#include "profiles/import/samples.hpp"

// What a point of a samples file moved and computed, and the times that it took (internal to the
// reader).

namespace payoff::import_detail {

// Traffic, arithmetic, launches, and how the samples were taken.
void read_amounts(const Node& node, SamplesPoint& point, JsonValues& values);

// The times, their clocks, and what those of another program stand for.
void read_times(const Node& node, SamplesPoint& point, JsonValues& values);

}  // namespace payoff::import_detail
