// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "profiles/library.hpp"

// What may stand at the end of an unfinished command line. Commands and options come from their own
// tables, names of profiles from the library, names of values from what the reader of experiments
// asks for: nothing is listed a second time. The shells only hand over their words
// (completion_script.cpp).

namespace payoff {

struct CompletedWord {
  std::string text;  // one that ends in =, : or . goes on
  std::string help;  // may be empty
};

struct Completion {
  std::vector<CompletedWord> candidates;  // those that begin with the last word
  bool files{};                           // files fit, too
};

// `words` are those behind `payoff`, the last of which is unfinished and may be empty.
[[nodiscard]] Completion complete(std::span<const std::string> words,
                                  std::span<const Command> commands, const Library& library);

// Of a plan whose last method has its colon, "powersgd:ra": the parameters of the method and the
// options of all, each with what is typed before it, whether or not they begin as what is typed.
// nullopt where the last method has no colon yet.
[[nodiscard]] std::optional<std::vector<CompletedWord>> completed_parameters(
    const std::string& typed, const Library& library);

// For bash, zsh or fish; empty for any other shell.
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace payoff
