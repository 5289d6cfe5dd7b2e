// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/program.hpp"

// START READING HERE: the commands are in cli/commands.cpp, the exit codes in cli/exit_code.hpp;
// what a command throws is caught in cli/program.cpp.

namespace {

payoff::Console terminal() {
  payoff::Console console{std::cout, std::cerr};
  if (isatty(STDERR_FILENO) != 0) {
    console.terminal_err = true;
    const char* no_color = std::getenv("NO_COLOR");
    console.color_err = no_color == nullptr || *no_color == '\0';
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
      console.width = size.ws_col;
    }
  }
  return console;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  payoff::Console console = terminal();
  try {
    const payoff::ExitCode code = payoff::run_program(words, payoff::all_commands(), console);
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "error: cannot write to standard output\n";
      return static_cast<int>(payoff::ExitCode::failure);
    }
    return static_cast<int>(code);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return static_cast<int>(payoff::ExitCode::failure);
  }
}
