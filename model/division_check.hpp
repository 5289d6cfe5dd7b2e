// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/experiment.hpp"
#include "model/problem.hpp"

namespace payoff {

// What a layout asks of a model that cannot be divided so: heads, columns, tokens and experts of a
// transformer, tables of a recommender, a table of layers. Of a layout whose tp is at least 1;
// added to the problems that are known, which may name the same fields.
void check_division(const Experiment& experiment, Problems& problems);

}  // namespace payoff
