// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>

#include "model/problem.hpp"

namespace payoff {

// Behind those that a check has found already, what another one says.
inline void append(Problems& problems, Problems more) {
  problems.insert(problems.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
}

}  // namespace payoff
