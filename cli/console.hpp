// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>

#include "cli/typed_form.hpp"

// Where a command prints: data on `out`, talk on `err`. Colour is for terminals only.

namespace payoff {

struct Console {
  std::ostream& out;
  std::ostream& err;
  bool color_err{};        // stderr is a terminal, and NO_COLOR is not set
  std::size_t width{120};  // of the terminal behind stderr
  bool terminal_err{};     // there is one
  TypedForm pictures{};    // what stdout can show of characters
};

}  // namespace payoff
