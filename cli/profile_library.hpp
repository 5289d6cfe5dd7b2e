// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiles/library.hpp"

namespace payoff {

// The library that belongs to the running program: $PAYOFF_PROFILES, the installed folder or that
// of the source tree. Throws std::runtime_error when there is none.
[[nodiscard]] Library find_library();

}  // namespace payoff
