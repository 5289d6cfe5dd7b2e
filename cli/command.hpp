// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"

// What a subcommand is: the words it understands, and the function that does it. The tables are
// data, so that parsing, help and suggestions are written once (cli/command_line.hpp).

namespace payoff {

class Arguments;
class Session;

enum class Takes {
  nothing,          // a flag
  value,            // --nodes N, --nodes=N
  values,           // the same, any number of times
  optional_file,    // --json, --json=FILE, --json FILE.json
  optional_number,  // --worst, --worst=5, --worst 5
};

[[nodiscard]] constexpr bool has_optional_value(Takes takes) {
  return takes == Takes::optional_file || takes == Takes::optional_number;
}

struct OptionSpec {
  std::string_view name;   // "--nodes"
  std::string_view value;  // as shown in the help; empty for a flag
  std::string_view help;
  Takes takes{Takes::value};
  bool writes{};  // the value names a file that the command writes (cli/output_guard.hpp)
};

struct PositionalSpec {
  std::string_view name;  // empty: the command takes none
  std::string_view help;
  std::size_t least{};
  std::size_t most{};
};

struct Command {
  std::string_view name;
  std::string_view summary;  // one line, for the list of commands
  std::string_view example;  // one or two command lines
  PositionalSpec positional;
  std::vector<OptionSpec> options;
  ExitCode (*run)(const Arguments&, Session&);
  std::string_view details{};  // below the options in the help; may be empty
};

inline constexpr OptionSpec json_option{
    "--json", "FILE", "the result as JSON instead of the table, or to FILE, which ends in .json",
    Takes::optional_file, true};
inline constexpr OptionSpec csv_option{"--csv", "FILE", "the table as CSV to FILE, `-` for stdout",
                                       Takes::value, true};
inline constexpr OptionSpec error_format_option{
    "--error-format", "FORMAT", "text (the default) or json, for editors", Takes::value};

}  // namespace payoff
