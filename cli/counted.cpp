// SPDX-License-Identifier: Apache-2.0
#include "cli/counted.hpp"

#include <fmt/format.h>

namespace payoff {

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace payoff
