// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"
#include "profiles/section.hpp"

namespace payoff {

// The `training` of an experiment on this GPU.
void read_training(const Section& section, const Gpu& gpu, Training& training);

}  // namespace payoff
