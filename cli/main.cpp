// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/program.hpp"

// START READING HERE: the commands are in cli/commands.cpp, the exit codes in cli/exit_code.hpp;
// what a command throws is caught in cli/program.cpp.

namespace {

constexpr std::size_t fewest_columns = 40;

// Of a terminal: what its user says, as `COLUMNS=60 payoff ...`, else what it says itself.
std::optional<std::size_t> columns_of(int descriptor) {
  if (isatty(descriptor) == 0) {
    return std::nullopt;
  }
  if (const char* set = std::getenv("COLUMNS"); set != nullptr) {
    std::size_t columns = 0;
    const std::string_view text(set);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size() && columns > 0) {
      return std::max(columns, fewest_columns);
    }
  }
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, fewest_columns);
  }
  return std::nullopt;
}

// The first of these that says something is the locale; whether its characters are those of
// Unicode.
bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const char* set = std::getenv(name); set != nullptr && *set != '\0') {
      std::string locale(set);
      std::transform(locale.begin(), locale.end(), locale.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      return locale.find("UTF-8") != std::string::npos || locale.find("UTF8") != std::string::npos;
    }
  }
  return false;
}

payoff::Console terminal() {
  payoff::Console console{std::cout, std::cerr};
  const char* no_color = std::getenv("NO_COLOR");
  const bool color = no_color == nullptr || *no_color == '\0';
  console.terminal_err = isatty(STDERR_FILENO) != 0;
  console.color_err = console.terminal_err && color;
  console.width = columns_of(STDERR_FILENO).value_or(console.width);
  payoff::TypedForm& pictures = console.pictures;
  pictures.columns = columns_of(STDOUT_FILENO).value_or(pictures.columns);
  pictures.unicode = has_unicode();
  pictures.color = color && isatty(STDOUT_FILENO) != 0;
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
