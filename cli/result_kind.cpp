// SPDX-License-Identifier: Apache-2.0
#include "cli/result_kind.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/file_text.hpp"
#include "cli/json_output.hpp"

namespace payoff {
namespace {

constexpr std::string_view json_blanks = " \t\r\n";

// What is left of the text behind `word`, with or without json_blanks before it.
bool skip(std::string_view& text, std::string_view word) {
  text.remove_prefix(std::min(text.find_first_not_of(json_blanks), text.size()));
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  return true;
}

// Of a few kinds the command has another name.
std::string command_of(std::string_view kind) {
  return kind == "needs"            ? "calibrate needs"
         : kind == "gpu_difference" ? "calibrate diff"
         : kind == "validation"     ? "validate"
                                    : std::string(kind);
}

}  // namespace

std::optional<std::string> result_command(const std::string& file) {
  const std::string beginning = beginning_of(file, 256);
  std::string_view text = beginning;
  const std::string schema = std::to_string(result_schema);
  for (const std::string_view word : std::initializer_list<std::string_view>{
           "{", "\"schema\"", ":", schema, ",", "\"kind\"", ":", "\""}) {
    if (!skip(text, word)) {
      return std::nullopt;
    }
  }
  const std::size_t end = text.find('"');
  return end == std::string_view::npos ? std::nullopt
                                       : std::optional(command_of(text.substr(0, end)));
}

bool is_repeatable(std::string_view command) {
  constexpr std::array<std::string_view, 13> repeatable{
      "predict", "simulate",   "explain",  "run",     "diff",     "search", "switch",
      "survey",  "collective", "profiles", "methods", "validate", "advise"};
  return std::find(repeatable.begin(), repeatable.end(), command) != repeatable.end();
}

bool refuse_result(const Argument& file, std::string_view wanted, Session& session) {
  const std::optional<std::string> kind = result_command(file.text);
  if (!kind) {
    return false;
  }
  const std::string_view readers =
      *kind == "sweep"     ? "`payoff plot` draws it, `payoff merge` joins shards and makes CSV"
      : *kind == "predict" ? "`payoff report` shows it, `payoff rerun` and `payoff diff` compare it"
      : is_repeatable(*kind) ? "`payoff rerun` runs its command line again"
                             : "";
  session.diagnostics().error(
      file.span,
      fmt::format("{} is a result of `payoff {}`, not {}", backquoted(file.text), *kind, wanted),
      {}, std::string(readers));
  return true;
}

bool refuse_grid(const Document& document, Session& session) {
  const Entry* over = document.root.find("over");
  if (over == nullptr) {
    return false;
  }
  if (session.command() == "sweep") {
    session.diagnostics().error(over->key_span, "this is a grid of `payoff survey`", {},
                                "`payoff survey` runs it; `payoff sweep` has its axes as `--over "
                                "KEY=VALUES`, over one experiment");
    return true;
  }
  session.diagnostics().error(
      over->key_span, "this is a grid of experiments, not one experiment", {},
      "`payoff survey` runs it; `payoff sweep` has its axes as `--over KEY=VALUES`, and of one job "
      "`payoff plot` and `payoff report` draw curves along an axis");
  return true;
}

}  // namespace payoff
