// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cli/command_line.hpp"

// Options of the axes of `payoff plot`.

namespace payoff {

// The options of one axis.
struct AxisOptions {
  const char* axis;
  const char* from;
  const char* to;
};
inline constexpr AxisOptions x_options{"--x", "--from", "--to"};
inline constexpr AxisOptions y_options{"--y", "--y-from", "--y-to"};

// The option that set an end of the range, the upper one first.
[[nodiscard]] std::optional<Span> range_place(const Arguments& arguments,
                                              const AxisOptions& options);

}  // namespace payoff
