// SPDX-License-Identifier: Apache-2.0
#include "cli/plot_results.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/file_text.hpp"
#include "cli/json_output.hpp"
#include "cli/output_files.hpp"
#include "cli/picture_file.hpp"
#include "cli/plot_request.hpp"
#include "cli/progress_line.hpp"
#include "cli/refused_files.hpp"
#include "cli/result_choice.hpp"
#include "cli/result_question.hpp"
#include "cli/result_view.hpp"
#include "cli/sweep_lines.hpp"
#include "cli/sweep_log.hpp"
#include "cli/sweep_merge.hpp"
#include "cli/sweep_results.hpp"

namespace payoff {
namespace {

// The others are keys of experiments, or ask for what is computed.
constexpr std::array<std::string_view, 10> options_of_results{
    "--x", "--y",        "--by",         "--where", "--plan",
    "-o",  "--terminal", "--characters", "--csv",   "--error-format"};

void refuse_other_options(const Arguments& arguments, Session& session) {
  for (const auto& [name, given] : arguments.options()) {
    if (name == "--quantity") {
      session.diagnostics().error(given.span, "`--quantity` is of experiments", {},
                                  "`--y COLUMN` says what of the results is drawn");
    } else if (std::find(options_of_results.begin(), options_of_results.end(), name) ==
               options_of_results.end()) {
      session.diagnostics().error(
          given.span, fmt::format("`{}` does not go with results of a sweep", name), {},
          "nothing is computed anew: `--where COLUMN=VALUE` chooses among them");
    }
  }
}

std::optional<SweepResults> load(const Arguments& arguments, Session& session) {
  std::vector<std::filesystem::path> files;
  for (const Argument& file : arguments.positionals()) {
    if (!holds_results(file.text)) {
      session.diagnostics().error(
          file.span, fmt::format("{} is no result of `payoff sweep`", backquoted(file.text)), {},
          "experiments and results are drawn by themselves");
    }
    files.emplace_back(file.text);
    session.reads(file.text);
  }
  if (session.diagnostics().has_errors()) {
    return std::nullopt;
  }
  try {
    const auto asked = ProgressLine::Clock::now();  // of large files much of the time is the disk's
    std::optional<ProgressLine> line;
    return sweep_results(
        files.size() == 1 ? begun_log(files.front()) : merged_log(files),
        [&](std::size_t done, std::size_t all) {
          line ? line->at(done)
               : static_cast<void>(line.emplace(done, all, "results", session, asked));
        });
  } catch (const RefusedFiles& refused) {
    report_refused(refused, arguments.positionals(), session);
  } catch (const BrokenLine& broken) {  // shards were read before: it is of one file
    report_refused(RefusedFiles({broken_line(files.front(), broken.line())}),
                   arguments.positionals(), session);
  } catch (const std::runtime_error& error) {
    session.cannot_read(error.what());
  }
  return std::nullopt;
}

void warn_of_missing(const SweepResults& results, const Argument& file, Session& session) {
  const std::size_t all = results.jobs * results.strategies.size();
  if (results.rows >= all) {
    return;
  }
  session.diagnostics().warning(
      file.span, fmt::format("{} of {} results are drawn", results.rows, all), {},
      results.shards > 1 ? "this is one shard of the sweep: name all of its files"
                         : "`payoff sweep --resume` finishes it");
}

// The axes that are not drawn, each with its value where all that is drawn has one; those that
// differ are said to, unless they only make the number of GPUs that is drawn.
std::string values_in_common(const SweepResults& results, const ResultQuestion& question,
                             std::vector<std::string>& captions) {
  std::string common;
  for (const ResultAxis& axis : results.axes) {
    const bool drawn =
        axis.column == question.x || (question.is_map && axis.column == question.y) ||
        std::find(question.by.begin(), question.by.end(), axis.column) != question.by.end();
    if (drawn || question.rows.empty()) {
      continue;
    }
    const std::string value = results.value_text(axis.column, question.rows.front());
    const bool fixed =
        std::all_of(question.rows.begin(), question.rows.end(),
                    [&](std::size_t row) { return results.value_text(axis.column, row) == value; });
    const std::string& name = results.columns[axis.column].name;
    const std::string word = name.substr(0, name.size() - unit_suffix(name).size());
    const bool follows = results.columns[question.x].name == "gpus" && adds_gpus(axis.key);
    if (!fixed && !follows) {
      captions.push_back(fmt::format("{} differs from place to place.", word));
    } else if (fixed) {
      common += fmt::format("{}{} {}", common.empty() ? "" : ", ", word, value);
    }
  }
  return common;
}

}  // namespace

bool holds_results(const std::string& file) {
  if (file.ends_with(".jsonl")) {
    return true;
  }
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) {
    return false;
  }
  const std::string text = beginning_of(file, 64);
  return text.starts_with('{') && text.find("\"kind\":\"sweep\"") != std::string::npos;
}

ExitCode plot_results(const Arguments& arguments, Session& session) {
  PlotRequest request;
  refuse_other_options(arguments, session);
  read_picture(arguments, request, session);
  const std::optional<SweepResults> results = load(arguments, session);
  if (!results) {
    return session.report();
  }
  const ResultQuestion question = read_result_question(*results, arguments, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_missing(*results, arguments.positionals().front(), session);
  const std::optional<PlotView> view = question.is_map
                                           ? view_result_map(*results, question, session)
                                           : view_result_curves(*results, question, session);
  if (!view) {
    return session.report();
  }
  OutputFiles files;
  if (request.output) {
    add_picture(*view, request.output->text, files);
  }
  deliver({request.form ? view->typed(*request.form) : "", {}, view->csv}, arguments, files,
          session);
  return session.report();
}

std::vector<std::string> result_captions(const SweepResults& results,
                                         const ResultQuestion& question) {
  std::vector<std::string> captions;
  std::string common = values_in_common(results, question, captions);
  if (!question.plan.empty() && !question.is_map) {
    common += fmt::format("{}strategy {}", common.empty() ? "" : ", ", question.plan);
  }
  if (!common.empty()) {
    captions.push_back("All with " + common + ".");
  }
  if (results.engine == "sim") {
    captions.emplace_back("Simulated.");
  }
  const auto status = results.column("status");
  const auto large =
      std::count_if(question.rows.begin(), question.rows.end(), [&](std::size_t row) {
        return status && results.columns[*status].texts[row] == "does not fit";
      });
  if (large > 0 && !question.is_map) {
    captions.push_back(
        fmt::format("{} of {} results do not fit a GPU.", large, question.rows.size()));
  }
  if (question.refused > 0 && !question.is_map) {
    captions.push_back(
        fmt::format("{} more have no prediction, and are not drawn.", question.refused));
  }
  return captions;
}

}  // namespace payoff
