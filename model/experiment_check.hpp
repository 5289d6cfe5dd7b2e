// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  bool plans = true;  // those that the experiment holds
};

// The problems of check() that rest on sound parts alone.
[[nodiscard]] Problems check(const Experiment& experiment, const SoundParts& sound);

}  // namespace payoff
