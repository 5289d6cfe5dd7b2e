// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/layout.hpp"
#include "profiles/section.hpp"

namespace payoff {

// Of the section `training`: data_time, data_prefetch, host_jitter, checkpoint. None of them is
// there unless the user states it.
void read_overheads(const Section& section, Training& training);

}  // namespace payoff
