// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/conventions.hpp"
#include "cli/output_guard.hpp"
#include "cli/session.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

// As a shell would take it again.
std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_=./:,@%+") == std::string::npos;
  if (plain) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string command_line_of(std::span<const std::string> words) {
  std::string line = "payoff";
  for (const std::string& word : words.subspan(1)) {
    line += " " + shell_quoted(word);
  }
  return line;
}

std::string exit_text() {
  std::string text;
  for (const auto& [code, meaning] : exit_meanings) {
    text += fmt::format("{:13}{} {}\n", text.empty() ? "Exit status: " : "", static_cast<int>(code),
                        meaning);
  }
  return text;
}

std::string list_of_commands(std::span<const Command> commands) {
  std::string text =
      "Predicts when compressing communication makes distributed training faster.\n\n"
      "Usage: payoff COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const Command& command : commands) {
    text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  }
  return text +
         "\n`payoff COMMAND --help` explains one of them, `payoff --version` prints the "
         "version.\n" +
         "\n" + exit_text() + "\n" + std::string(streams_text) +
         "\nExamples:\n"
         "  payoff predict --model bert-large --cluster p3-8xlarge --nodes 8 --compress "
         "powersgd:rank=4\n"
         "  payoff collective all_reduce --cluster dgx-h100 --nodes 4 --sizes 8B..8GiB:x2\n";
}

ExitCode unknown_command(const std::string& word, std::span<const Command> commands,
                         std::size_t index, Session& session) {
  std::vector<std::string> names;
  std::string list;
  for (const Command& command : commands) {
    names.emplace_back(command.name);
    list += (list.empty() ? "" : ", ") + std::string(command.name);
  }
  const Span span{session.sources().add_argument(static_cast<int>(index), word), 0, word.size()};
  const bool is_option = word.starts_with("-");
  session.diagnostics().error(
      span, fmt::format("unknown {} {}", is_option ? "option" : "command", backquoted(word)),
      did_you_mean(closest(word, names)), "commands: " + list);
  return session.report();
}

// The value of `--error-format FORMAT` or `--error-format=FORMAT`, and how many words that is.
struct FormatOption {
  std::string text;
  std::size_t index{};
  std::size_t words{};
};

std::optional<FormatOption> format_at(std::span<const std::string> words, std::size_t at) {
  const std::string option(error_format_option.name);
  if (words[at] == option && at + 1 < words.size()) {
    return FormatOption{words[at + 1], at + 1, 2};
  }
  if (words[at].starts_with(option + "=")) {
    return FormatOption{words[at].substr(option.size() + 1), at, 1};
  }
  return std::nullopt;
}

// It is understood in front of the command too, and when nothing else is.
struct Start {
  std::size_t command = 1;  // where its name stands
  std::optional<FormatOption> format;
};

Start find_start(std::span<const std::string> words) {
  Start start;
  while (start.command < words.size()) {
    const auto found = format_at(words, start.command);
    if (!found) {
      break;
    }
    start.format = found;
    start.command += found->words;
  }
  for (std::size_t i = start.command; i < words.size() && !start.format; ++i) {
    start.format = format_at(words, i);
  }
  return start;
}

void read_error_format(const Start& start, std::span<const std::string> words, Session& session) {
  if (!start.format || start.format->text == "text") {
    return;
  }
  const FormatOption& format = *start.format;
  if (format.text == "json") {
    session.set_error_format(ErrorFormat::json);
    return;
  }
  const std::string& word = words[format.index];
  const std::size_t source = session.sources().add_argument(static_cast<int>(format.index), word);
  session.diagnostics().error(Span{source, word.size() - format.text.size(), format.text.size()},
                              "`--error-format` is neither text nor json");
}

}  // namespace

ExitCode run_program(std::span<const std::string> words, std::span<const Command> commands,
                     Console& console) {
  Session session(console, command_line_of(words));
  const Start start = find_start(words);
  const std::string first = start.command < words.size() ? words[start.command] : "--help";
  if (first == "--help" || first == "-h" || first == "help") {
    console.out << list_of_commands(commands);
    return ExitCode::success;
  }
  if (first == "--version") {
    console.out << "payoff " PAYOFF_VERSION "\n";
    return ExitCode::success;
  }
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& known) { return known.name == first; });
  read_error_format(start, words, session);
  if (command == commands.end()) {
    return unknown_command(first, commands, start.command, session);
  }
  session.set_command(first);
  const std::size_t behind = start.command + 1;
  const Arguments arguments =
      parse_arguments(*command, words.subspan(behind), static_cast<int>(behind), session.sources(),
                      session.diagnostics());
  if (arguments.help_wanted()) {
    console.out << help_text(*command);
    return ExitCode::success;
  }
  check_distinct_outputs(arguments, session);
  if (!arguments.complete()) {
    return session.report();
  }
  // With a mistake so far the command looks for more of them, and does nothing else.
  try {
    return command->run(arguments, session);
  } catch (const std::exception& error) {
    return session.report_failure(error.what());
  }
}

}  // namespace payoff
