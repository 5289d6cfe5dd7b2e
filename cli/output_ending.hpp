// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cli/command_line.hpp"
#include "cli/session.hpp"

namespace payoff {

// Reports the name of a file to write that does not end in `ending`; a device or a pipe has any.
void check_ending(const Argument& out, std::string_view ending, Session& session);

}  // namespace payoff
