// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/diff_input.hpp"
#include "cli/diff_picture.hpp"
#include "cli/diff_report.hpp"
#include "cli/experiment_input.hpp"
#include "cli/input_json.hpp"
#include "cli/json_output.hpp"
#include "cli/observation_option.hpp"
#include "cli/picture_file.hpp"
#include "cli/profile_library.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "sim/topology.hpp"

// payoff diff: why two steps differ, as causes that add up to the difference.

namespace payoff {
namespace {

constexpr OptionSpec picture_option{
    "-o", "FILE", "the causes as a picture (.png .svg .pdf), or as its gnuplot script (.gp)",
    Takes::value, true};

void show(const DiffReport& report, const std::vector<const ReadExperiment*>& experiments,
          const Library& library, const Arguments& arguments, Session& session) {
  nlohmann::ordered_json json = json_envelope("diff", session);
  json["experiments"] = nlohmann::ordered_json::array();
  for (const ReadExperiment* read : experiments) {
    json["experiments"].push_back(experiment_json(*read));
  }
  json["profiles"] = profiles_json(library, session.sources());
  add_diff_json(report, json);
  OutputFiles files;
  if (const auto picture = arguments.value(picture_option.name)) {
    add_picture(diff_picture(report), picture->text, files);
  }
  deliver({diff_text(report), json.dump(2) + "\n", {}}, arguments, files, session);
}

std::string changed_sentence(const DiffSide& side, std::string_view letter) {
  std::string files;
  for (const std::string& file : side.changed_profiles) {
    files += (files.empty() ? "" : ", ") + file;
  }
  return fmt::format(
      "{} is a result that was kept; made anew by this program it would differ by what its row "
      "says{}.",
      letter, files.empty() ? "" : "; profiles with other bytes since: " + files);
}

// Steps of other batches are compared by the sample too.
std::string batches_sentence(const Experiment& a, const Experiment& b, const Difference& found) {
  const double samples_a = a.layout.global_batch();
  const double samples_b = b.layout.global_batch();
  return fmt::format(
      "A step of A takes {} samples, one of B {}: by the sample B is {} times as fast.",
      fixed(samples_a, 0), fixed(samples_b, 0),
      fixed(found.a / found.b * samples_b / samples_a, 3));
}

ExitCode diff_of_two(const Arguments& arguments, Session& session) {
  const Library library = find_library();
  const auto sides = read_diff_sides(arguments, library, session);
  if (!sides || session.diagnostics().has_errors()) {
    return session.report();
  }
  Diagnostics ignored;  // of experiments that nobody wrote
  const Difference found =
      difference(sides->a.side, sides->b.side,
                 {library, session.sources(), ignored, true, sim::find_in_links});
  DiffReport report{found,
                    sides->a.file + ", " + sides->a.side.plan,
                    sides->b.file + ", " + sides->b.side.plan,
                    {},
                    session.sources(),
                    sides->a.file,
                    sides->b.file};
  if (found.causes.empty()) {
    report.notes.emplace_back("Nothing that a step depends on differs.");
  }
  const Experiment& a = sides->a.read.experiment;
  const Experiment& b = sides->b.read.experiment;
  if (a.layout.global_batch() != b.layout.global_batch()) {
    report.notes.push_back(batches_sentence(a, b, found));
  }
  for (const auto& [letter, side] : {std::pair('A', &sides->a), std::pair('B', &sides->b)}) {
    if (const std::string beyond = extrapolation_sentence(side->uses()); !beyond.empty()) {
      report.notes.push_back(fmt::format("Of {} {}", letter, beyond));
    }
  }
  if (sides->a.side.recorded) {
    report.notes.push_back(changed_sentence(sides->a, "A"));
  }
  if (sides->b.side.recorded) {
    report.notes.push_back(changed_sentence(sides->b, "B"));
  }
  show(report, {&sides->a.read, &sides->b.read}, library, arguments, session);
  return session.report();
}

void check_alone(const Arguments& arguments, const Argument& observed, Session& session) {
  if (arguments.positionals().size() > 1) {
    session.diagnostics().error(observed.span, "`--observed` is the B of one experiment", {},
                                "leave the second file out");
  }
  if (arguments.values(observed_option.name).size() > 1) {
    session.diagnostics().error(arguments.values(observed_option.name)[1].span,
                                "one measurement is compared, not several", {},
                                "`payoff predict` takes several");
  }
  for (const OptionSpec& option : {diff_plan_option, against_option, with_option}) {
    if (arguments.has(option.name)) {
      session.diagnostics().error(arguments.values(option.name).front().span,
                                  fmt::format("`{}` does not go with --observed", option.name), {},
                                  "what is observed is the uncompressed job as the file says it");
    }
  }
}

ExitCode diff_of_measurement(const Argument& observed, const Arguments& arguments,
                             Session& session) {
  const Library library = find_library();
  check_alone(arguments, observed, session);
  const Measurements measurements = read_measurements(arguments, session);
  for (const ObservedRun& run : measurements.runs) {
    session.diagnostics().error(run.written.span, "a step is compared, not messages", {},
                                "`payoff predict --observed` takes what nccl-tests measured");
  }
  const auto read =
      read_experiment_input(arguments, arguments.positionals().front(), library, session);
  if (read) {
    report_measurement_problems(read->experiment, measurements, session);
  }
  if (!read || session.diagnostics().has_errors()) {
    return session.report();
  }
  const Observation& observation = measurements.jobs.front().observation;
  const Difference found = difference(read->experiment, observation);
  DiffReport report{found,
                    arguments.positionals().front().text + ", none, predicted",
                    fmt::format("measured: {}", observed.text),
                    {},
                    session.sources(),
                    arguments.positionals().front().text,
                    {}};
  report.notes.push_back(fmt::format(
      "B shows the machine as the measurement makes it most likely (noise {}); sd: standard "
      "deviations of the profiles, positive is slower.",
      percent_text(observation.noise)));
  show(report, {&*read}, library, arguments, session);
  return session.report();
}

ExitCode run_diff(const Arguments& arguments, Session& session) {
  if (arguments.positionals().size() > 2) {
    return session.report();  // said already; a file that cannot be read is not the mistake
  }
  if (const auto picture = arguments.value(picture_option.name)) {
    check_picture(*picture, session);
  }
  const auto observed = arguments.value(observed_option.name);
  return observed ? diff_of_measurement(*observed, arguments, session)
                  : diff_of_two(arguments, session);
}

}  // namespace

Command diff_command() {
  return {
      "diff",
      "says why two predictions differ, as causes that add up",
      "payoff diff examples/04-llama2-7b-a100/experiment.yaml "
      "examples/06-llama2-7b-h100/experiment.yaml\n"
      "  payoff diff examples/01-resnet50-v100/experiment.yaml --with cluster.nodes=16 --with "
      "layout.dp=64\n"
      "  payoff diff examples/01-resnet50-v100/experiment.yaml --against signsgd\n"
      "  payoff diff examples/01-resnet50-v100/experiment.yaml --observed "
      "step=300ms,exposed=110ms",
      {"A [B]", "experiment files, or results of `payoff predict --json`; without B: A", 1, 2},
      {diff_plan_option, against_option, with_option, observed_option, picture_option, json_option},
      run_diff,
      "Every key with another value is a cause, worth what it adds to a step that lacks it,\n"
      "averaged over the orders in which causes can be put in: all of them (Shapley's value)\n"
      "up to six causes, else that of the file and its reverse. Keys that can only change\n"
      "together are one cause. Of a measurement the causes are the parts of the machine that\n"
      "it shows to be slower or faster than the profiles say.\n"};
}

}  // namespace payoff
