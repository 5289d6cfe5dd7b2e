// SPDX-License-Identifier: Apache-2.0
#include "cli/output_guard.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/file_text.hpp"
#include "cli/output_place.hpp"

namespace payoff {
namespace {

namespace fs = std::filesystem;

using Output = std::pair<std::string, Argument>;

bool is_stdout(const Output& output) {
  const bool may_be = output.first == json_option.name || output.first == csv_option.name;
  return may_be && (output.second.text.empty() || output.second.text == "-");
}

fs::path resolved(const fs::path& path) {
  std::error_code unknown;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  return unknown ? path : whole;
}

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code differs;
  return fs::equivalent(a, b, differs) || resolved(a) == resolved(b);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  const fs::path inner = resolved(file);
  const fs::path outer = resolved(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

bool collide(const Output& a, const Output& b) {
  if (is_stdout(a) || is_stdout(b)) {
    return is_stdout(a) && is_stdout(b);
  }
  return !is_special(a.second.text) && is_same(a.second.text, b.second.text);
}

void report_collision(const Output& first, const Output& second, Session& session) {
  const bool on_stdout = is_stdout(second);
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("`{}` and `{}` both write {}", first.first, second.first,
                                   on_stdout ? "standard output" : backquoted(second.second.text));
  diagnostic.span = second.second.span;
  diagnostic.help = on_stdout ? "give one of them a file" : "give one of them another name";
  diagnostic.notes = {
      fmt::format("`{}` is {}", first.first, session.sources().place(first.second.span))};
  session.diagnostics().add(std::move(diagnostic));
}

}  // namespace

void check_distinct_outputs(const Arguments& arguments, Session& session) {
  const std::vector<Output>& outputs = arguments.outputs();
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    const auto end = outputs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto first = std::find_if(
        outputs.begin(), end, [&](const Output& other) { return collide(other, outputs[i]); });
    if (first != end) {
      report_collision(*first, outputs[i], session);
    }
  }
}

bool is_input(const fs::path& file, Session& session) {
  std::error_code unknown;
  if (!fs::exists(file, unknown) || is_special(file)) {
    return false;
  }
  const SourceMap& sources = session.sources();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].argument && is_same(file, sources[i].name)) {
      return true;
    }
  }
  return std::any_of(session.inputs().begin(), session.inputs().end(), [&](const fs::path& input) {
    return is_same(file, input) || (fs::is_directory(input, unknown) && lies_in(file, input));
  });
}

void check_save(const Arguments& arguments, Session& session) {
  const auto save = arguments.value("--save");
  std::error_code ignored;
  if (save && !arguments.has("--force") && !is_input(save->text, session) &&
      fs::is_regular_file(save->text, ignored)) {
    session.diagnostics().error(save->span, "`--save`: the file exists", {},
                                "`--force` writes over it");
  }
}

void check_replaced(const Arguments& arguments, const OwnOutput& output, Session& session) {
  const auto out = arguments.value("-o");
  std::error_code ignored;
  if (!out || arguments.has("--force") || !fs::is_regular_file(out->text, ignored) ||
      is_input(out->text, session)) {
    return;
  }
  constexpr std::size_t enough = 4096;  // to say what it is
  const std::string beginning = beginning_of(out->text, enough);
  if (!beginning.empty() && !output.is_own(beginning)) {
    session.diagnostics().error(
        out->span, fmt::format("{} is there, and is not {}", backquoted(out->text), output.what),
        "not written over", "give the result another name, or `--force`");
  }
}

bool inputs_are_kept(const Arguments& arguments, Session& session) {
  bool kept = true;
  for (const Output& output : arguments.outputs()) {
    if (is_stdout(output) || !is_input(output.second.text, session)) {
      continue;
    }
    session.diagnostics().error(output.second.span,
                                backquoted(output.second.text) + " is an input of this run",
                                "not written over", "give the result another name");
    kept = false;
  }
  return kept;
}

void check_json_lines(const std::optional<Argument>& output, const std::string& help,
                      Session& session) {
  if (output && std::filesystem::path(output->text).extension() == ".csv") {
    session.diagnostics().error(
        output->span, fmt::format("{} would be JSON Lines, not CSV", output->text), {}, help);
  }
}

}  // namespace payoff
