// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/output_files.hpp"
#include "cli/output_guard.hpp"
#include "cli/refused_files.hpp"
#include "cli/sweep_log.hpp"
#include "cli/sweep_merge.hpp"

// payoff merge: the shards of a sweep as one file, or as CSV.

namespace payoff {
namespace {

constexpr OptionSpec merged_option{"-o", "FILE", "all results as one file of JSON Lines",
                                   Takes::value, true};

ExitCode run_merge(const Arguments& arguments, Session& session) {
  const std::optional<Argument> output = arguments.value(merged_option.name);
  const std::optional<Argument> csv = arguments.value(csv_option.name);
  if (!output && !csv) {
    session.diagnostics().error(std::nullopt, "`payoff merge` needs -o FILE or --csv FILE");
  }
  check_json_lines(output, "`--csv FILE` writes CSV", session);
  std::vector<std::filesystem::path> files;
  for (const Argument& file : arguments.positionals()) {
    files.emplace_back(file.text);
    session.reads(file.text);
  }
  (void)inputs_are_kept(arguments, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  try {
    const std::string log = merged_log(files);
    const std::string table = csv ? csv_of_log(log, files.front()) : "";
    OutputFiles results;
    if (output) {
      results.add(output->text, log);
    }
    deliver({"", "", table}, arguments, results, session);
  } catch (const RefusedFiles& refused) {
    report_refused(refused, arguments.positionals(), session);
  }
  return session.report();
}

}  // namespace

Command merge_command() {
  return {"merge",
          "joins the shards of a sweep into one file, or makes CSV of it",
          "payoff merge runs.jsonl --csv runs.csv",
          {"FILE", "results of `payoff sweep`: all shards of one sweep", 1, 1'000'000},
          {merged_option, csv_option},
          run_merge};
}

}  // namespace payoff
