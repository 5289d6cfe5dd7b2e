// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/chart.hpp"
#include "cli/typed_form.hpp"

// A line chart of Braille dots (cli/braille_canvas.hpp), without gnuplot. What has an entry in the
// legend is told by its sign there, which stands on the line now and then, at other places on every
// line; colours are an addition. Base and rival are dotted and dashed.

namespace payoff {

inline constexpr std::string_view base_sign = "─";
inline constexpr std::string_view rival_sign = "═";
inline constexpr std::string_view limit_sign = "│";

// What lies between the axes, and these with their numbers; lines of at most `form.columns`.
[[nodiscard]] std::string braille_picture(const Chart& chart, const TypedForm& form);

}  // namespace payoff
