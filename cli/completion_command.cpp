// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/option_values.hpp"
#include "cli/profile_library.hpp"

// payoff completion: for the shell, and what the shell asks.

namespace payoff {
namespace {

constexpr std::string_view question = "candidates";

void print_candidates(std::vector<std::string> words, Session& session) {
  if (words.empty()) {
    words.emplace_back();
  }
  const std::vector<Command> commands = all_commands();
  const Completion found = complete(words, commands, find_library());
  for (const CompletedWord& candidate : found.candidates) {
    session.out() << fmt::format("{}\t{}\n", candidate.text, candidate.help);
  }
  if (found.files) {
    session.out() << ":files\n";
  }
}

ExitCode run_completion(const Arguments& arguments, Session& session) {
  const Argument& first = arguments.positionals().front();
  if (first.text == question) {
    // Whatever else is wrong with an unfinished line is not for now.
    print_candidates(arguments.behind_action(), session);
    return ExitCode::success;
  }
  const std::vector<std::pair<std::string, std::string>> shells{
      {"bash", "bash"}, {"zsh", "zsh"}, {"fish", "fish"}};
  const auto shell = named_value("a shell", first, shells, session);
  if (shell && arguments.positionals().size() > 1) {
    session.diagnostics().error(arguments.positionals()[1].span, "one shell at a time");
  }
  if (shell && !session.diagnostics().has_errors()) {
    session.out() << completion_script(*shell);
  }
  return session.report();
}

}  // namespace

Command completion_command() {
  return {"completion",
          "prints what makes bash, zsh or fish complete command lines",
          "payoff completion bash",
          {"SHELL", "bash, zsh or fish", 1, 10'000},
          {},
          run_completion,
          "Commands, options, profiles, methods, keys and their values are completed:\n"
          "  bash   source <(payoff completion bash), in ~/.bashrc\n"
          "  zsh    payoff completion zsh > _payoff, in a folder of $fpath\n"
          "  fish   payoff completion fish > ~/.config/fish/completions/payoff.fish\n"
          "The scripts ask `payoff completion candidates -- WORDS`, the last of which is "
          "unfinished.\n"};
}

}  // namespace payoff
