// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/calibrate_diff.hpp"
#include "cli/calibrate_gpu.hpp"
#include "cli/calibrate_import.hpp"
#include "cli/calibrate_needs.hpp"
#include "cli/calibrate_options.hpp"
#include "cli/calibration_prices.hpp"
#include "cli/calibration_text.hpp"
#include "cli/calibration_warnings.hpp"
#include "cli/option_values.hpp"
#include "cli/output_ending.hpp"
#include "cli/output_files.hpp"
#include "cli/output_guard.hpp"
#include "cli/run_kernels.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "study/kernel_calibration.hpp"
#include "study/measured_gpu.hpp"

namespace payoff {
namespace {

// Whether there are as many files as the action takes.
bool has_files(const Arguments& arguments, std::size_t least, std::size_t most,
               const std::string& what, Session& session) {
  const std::size_t count = arguments.positionals().size() - 1;
  if (count < least || count > most) {
    session.diagnostics().error(arguments.positionals().front().span,
                                fmt::format("`{}` takes {}, not {} files",
                                            arguments.positionals().front().text, what, count));
  }
  return count >= least && count <= most;
}

KernelCalibration calibration_of(const std::vector<std::string>& files, Session& session) {
  for (const std::string& file : files) {
    session.reads(file);
  }
  std::vector<SamplesFile> samples;
  try {
    samples = read_samples(files, session.sources(), session.diagnostics());
  } catch (const std::runtime_error& error) {
    session.cannot_read(error.what());
  }
  return samples.empty() ? KernelCalibration{}
                         : calibrate_kernels(std::move(samples), session.diagnostics());
}

ExitCode fit(const Arguments& arguments, Session& session) {
  const auto out = arguments.value("-o");
  if (out) {
    check_ending(*out, ".yaml", session);
  } else {
    session.diagnostics().error(arguments.positionals().front().span,
                                "nothing says where the profile goes", "",
                                "`-o NAME.yaml`; `payoff calibrate show` writes nothing");
  }
  const KernelCalibration calibration = calibration_of(arguments.behind_action(), session);
  const std::optional<Gpu> data = data_sheet_of(arguments, calibration, session);
  check_replaced(arguments, {"a profile that `calibrate fit` wrote", is_kernel_profile}, session);
  if (!inputs_are_kept(arguments, session) || calibration.files.empty() ||
      session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_circumstances(calibration, session);
  warn_of_poor_laws(calibration, session);
  const std::filesystem::path path(out->text);
  const std::string name = path.stem().string();
  const MeasuredPart measured = data ? measured_laws(calibration, *data, name) : MeasuredPart{};
  warn_of_wrong_numbers(measured, session);
  OutputFiles files;
  files.add(path, kernel_profile(calibration, name, data ? &*data : nullptr));
  files.commit();
  session.out() << laws_table(calibration) << pairs_text(calibration) << summary_text(calibration)
                << (data ? prices_text(calibration, measured) : "")
                << fmt::format("writes {}, {}\n", out->text,
                               data ? written_text(measured, data->name)
                                    : "laws alone: `--gpu NAME`, whose data sheet holds, makes it "
                                      "a GPU for predictions");
  return session.report();
}

ExitCode show(const Arguments& arguments, Session& session) {
  if (!has_files(arguments, 1, 100, "samples files", session)) {
    return session.report();
  }
  const KernelCalibration calibration = calibration_of(arguments.behind_action(), session);
  if (!calibration.files.empty() && !session.diagnostics().has_errors()) {
    warn_of_circumstances(calibration, session);
    warn_of_poor_laws(calibration, session);
    session.out() << laws_table(calibration) << pairs_text(calibration)
                  << summary_text(calibration);
    for (const KernelLaw& law : calibration.laws) {
      if (law.points.size() > 1) {
        session.out() << residual_plot(law) << spread_text(law);
      }
    }
  }
  return session.report();
}

ExitCode check(const Arguments& arguments, Session& session) {
  if (!has_files(arguments, 2, 2, "the samples that are fitted and those that judge", session)) {
    return session.report();
  }
  const std::vector<std::string> files = arguments.behind_action();
  const KernelCalibration laws = calibration_of({files[0]}, session);
  const KernelCalibration other = calibration_of({files[1]}, session);
  if (laws.files.empty() || other.files.empty() || session.diagnostics().has_errors()) {
    return session.report();
  }
  warn_of_circumstances(laws, session);
  warn_of_circumstances(other, session);
  const KernelChecks checks = check_kernels(laws, other);
  warn_of_other_conditions(laws, other, checks, session);
  double squares = 0.0;
  std::size_t extrapolated = 0;
  Table table({{"point", Align::left},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right},
               {"", Align::left}});
  for (const KernelCheck& each : checks.points) {
    squares += each.error() * each.error();
    extrapolated += each.extrapolated ? 1U : 0U;
    table.add({each.title, to_text(each.measured), to_text(each.predicted),
               fmt::format("{:+.1f} %", 100.0 * each.error()),
               each.extrapolated ? "beyond what was fitted" : ""});
  }
  const auto points = static_cast<double>(std::max<std::size_t>(checks.points.size(), 1));
  const double rms = std::sqrt(squares / points);
  session.out() << table.markdown()
                << fmt::format(
                       "{} points, error {} RMS; {} beyond the fitted range, {} without a "
                       "law.\n",
                       checks.points.size(), percent_text(rms), extrapolated,
                       checks.without_law.size());
  const bool holds = !checks.points.empty() && rms <= most_law_error;
  const ExitCode code = session.report();
  return code == ExitCode::success && !holds ? ExitCode::check_failed : code;
}

KernelRun kernel_run_of(const Arguments& arguments) {
  KernelRun run{"payoff-kernels", {}};
  if (const auto out = arguments.value("-o"); out && !arguments.has("--dry-run")) {
    run.words.insert(run.words.end(), {"--out", out->text});
  } else {
    run.words.emplace_back("--dry-run");
  }
  if (const auto program = arguments.value("--program")) {
    run.program = program->text;
  }
  if (arguments.has("--full")) {
    run.words.emplace_back("--full");
  }
  if (const auto only = arguments.value("--only")) {
    run.words.insert(run.words.end(), {"--only", only->text});
  }
  return run;
}

// Whether the program took the names of --only.
bool runs_kernels(const Arguments& arguments, Session& session) {
  const auto only = arguments.value("--only");
  try {
    run_kernels(kernel_run_of(arguments));
  } catch (const RefusedArguments&) {
    if (!only) {
      throw;  // nothing that the user gave
    }
    session.diagnostics().error(only->span, "payoff-kernels refuses its arguments, as told above",
                                "", "`payoff-kernels --list` names kernels and families");
    return false;
  }
  return true;
}

ExitCode measure(const Arguments& arguments, Session& session) {
  const auto out = arguments.value("-o");
  const bool dry = arguments.has("--dry-run");
  if (!has_files(arguments, 0, 0, "-o SAMPLES.json", session) || (!out && !dry)) {
    if (!out && !dry) {
      session.diagnostics().error(arguments.positionals().front().span,
                                  "nothing says where the samples go", "", "`-o SAMPLES.json`");
    }
    return session.report();
  }
  if (out) {
    check_ending(*out, ".json", session);
    check_replaced_samples(arguments, session);
    if (session.diagnostics().has_errors()) {
      return session.report();
    }
  }
  if (!runs_kernels(arguments, session) || dry) {
    return session.report();
  }
  // What was written in place, as into a pipe, is gone.
  if (std::filesystem::is_regular_file(out->text) &&
      calibration_of({out->text}, session).files.empty()) {
    return session.report();
  }
  session.out() << "wrote " << out->text << "; `payoff calibrate show` says what it is worth\n";
  return session.report();
}

struct Action {
  std::string_view name;
  ExitCode (*run)(const Arguments&, Session&);
};

constexpr std::array actions{Action{"run", measure},
                             Action{"import", import_measurements},
                             Action{"fit", fit},
                             Action{"show", show},
                             Action{"check", check},
                             Action{"diff", calibrate_diff},
                             Action{"needs", calibrate_needs}};

}  // namespace

bool is_about_kernels(const Arguments& arguments, bool (*is_law)(std::string_view)) {
  const std::vector<Argument>& words = arguments.positionals();
  if (words.front().text == "fit") {
    return std::any_of(words.begin() + 1, words.end(), [&](const Argument& word) {
      std::error_code ignored;
      return word.text.ends_with(".json") ||
             (!is_law(word.text) && std::filesystem::exists(word.text, ignored));
    });
  }
  return std::any_of(actions.begin(), actions.end(),
                     [&](const Action& action) { return action.name == words.front().text; });
}

ExitCode calibrate_kernels_command(const Arguments& arguments, Session& session) {
  const std::string& wanted = arguments.positionals().front().text;
  if (wanted != "needs") {  // which tells its other mistakes first
    refuse_options_of_others(arguments, true, session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  return std::find_if(actions.begin(), actions.end(),
                      [&](const Action& action) { return action.name == wanted; })
      ->run(arguments, session);
}

}  // namespace payoff
