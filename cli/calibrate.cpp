// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "calibrate/profile_difference.hpp"
#include "cli/calibrate_kernels.hpp"
#include "cli/calibrate_options.hpp"
#include "cli/commands.hpp"
#include "cli/file_text.hpp"
#include "cli/network_fit_text.hpp"
#include "cli/option_values.hpp"
#include "cli/output_files.hpp"
#include "cli/output_guard.hpp"
#include "cli/profile_library.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/validation_data.hpp"
#include "model/units_text.hpp"
#include "study/codec_calibration.hpp"
#include "study/compute_calibration.hpp"
#include "study/network_calibration.hpp"

// payoff calibrate fit: the only place where laws are fitted. Reads the published measurements of
// the fit half and writes profiles/fitted; --check says whether what is shipped is what the fit
// writes.

namespace payoff {
namespace {

struct Fitted {
  std::string profile;
  std::string report;
};

Fitted fit_codec_laws(const Library& library, const std::filesystem::path& data) {
  const CodecCalibration calibration = calibrate_codecs(library, data);
  Table table({{"codecs", Align::left},
               {"rows", Align::right},
               {"rms error", Align::right},
               {"largest", Align::right},
               {"fitted range", Align::left}});
  for (const CodecFit& fit : calibration.fits) {
    table.add({std::string(name(fit.implementation)), std::to_string(fit.rows),
               percent_text(fit.rms_error), percent_text(fit.largest_error),
               fit.rows == 0
                   ? "assumptions only"
                   : to_text(fit.streams.smallest) + " to " + to_text(fit.streams.largest)});
  }
  return {calibration.profile, table.markdown()};
}

Fitted fit_compute_laws(const Library& library, const std::filesystem::path& data) {
  const ComputeCalibration calibration = calibrate_compute(library, data);
  Table table({{"software stack", Align::left},
               {"steps", Align::right},
               {"spread", Align::right},
               {"sources", Align::left}});
  for (const FittedSoftware& stack : calibration.fit.software) {
    std::string sources;
    for (const std::string& source : stack.sources) {
      sources += (sources.empty() ? "" : ", ") + source;
    }
    table.add({stack.name, std::to_string(stack.cases), percent_text(stack.relative_sd),
               stack.cases == 0 ? "assumptions only" : sources});
  }
  return {
      calibration.profile,
      table.markdown() + fmt::format("{} steps fitted in {} iterations; {} rows left out.\n",
                                     calibration.cases.cases.size(), calibration.fit.fit.iterations,
                                     calibration.cases.left_out.size())};
}

Fitted fit_network_laws(const Library& library, const std::filesystem::path& data) {
  const NetworkCalibration calibration = calibrate_network(library, data);
  return {calibration.profile, network_fit_text(calibration.fit) +
                                   fmt::format("{} tables of the fit half are left out.\n",
                                               calibration.left_out.size())};
}

struct Target {
  std::string_view name;
  Fitted (*fit)(const Library&, const std::filesystem::path&);
};

// Compute laws are fitted with the links' laws given, so the network comes first.
constexpr std::array targets{Target{"network", fit_network_laws},
                             Target{"compute", fit_compute_laws}, Target{"codecs", fit_codec_laws}};

bool is_law(std::string_view name) {
  return name == "all" || std::any_of(targets.begin(), targets.end(),
                                      [&](const Target& target) { return target.name == name; });
}

std::string compared_text(const std::string& value) {
  constexpr std::size_t widest = 60;
  return value.empty() ? "absent" : shortened(value, widest);
}

// Every value of the shipped profile that the fit does not give; whether there is none.
bool report_differences(const std::filesystem::path& shipped, const Fitted& fitted,
                        Session& session) {
  const std::vector<ProfileDifference> differences =
      profile_differences(contents_of(shipped), fitted.profile);
  const std::string file = shipped.filename().string();
  if (differences.empty()) {
    session.out() << file << " is what the fit gives, to one unit of the third digit.\n\n";
    return true;
  }
  session.out() << fmt::format("{} is not what the fit gives: {} values differ\n", file,
                               differences.size());
  for (const ProfileDifference& each : differences) {
    session.out() << fmt::format(
        "  {}{}\n    shipped: {}\n    fit:     {}\n", each.path,
        each.change_ratio ? fmt::format(": {:+.1f} %", 100.0 * *each.change_ratio) : "",
        compared_text(each.shipped), compared_text(each.fitted));
  }
  session.out() << "\n";
  return false;
}

std::vector<Target> read_targets(const Arguments& arguments, Session& session) {
  std::vector<std::pair<std::string, std::optional<Target>>> known{{"all", std::nullopt}};
  for (const Target& target : targets) {
    known.emplace_back(target.name, target);
  }
  const std::vector<Argument>& words = arguments.positionals();
  if (words.front().text != "fit") {
    report_unknown_name("something that can be done", words.front(),
                        {"run", "import", "fit", "show", "check", "diff", "needs"}, session);
  }
  std::vector<Target> chosen;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto target =
        named_value("a law, nor a file of samples that is there", words[i], known, session);
    if (target && *target) {
      chosen.push_back(**target);
    } else if (target) {
      chosen.assign(targets.begin(), targets.end());
    }
  }
  return words.size() > 1 ? chosen : std::vector<Target>(targets.begin(), targets.end());
}

constexpr std::string_view calibrate_details =
    R"(fit [network | compute | codecs | all]   the shipped laws, to published measurements
Of the kernels of a GPU:
run -o SAMPLES.json                      runs payoff-kernels where there is a GPU
import FILE... -o SAMPLES.json           what nccl-tests, Google Benchmark, nvbench or a table of
                                         your own measured, as samples
show SAMPLES...                          laws, what they rest on, residuals; writes nothing
fit SAMPLES... -o NAME.yaml              the same, and the profile
check SAMPLES OTHER                      laws of the first file against the times of the second;
                                         exits with 3 beyond 10 % RMS
diff NAME.yaml OTHER.yaml                two profiles of GPUs, value by value: the change in per
                                         cent and in joint standard deviations; --json
Of a job:
needs EXPERIMENT.yaml                    what to measure next, by what it is expected to settle;
                                         which inputs nobody measured or published
)";

// The laws that are shipped, or files of their names in the folder of --out.
std::filesystem::path place_of(const Target& target, const Library& library,
                               const Arguments& arguments) {
  const std::filesystem::path shipped = library.fitted(target.name);
  const auto out = arguments.value("--out");
  return out ? std::filesystem::path(out->text) / shipped.filename() : shipped;
}

// A law may replace the one that is shipped, but neither measurements nor profiles.
bool keeps_inputs(const std::vector<Target>& chosen, const std::filesystem::path& data,
                  const Library& library, const Arguments& arguments, Session& session) {
  session.reads(data);
  for (const ProfileKind kind : all_profile_kinds) {
    session.reads(library.folder() / folder_of(kind));
  }
  bool kept = true;
  for (const Target& target : chosen) {
    const std::filesystem::path written = place_of(target, library, arguments);
    if (is_input(written, session)) {
      session.diagnostics().error(span_of(arguments.value("--out")),
                                  backquoted(written.string()) + " is an input of this run",
                                  "not written over", "give the laws another folder");
      kept = false;
    }
  }
  return kept;
}

// Before the fits, which take half a minute.
void check_folder_of_laws(const Arguments& arguments, Session& session) {
  const auto out = arguments.value("--out");
  std::error_code unknown;
  if (out && !std::filesystem::is_directory(out->text, unknown)) {
    session.diagnostics().error(
        out->span, fmt::format("`--out`: there is no folder {}", backquoted(out->text)));
  }
}

// Whether there are options that go with samples alone.
bool is_with_samples(const Arguments& arguments) {
  return arguments.has("-o") || arguments.has("--gpu") || arguments.has("--force");
}

ExitCode run_calibrate(const Arguments& arguments, Session& session) {
  if (is_about_kernels(arguments, is_law)) {
    return calibrate_kernels_command(arguments, session);
  }
  const std::vector<Target> chosen = read_targets(arguments, session);
  // Where a file of samples was meant, its options are right.
  if (!session.diagnostics().has_errors() || !is_with_samples(arguments)) {
    refuse_options_of_others(arguments, false, session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  const Library library = find_library();
  const std::filesystem::path data = validation_data(arguments, library);
  const bool check = arguments.has("--check");
  check_folder_of_laws(arguments, session);
  if (!check) {
    (void)keeps_inputs(chosen, data, library, arguments, session);
  }
  if (session.diagnostics().has_errors()) {
    return session.report();
  }
  OutputFiles files;
  bool all_same = true;
  for (const Target& target : chosen) {
    const Fitted fitted = target.fit(library, data);
    const std::filesystem::path shipped = library.fitted(target.name);
    session.out() << fitted.report;
    if (check) {
      all_same = report_differences(shipped, fitted, session) && all_same;
    } else {
      const std::filesystem::path written = place_of(target, library, arguments);
      files.add(written, fitted.profile);
      session.out() << "writes " << written.string() << "\n\n";
    }
  }
  files.commit();
  const ExitCode code = session.report();
  return code == ExitCode::success && !all_same ? ExitCode::check_failed : code;
}

}  // namespace

Command calibrate_command() {
  return {
      "calibrate",
      "fits the laws of profiles/fitted, or those of a GPU's kernels to its samples",
      "payoff calibrate fit codecs --check\n"
      "  payoff calibrate needs examples/01-resnet50-v100/experiment.yaml",
      {"ACTION [NAME...]", "what to do with what, see below", 1, 100},
      {{"--check", "", "writes nothing; exits with 3 where a shipped law is another",
        Takes::nothing},
       data_option,
       {"--out", "FOLDER", "where to write; default: the folder of the shipped laws"},
       {"-o", "FILE",
        "of `run`, `import`: the samples (.json); of `fit SAMPLES`: the profile (.yaml)",
        Takes::value, true},
       {"--force", "",
        "of `run`, `import`, `fit SAMPLES`: lets -o write over a file that such a run did not "
        "write",
        Takes::nothing},
       {"--full", "", "of `run`: every size and variant, ten minutes instead of two",
        Takes::nothing},
       {"--dry-run", "", "of `run`: what it would measure and how long that takes; runs nothing",
        Takes::nothing},
       {"--only", "NAME,...", "of `run`: kernels or families of them"},
       {"--format", "NAME",
        "of `import`: nccl-tests, google-benchmark, nvbench or csv; default: by the content"},
       {"--gpu", "NAME",
        "of `import`, `fit SAMPLES`: the GPU whose data sheet holds, where it is not told by "
        "the device's name"},
       {"--date", "YYYY-MM-DD", "of `import`: of the measurement, where the files do not say"},
       {"--implementation", "CLASS",
        "of `import`: fused, library or framework_ops; default: library"},
       {"--program", "FILE", "of `run`: where payoff-kernels is; default: in $PATH"},
       {"--set", "KEY=VALUE", "of `needs`: over a key of the experiment", Takes::values},
       {"--observed", "step=TIME,...",
        "of `needs`: what was measured already, as of `payoff predict`", Takes::values},
       {"--json", "FILE", "of `needs`, `diff`: the result as JSON, or to FILE, which ends in .json",
        Takes::optional_file, true}},
      run_calibrate,
      calibrate_details};
}

}  // namespace payoff
