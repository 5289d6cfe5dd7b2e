// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

// CLI11 hands out texts without their places on the command line, so the place travels behind the
// text.

namespace payoff {

// The words for CLI11, all but options with their places. `--json FILE.json` becomes
// `--json=FILE.json`, a lone `--json` takes nothing: the word behind it may be the experiment,
// which must not be overwritten.
[[nodiscard]] std::vector<std::string> with_places(const std::vector<OptionSpec>& options,
                                                   std::span<const std::string> words,
                                                   int first_index);

// Its text, and its place; 0 where it has none.
[[nodiscard]] Argument unmarked(const std::string& word);

}  // namespace payoff
