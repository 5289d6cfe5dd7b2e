// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// The arguments of one subcommand, each with its place, so that whatever is wrong with a value is
// shown under the argument it came from. Values are texts: what they mean is decided by the reader
// of profiles/ that also reads files.

namespace payoff {

struct Argument {
  std::string text;
  int index{};  // of the word on the command line; the program is 0
  Span span;
};

class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view option) const;
  [[nodiscard]] std::optional<Argument> value(std::string_view option) const;
  [[nodiscard]] std::vector<Argument> values(std::string_view option) const;
  // The first of these that was given.
  [[nodiscard]] std::optional<Argument> first_of(
      std::initializer_list<std::string_view> options) const;
  [[nodiscard]] const std::vector<Argument>& positionals() const { return positionals_; }
  // The texts of the others where the first one says what to do with them.
  [[nodiscard]] std::vector<std::string> behind_action() const;
  // All that were given, by name.
  [[nodiscard]] const std::vector<std::pair<std::string, Argument>>& options() const {
    return options_;
  }
  [[nodiscard]] bool help_wanted() const { return has("--help"); }
  // Whether no positional is missing: without them a command cannot even look for more mistakes.
  [[nodiscard]] bool complete() const { return complete_; }
  // The options that name a file to write (OptionSpec::writes), with what they were given.
  [[nodiscard]] const std::vector<std::pair<std::string, Argument>>& outputs() const {
    return outputs_;
  }

 private:
  friend class CommandLineParser;
  std::vector<std::pair<std::string, Argument>> outputs_;
  bool complete_ = true;
  std::vector<std::pair<std::string, Argument>> options_;
  std::vector<Argument> positionals_;
};

// Where a mistake of it stands; nowhere where it was not given.
[[nodiscard]] std::optional<Span> span_of(const std::optional<Argument>& argument);

// `words` are what follows the name of the subcommand; the first one has place `first_index`.
// Everything that is wrong is reported: unknown options with a suggestion, missing values, too few
// or too many arguments. An option without a value has an empty text.
[[nodiscard]] Arguments parse_arguments(const Command& command, std::span<const std::string> words,
                                        int first_index, SourceMap& sources,
                                        Diagnostics& diagnostics);

// Those of its table, and what every command takes.
[[nodiscard]] std::vector<OptionSpec> options_of(const Command& command);

[[nodiscard]] std::string help_text(const Command& command);

}  // namespace payoff
