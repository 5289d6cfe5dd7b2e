// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_options.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output_guard.hpp"
#include "profiles/import/samples.hpp"

namespace payoff {
namespace {

constexpr std::string_view fit_of_laws = "fit LAW";
constexpr std::string_view fit_of_samples = "fit SAMPLES";

struct OptionOf {
  std::string_view option;
  std::vector<std::string_view> actions;
};

const std::vector<OptionOf>& options_of() {
  static const std::vector<OptionOf> table{
      {"--check", {fit_of_laws}},
      {"--data", {fit_of_laws}},
      {"--out", {fit_of_laws}},
      {"-o", {"run", "import", fit_of_samples}},
      {"--force", {"run", "import", fit_of_samples}},
      {"--full", {"run"}},
      {"--dry-run", {"run"}},
      {"--only", {"run"}},
      {"--program", {"run"}},
      {"--format", {"import"}},
      {"--date", {"import"}},
      {"--implementation", {"import"}},
      {"--gpu", {"import", fit_of_samples}},
      {"--set", {"needs"}},
      {"--observed", {"needs"}},
      {"--json", {"needs", "diff"}},
  };
  return table;
}

std::string help_for(std::string_view option, std::string_view action,
                     const std::vector<std::string_view>& actions) {
  if (option == "--dry-run" && action == fit_of_laws) {
    return "`--check` fits and writes nothing";
  }
  if (option == "-o" && action == fit_of_laws) {
    return "name the samples to fit, or with `--out FOLDER` where the laws go";
  }
  return fmt::format("`{}` is of `{}`", option, fmt::join(actions, "`, `"));
}

}  // namespace

void check_replaced_samples(const Arguments& arguments, Session& session) {
  check_replaced(arguments, {"a file of samples", is_samples_file}, session);
}

void refuse_options_of_others(const Arguments& arguments, bool of_samples, Session& session) {
  const std::string& word = arguments.positionals().front().text;
  const std::string_view action = word != "fit" ? std::string_view(word)
                                  : of_samples  ? fit_of_samples
                                                : fit_of_laws;
  for (const auto& [option, value] : arguments.options()) {
    const auto& table = options_of();
    const auto known = std::find_if(table.begin(), table.end(), [&name = option](const auto& each) {
      return each.option == name;
    });
    if (known == table.end() ||
        std::find(known->actions.begin(), known->actions.end(), action) != known->actions.end()) {
      continue;
    }
    session.diagnostics().error(value.span, fmt::format("`{}` has no use for `{}`", action, option),
                                "", help_for(option, action, known->actions));
  }
}

}  // namespace payoff
