// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "cli/command_line.hpp"

// What the words of `payoff explain` are: `FILE TERM`, or with options instead of a file `TERM`.

namespace payoff {

// What all terms add up to: asking for it is asking for all of them.
inline constexpr std::string_view whole_step = "step";

struct ExplainQuestion {
  std::optional<Argument> file;
  std::optional<Argument> term;
};

[[nodiscard]] ExplainQuestion read_explain_question(const Arguments& arguments);

}  // namespace payoff
