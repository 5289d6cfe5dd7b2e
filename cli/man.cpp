// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/conventions.hpp"
#include "cli/session.hpp"

// payoff man: the manual page, from the tables of the commands.

namespace payoff {
namespace {

// As troff takes it for what it is.
std::string plain(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) {
      escaped += "\\&";
    }
    line_begins = c == '\n';
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

std::string literal(std::string_view text) {
  return fmt::format(".PP\n.nf\n{}{}.fi\n", plain(text), text.ends_with('\n') ? "" : "\n");
}

std::string usage_of(const OptionSpec& option) {
  if (option.takes == Takes::nothing) {
    return fmt::format("\\fB{}\\fR", plain(option.name));
  }
  const bool optional = has_optional_value(option.takes);
  return fmt::format("\\fB{}\\fR {}\\fI{}\\fR{}{}", plain(option.name), optional ? "[" : "",
                     plain(option.value), optional ? "]" : "",
                     option.takes == Takes::values ? " ..." : "");
}

std::string section_of(const Command& command) {
  const PositionalSpec& words = command.positional;
  std::string text =
      fmt::format(".SS payoff {}\n{}.\n", plain(command.name), plain(command.summary));
  if (!words.name.empty()) {
    text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", plain(words.name), plain(words.help));
  }
  for (const OptionSpec& option : command.options) {
    text += fmt::format(".TP\n{}\n{}\n", usage_of(option), plain(option.help));
  }
  if (!command.details.empty()) {
    text += literal(command.details);
  }
  return text + ".PP\nExample:\n" + literal("  " + std::string(command.example));
}

ExitCode run_man(const Arguments& /*arguments*/, Session& session) {
  std::string text =
      ".TH PAYOFF 1 \"\" \"payoff " PAYOFF_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\npayoff \\- predicts when compressing communication makes distributed training "
      "faster\n"
      ".SH SYNOPSIS\n.B payoff\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.br\n.B payoff\n"
      "\\fICOMMAND\\fR \\fB\\-\\-help\\fR\n.br\n.B payoff\n\\fB\\-\\-version\\fR\n"
      ".SH DESCRIPTION\n";
  text += plain(streams_text) + ".PP\nEvery command takes these:\n";
  text +=
      fmt::format(".TP\n{}\n{}\n", usage_of(error_format_option), plain(error_format_option.help));
  text += ".TP\n\\fB\\-\\-help\\fR\nwhat it does, with its options\n.SH COMMANDS\n";
  for (const Command& command : all_commands()) {
    text += section_of(command);
  }
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_meanings) {
    text += fmt::format(".TP\n{}\n{}\n", static_cast<int>(code), plain(meaning));
  }
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables) {
    text += fmt::format(".TP\n.B {}\n{}\n", name, plain(meaning));
  }
  if (!session.diagnostics().has_errors()) {
    session.out() << text;
  }
  return session.report();
}

}  // namespace

Command man_command() {
  return {"man",
          "prints the manual page of all commands, for man and groff",
          "payoff man",
          {"", "", 0, 0},
          {},
          run_man,
          "An installed payoff has it as `man payoff`; this shows it from anywhere:\n"
          "  payoff man | man -l -\n"};
}

}  // namespace payoff
