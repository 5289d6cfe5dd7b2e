// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/experiment_input.hpp"
#include "cli/json_output.hpp"
#include "cli/option_values.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"
#include "cli/survey_report.hpp"
#include "cli/sweep_mistakes.hpp"
#include "study/parallel.hpp"

// payoff survey: of many setups, how many pay, and why the others do not.

namespace payoff {
namespace {

constexpr std::string_view survey_details =
    "A grid is an experiment file with the values of some keys under `over`; its strategies stand\n"
    "under `compress`, and every job is asked for all of them:\n"
    "  over:\n"
    "    model: [resnet-50, bert-base]\n"
    "    cluster.inter.bandwidth: \"10 Gb/s..100 Gb/s:x10\"\n"
    "    micro-batch: [16, 32, 64]\n"
    "Why a setup does not pay is found by asking again with one thing taken away: all messages of\n"
    "gradients, the codec, the gathering, the bytes (docs/findings.md).\n";

// The strategies of one job. One that cannot be does not take the others with it.
std::vector<Setup> survey_job(const SweepQuestion& question, const SurveyOptions& options,
                              std::uint64_t job, bool alone = false) {
  const std::vector<std::size_t> values = question.design.job(job);
  SourceMap sources = question.sources;
  Diagnostics diagnostics;
  const auto read = read_job(question, values, sources, diagnostics);
  std::vector<Setup> setups;
  if (read) {
    SurveyOptions limited = options;
    limited.limits = read->limits;
    const PreparedExperiment prepared(read->experiment);
    const std::vector<CompressionPlan>& plans = read->experiment.plans;
    for (SurveyedPlan& surveyed : survey(read->experiment, limited)) {
      const auto plan = std::find_if(plans.begin(), plans.end(), [&](const CompressionPlan& each) {
        return each.label == surveyed.label;
      });
      const ExtrapolatedKinds beyond = uses_of_plan(prepared, *plan).extrapolated();
      setups.push_back({job, values, std::move(surveyed), {}, beyond});
    }
  } else if (alone) {
    setups.push_back({job, values, {}, first_error(diagnostics), {}});
  } else {
    for (std::size_t s = 1; s < question.strategies.size(); ++s) {
      Setup& one = setups.emplace_back(
          survey_job(about_one_strategy(question, s), options, job, true).at(0));
      one.plan.label = question.strategies[s];
    }
  }
  return setups;
}

std::vector<Setup> survey_all(const SweepQuestion& question, const SurveyOptions& options,
                              unsigned threads) {
  std::vector<std::vector<Setup>> jobs(question.design.jobs());
  for_each_index(
      jobs.size(), [&](std::size_t job) { jobs[job] = survey_job(question, options, job); },
      threads);
  std::vector<Setup> setups;
  for (std::vector<Setup>& job : jobs) {
    std::move(job.begin(), job.end(), std::back_inserter(setups));
  }
  return setups;
}

// A grid of at most so many jobs: beyond, `payoff sweep` writes as it goes, and can be taken up
// again.
constexpr std::uint64_t most_jobs = 100'000;

void check_size(const SweepInput& input, Session& session) {
  if (const std::uint64_t jobs = grid_size(input.axes); jobs > most_jobs) {
    session.diagnostics().error(std::nullopt,
                                "the grid has " + std::to_string(jobs) + " jobs; at most " +
                                    std::to_string(most_jobs) + " are surveyed",
                                {}, "`payoff sweep --verdicts` writes results as it goes");
  }
}

ExitCode run_survey(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const auto threads = integer_value(arguments, threads_option.name, {1, 1024}, session);
  std::optional<ExperimentDocument> base = experiment_document(arguments, {}, session);
  (void)inputs_are_kept(arguments, session);
  if (!base) {
    return session.report();
  }
  apply_settings(*base, session);
  session.sources().mark_users_own(base->document.source);
  const SweepInput input = take_axes(base->document.root, arguments, session);
  check_size(input, session);
  input.put_methods(base->document.root, session.diagnostics());
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  leave_out_none(base->document.root);
  SweepQuestion question{library, std::move(base->document), session.sources(), input,
                         SweepDesign(input.axes, Sampling::grid)};
  const std::optional<ReadExperiment> first = report_mistakes(question, session);
  if (first && first->experiment.plans.size() < 2) {
    session.diagnostics().error(std::nullopt, "no strategy is given", {},
                                "list some under `compress`, or add --compress powersgd:rank=4");
  }
  if (!first || session.diagnostics().has_errors()) {
    return session.report();
  }
  question.sources = session.sources();  // with every file that was read
  for (const CompressionPlan& plan : first->experiment.plans) {
    question.strategies.push_back(plan.label);
  }
  const SurveyOptions options;
  const SurveyReport report{
      question, *first, library, options,
      survey_all(question, options, static_cast<unsigned>(threads.value_or(0)))};
  OutputFiles files;
  deliver({survey_text(report), survey_json(report, session), survey_csv(report)}, arguments, files,
          session);
  return session.report();
}

}  // namespace

Command survey_command() {
  return {"survey",
          "of many setups, says how many pay and why the others do not",
          "payoff survey examples/11-survey/grid.yaml --csv survey.csv",
          {"GRID", "an experiment file with axes under `over`; options go over its keys", 0, 1},
          experiment_options({over_option, threads_option, json_option, csv_option}),
          run_survey,
          survey_details};
}

}  // namespace payoff
