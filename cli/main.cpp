// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

// Exit codes: 0 done, 1 the world (file missing, disk full), 2 the user's input.
int main(int argc, char** argv) {
  try {
    CLI::App app{"Predicts when compressing communication makes distributed training faster",
                 "payoff"};
    app.set_version_flag("--version", "payoff " PAYOFF_VERSION);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : 2;
    }
    std::cout << app.help();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
