// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command_line.hpp"

// The help of one command. The only user of CLI11, which takes 6 s to compile.

namespace payoff {

std::string help_text(const Command& command) {
  CLI::App app;
  app.name("payoff " + std::string(command.name));
  app.description(std::string(command.summary));
  app.set_help_flag();
  app.footer(std::string(command.details) + (command.details.empty() ? "" : "\n") + "Example:\n  " +
             std::string(command.example));
  std::vector<std::string> value;  // of no option: nothing is parsed
  for (const OptionSpec& option : options_of(command)) {
    const std::string name(option.name);
    const std::string help(option.help);
    if (option.takes == Takes::nothing) {
      app.add_flag(name, help);
      continue;
    }
    const bool optional = has_optional_value(option.takes);
    const bool repeated = option.takes == Takes::values;
    app.add_option(name, value, help)
        ->type_name(optional ? fmt::format("[{}]", option.value)
                             : std::string(option.value) + (repeated ? " ..." : ""))
        ->expected(1);
  }
  if (!command.positional.name.empty()) {
    std::string name(command.positional.name);
    name.resize(name.size() - (name.ends_with("...") ? 3 : 0));  // which the library adds
    app.add_option(name, value, std::string(command.positional.help))
        ->type_name("")
        ->expected(0, command.positional.most == 1 ? 1 : -1);
  }
  return app.help();
}

}  // namespace payoff
