// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/experiment.hpp"

// What is wrong with combinations of values, also where some of the values are wrong themselves:
// whoever read them says which parts are as they were written.

namespace payoff {

struct SoundParts {
  bool cluster = true;  // all of it
  bool gpus = true;     // how many it has
  bool training = true;
  bool model = true;
  bool layout = true;
  // Of a layout that is not: what it may have been. What is wrong with all of them is told.
  std::vector<ParallelLayout> meant_layouts = {};
  bool plans = true;  // those that the experiment holds
};

// The problems of check() that rest on sound parts alone.
[[nodiscard]] Problems check(const Experiment& experiment, const SoundParts& sound);

}  // namespace payoff
