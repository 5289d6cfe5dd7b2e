// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "profiles/document.hpp"

// A result where an input belongs: told for what it is, not key by key for what it is not.

namespace payoff {

// The command whose result the file is, by its first keys (cli/json_output.hpp): "predict". Nothing
// where it is another file, or none.
[[nodiscard]] std::optional<std::string> result_command(const std::string& file);

// Whether `payoff rerun` runs its command lines: those that only read, and say what. Others start
// programs or write files, which no result may ask for.
[[nodiscard]] bool is_repeatable(std::string_view command);

// Reports a result, with the commands that read it; `wanted` as in "an experiment".
[[nodiscard]] bool refuse_result(const Argument& file, std::string_view wanted, Session& session);

// The same for the experiment of a sweep or survey, whose axes are no keys of one experiment.
[[nodiscard]] bool refuse_grid(const Document& document, Session& session);

}  // namespace payoff
