// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/file_text.hpp"
#include "cli/finding_places.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "cli/picture_file.hpp"
#include "cli/profile_library.hpp"
#include "cli/scatter_chart.hpp"
#include "cli/sha256.hpp"
#include "cli/validation_data.hpp"
#include "cli/validation_report.hpp"
#include "profiles/diagnostics.hpp"
#include "study/published_cases.hpp"

// payoff validate: published measurements, predicted and compared.

namespace payoff {
namespace {

constexpr int default_worst = 5;         // of a kind, below the tables
constexpr int default_worst_alone = 10;  // instead of them

constexpr OptionSpec plot_option{
    "--plot", "FILE",
    "instead of the tables a picture (.png .svg .pdf .gp) of predicted against measured, of one "
    "--set",
    Takes::values, true};

struct Request {
  std::set<CaseKind> kinds;
  std::vector<Argument> pictures;
  std::optional<Half> half;  // nullopt: both
  GroupBy by{GroupBy::source};
  int worst{default_worst};
  bool only_worst{};
};

const std::vector<std::pair<std::string, GroupBy>>& groupings() {
  static const std::vector<std::pair<std::string, GroupBy>> names{
      {"source", GroupBy::source}, {"size", GroupBy::size}, {"scale", GroupBy::scale}};
  return names;
}

std::set<CaseKind> read_kinds(const Arguments& arguments, Session& session) {
  const std::set<CaseKind> all{CaseKind::collective, CaseKind::step, CaseKind::compression};
  std::vector<std::pair<std::string, std::set<CaseKind>>> names{{"all", all}};
  for (const CaseKind kind : all) {
    names.emplace_back(name(kind), std::set{kind});
  }
  const std::vector<Argument> asked = arguments.values("--set");
  std::set<CaseKind> kinds = asked.empty() ? all : std::set<CaseKind>{};
  for (const Argument& argument : asked) {
    if (const auto chosen = named_value("a set", argument, names, session)) {
      kinds.insert(chosen->begin(), chosen->end());
    }
  }
  return kinds;
}

// All of one kind: times and speedups share no axes.
std::vector<Argument> read_pictures(const Arguments& arguments, const std::set<CaseKind>& kinds,
                                    Session& session) {
  std::vector<Argument> pictures = arguments.values(plot_option.name);
  for (const Argument& file : pictures) {
    check_picture(file, session);
  }
  if (!pictures.empty() && kinds.size() != 1) {
    session.diagnostics().error(pictures.front().span, "a picture has one kind of cases", "",
                                "with --set collective, --set step or --set compression");
  }
  return pictures;
}

Request read_request(const Arguments& arguments, Session& session) {
  Request request;
  request.kinds = read_kinds(arguments, session);
  request.pictures = read_pictures(arguments, request.kinds, session);
  if (const auto half = arguments.value("--half")) {
    const std::vector<std::pair<std::string, std::optional<Half>>> names{
        {"fit", Half::fit}, {"judge", Half::judge}, {"both", std::nullopt}};
    request.half = named_value("a half", *half, names, session).value_or(std::nullopt);
  }
  if (const auto by = arguments.value("--by")) {
    request.by = named_value("a grouping", *by, groupings(), session).value_or(request.by);
  }
  if (const auto worst = arguments.value("--worst")) {
    request.worst = default_worst_alone;
    if (!worst->text.empty()) {
      request.worst =
          integer_value(arguments, "--worst", {0, 1000}, session).value_or(request.worst);
    }
    request.only_worst = request.worst > 0;
  }
  return request;
}

// The user's own files; nothing where one is not there, which is told of each.
std::optional<std::vector<std::filesystem::path>> read_paths(const Arguments& arguments,
                                                             Session& session) {
  std::vector<std::filesystem::path> paths;
  for (const Argument& argument : arguments.positionals()) {
    std::error_code unreadable;
    if (std::filesystem::exists(argument.text, unreadable)) {
      paths.emplace_back(argument.text);
    } else {
      session.cannot_read(
          fmt::format("cannot read {}: no such file or folder", backquoted(argument.text)));
    }
  }
  return paths.size() == arguments.positionals().size() ? std::optional(paths) : std::nullopt;
}

// The measurements, the split and the profiles: none of them becomes a result.
bool keeps_inputs(const std::vector<std::filesystem::path>& paths,
                  const std::filesystem::path& data, const Library& library,
                  const Arguments& arguments, Session& session) {
  for (const std::filesystem::path& path : paths) {
    session.reads(path);
  }
  session.reads(data / "split.csv");
  session.reads(library.folder());
  return inputs_are_kept(arguments, session);
}

void keep_half(std::optional<Half> half, std::vector<ValidationCase>& cases) {
  if (half) {
    std::erase_if(cases, [&](const ValidationCase& c) { return c.half != *half; });
  }
}

constexpr OptionSpec leave_out_option{
    "--leave-out", "",
    "predicts the rest where entries of PATH are unreadable or contradict themselves",
    Takes::nothing};

// Whole files first; an entry that is wrong stops the run unless it may be left out.
void report_problems(const PublishedRows& published, const Arguments& arguments, Session& session) {
  for (const Finding& finding : published.unread) {
    report_finding(finding, Severity::error, "", session);
  }
  const bool leave_out = arguments.has(leave_out_option.name);
  std::string help = leave_out ? "the entry is left out" : "`--leave-out` predicts the rest";
  for (const Finding& finding : published.findings) {
    if (finding.effect == Effect::rejected) {
      report_finding(finding, leave_out ? Severity::warning : Severity::error, help, session);
      help = leave_out ? help : "";  // once is enough
    }
  }
  for (const std::string& file : published.skipped) {
    session.diagnostics().warning(std::nullopt, file);
  }
}

void add_pictures(const Request& request, const ValidationReport& report, OutputFiles& files,
                  Session& session) {
  if (request.pictures.empty()) {
    return;
  }
  const Scatter scatter = scatter_of(report.cases, *request.kinds.begin());
  if (scatter.groups.empty()) {
    session.diagnostics().error(request.pictures.front().span,
                                "no case has both a prediction and a measurement");
    return;
  }
  for (const Argument& file : request.pictures) {
    add_picture(scatter, file.text, files);
  }
}

ExitCode run_validate(const Arguments& arguments, Session& session) {
  const Request request = read_request(arguments, session);
  const auto given = read_paths(arguments, session);
  if (!given || session.diagnostics().has_errors()) {
    return session.report();
  }
  std::vector<std::filesystem::path> paths = *given;
  const Library library = find_library();
  const std::filesystem::path data = validation_data(arguments, library);
  if (paths.empty()) {
    paths = {data / "nccl", data / "training"};
  }
  if (!keeps_inputs(paths, data, library, arguments, session)) {
    return session.report();
  }
  Findings findings;
  const Split split = read_split(data / "split.csv", findings);
  PublishedRows published = read_published(paths);
  report_problems(published, arguments, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  std::vector<ValidationCase> cases = published_cases(library, split, published, request.kinds);
  keep_half(request.half, cases);
  if (cases.empty() && !given->empty()) {
    session.diagnostics().warning(arguments.positionals().front().span,
                                  "there is no measurement of what was asked", {},
                                  "tables of nccl-tests or training rows; see "
                                  "tests/validation/README.md");
  }
  const ValidationReport report{std::move(cases),
                                request.by,
                                static_cast<std::size_t>(request.worst),
                                request.only_worst,
                                sha256(contents_of(data / "split.csv")),
                                std::move(published.findings)};
  OutputFiles files;
  add_pictures(request, report, files, session);
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  deliver({request.pictures.empty() ? validation_text(report) : "",
           validation_json(report, session), validation_csv(report)},
          arguments, files, session);
  return session.report();
}

}  // namespace

Command validate_command() {
  return {"validate",
          "compares predictions with published measurements",
          "payoff validate --set step --half judge --by scale",
          {"PATH...", "files or folders of measurements; default: those that came with the program",
           0, 10'000},
          {{"--set", "NAME", "collective, step, compression, or all (the default)", Takes::values},
           {"--half", "NAME", "fit, judge, or both (the default), which are printed apart"},
           {"--by", "NAME", "groups of the tables: source (the default), size or scale"},
           {"--worst", "N",
            "instead of the tables the N (10) worst cases of each kind, with what would settle "
            "them; 0: the tables alone",
            Takes::optional_number},
           plot_option,
           leave_out_option,
           data_option,
           json_option,
           {"--csv", "FILE", "one line a case to FILE, `-` for stdout", Takes::value, true}},
          run_validate};
}

}  // namespace payoff
