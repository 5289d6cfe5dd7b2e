// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/session.hpp"

namespace payoff {

// The actions of `payoff calibrate` share a list of options, of which each has some: reports those
// that another one has. `of_samples`: `fit` has samples to fit, not the shipped laws.
void refuse_options_of_others(const Arguments& arguments, bool of_samples, Session& session);

// `-o` of `run` and `import` replaces samples alone: reports any other file.
void check_replaced_samples(const Arguments& arguments, Session& session);

}  // namespace payoff
