// SPDX-License-Identifier: Apache-2.0
#include "cli/observation_option.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/counted.hpp"
#include "cli/file_text.hpp"
#include "cli/observed_run.hpp"
#include "cli/observed_trace.hpp"
#include "cli/option_values.hpp"
#include "profiles/import/samples.hpp"

namespace payoff {
namespace {

// `step=412ms,exposed=110ms@dp=32`: fields are separated by commas or `@`. The first may be a
// trace, or what nccl-tests printed.
class ObservationReader {
 public:
  ObservationReader(const Argument& written, Session& session)
      : written_(written), session_(session) {}

  void read(Measurements& measurements) {
    const std::size_t errors = session_.diagnostics().error_count();
    const std::string& text = written_.text;
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find_first_of(",@", start), text.size());
      field(start, end);
      start = end + 1;
    }
    if (session_.diagnostics().error_count() == errors && !run_ && observation_.step <= Seconds{}) {
      session_.diagnostics().error(written_.span, "`--observed` names no step time", {},
                                   "for example `--observed step=412ms,exposed=110ms@dp=32`");
    }
    if (session_.diagnostics().error_count() > errors) {
      return;
    }
    if (run_) {
      measurements.runs.push_back(*run_);
    } else {
      measurements.jobs.push_back({observation_, written_});
    }
  }

 private:
  // The guilty part as an argument of its own, so that carets stand under it.
  [[nodiscard]] Argument part(std::size_t start, std::size_t end) const {
    return {written_.text.substr(start, end - start),
            written_.index,
            {written_.span.source, written_.span.offset + start, end - start}};
  }

  void field(std::size_t start, std::size_t end) {
    const std::size_t equals = std::min(written_.text.find('=', start), end);
    const std::string name = written_.text.substr(start, equals - start);
    if (start == 0 && equals == end && is_file(name)) {
      take_file(part(start, end));
      return;
    }
    if (start == 0 && equals == end && name.find_first_of("./") != std::string::npos) {
      session_.diagnostics().error(
          part(start, end).span, fmt::format("`--observed`: {} is no file", backquoted(name)), {},
          "name a trace of PyTorch's profiler or what nccl-tests printed, or write "
          "`step=412ms,exposed=110ms@dp=32`");
      return;
    }
    const Argument value = part(std::min(equals + 1, end), end);
    report_twice(name, part(start, end));
    if (of_run_ && name != "noise") {
      report_unknown_name("a field of --observed with a file of nccl-tests", part(start, equals),
                          {"noise"}, session_);
    } else if (name == "step") {
      observation_.step = within(step_times, name, value, Sign::positive);
    } else if (name == "exposed") {
      observation_.exposed = within(parts_of_steps, name, value, Sign::non_negative);
    } else if (name == "dp") {
      observation_.dp = static_cast<int>(
          taken(name, value, parse_integer(value.text, {.min = 1, .max = 1 << 20})));
    } else if (name == "nodes") {
      observation_.nodes = static_cast<int>(
          taken(name, value, parse_integer(value.text, {.min = 1, .max = 1 << 20})));
    } else if (name == "noise") {
      set_noise(taken(name, value, parse_ratio(value.text, {.min = 1e-4, .max = 1.0})));
    } else {
      report_unknown_name("a field of --observed", part(start, equals),
                          {"step", "exposed", "dp", "nodes", "noise"}, session_);
    }
  }

  [[nodiscard]] static bool is_file(const std::string& name) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(name, unknown);
  }

  void set_noise(double noise) {
    observation_.noise = noise;
    if (run_) {
      run_->observed.noise = noise;
    }
  }

  // What the file measured counts as given.
  void take_file(const Argument& named) {
    if (is_samples_file(beginning_of(named.text, 4096))) {
      session_.diagnostics().error(
          named.span, fmt::format("{} holds samples of kernels", backquoted(named.text)), {},
          "of messages `--observed` takes what nccl-tests printed, a log for each collective; "
          "`payoff calibrate fit` makes laws of samples");
    } else if (looks_like_nccl_tests(named.text)) {
      of_run_ = true;
      run_ = observe_run(named, session_);
      if (run_) {
        run_->written = named;
      }
    } else if (const auto observed = observe_trace(named, session_)) {
      observation_ = *observed;
      seen_ = {{"step", named.text}, {"exposed", named.text}};
    }
  }

  void report_twice(const std::string& name, const Argument& written) {
    const auto first = std::find_if(seen_.begin(), seen_.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (first == seen_.end()) {
      seen_.emplace_back(name, written.text);
      return;
    }
    session_.diagnostics().add({Severity::error,
                                fmt::format("`--observed`: {} is given twice", backquoted(name)),
                                written.span,
                                "the second time",
                                {},
                                {"the first is " + backquoted(first->second)}});
  }

  Seconds within(const QuantityRange<Seconds>& range, const std::string& name,
                 const Argument& value, Sign sign) {
    const Seconds time = taken(name, value, parse_quantity<Seconds>(value.text, sign));
    const bool read = time > 0_s;
    if (const auto error = read ? out_of_range(range, time, value.text) : std::nullopt) {
      report_text_error("--observed " + name, value, *error, session_);
    }
    return time;
  }

  template <class T>
  T taken(const std::string& name, const Argument& value, const Parsed<T>& parsed) {
    if (!parsed) {
      TextError error = parsed.error;
      if (!error.example.empty()) {  // in the form of this option
        error.example.clear();
        error.help = "for example `--observed step=412ms,exposed=110ms@dp=32`";
      }
      report_text_error("--observed " + name, value, error, session_);
    }
    return parsed.value.value_or(T{});
  }

  const Argument& written_;
  Session& session_;
  Observation observation_;
  bool of_run_{};                                          // of nccl-tests
  std::optional<ObservedRun> run_;                         // empty where its file is wrong
  std::vector<std::pair<std::string, std::string>> seen_;  // name, as written
};

// The same file is the same run: counted twice it would be believed twice.
void report_files_twice(const std::vector<ObservedRun>& runs, Session& session) {
  std::map<std::string, std::string> seen;
  for (const ObservedRun& run : runs) {
    std::error_code unknown;
    const std::filesystem::path real = std::filesystem::canonical(run.written.text, unknown);
    const bool is_new =
        seen.emplace(unknown ? run.written.text : real.string(), run.written.text).second;
    if (!is_new) {
      session.diagnostics().error(
          run.written.span,
          fmt::format("`--observed`: {} is given twice", backquoted(run.written.text)), "",
          "one run is one measurement");
    }
  }
}

void report_problems(const Problems& problems, const Argument& written, Session& session) {
  for (const Problem& problem : problems) {
    const std::string field = problem.path.substr(problem.path.rfind('.') + 1);
    session.diagnostics().error(written.span,
                                fmt::format("`--observed`: `{}` {}", field, problem.message), {},
                                problem.help);
  }
}

// "a100-sxm-80" is an "a100".
std::string_view family(std::string_view gpu) { return gpu.substr(0, gpu.find('-')); }

}  // namespace

std::vector<Observation> Measurements::observations() const {
  std::vector<Observation> result;
  result.reserve(jobs.size());
  for (const ObservedJob& job : jobs) {
    result.push_back(job.observation);
  }
  return result;
}

std::vector<ObservedCollective> Measurements::collectives() const {
  std::vector<ObservedCollective> result;
  result.reserve(runs.size());
  for (const ObservedRun& run : runs) {
    result.push_back(run.observed);
  }
  return result;
}

Measurements read_measurements(const Arguments& arguments, Session& session) {
  Measurements measurements;
  for (const Argument& written : arguments.values(observed_option.name)) {
    ObservationReader(written, session).read(measurements);
  }
  report_files_twice(measurements.runs, session);
  return measurements;
}

void report_measurement_problems(const Experiment& experiment, const Measurements& measurements,
                                 Session& session) {
  for (const ObservedJob& job : measurements.jobs) {
    report_problems(check_observation(experiment, job.observation), job.written, session);
  }
  for (const ObservedRun& run : measurements.runs) {
    for (const Problem& problem : check_observation(experiment, run.observed)) {
      session.diagnostics().error(
          run.written.span,
          fmt::format("`--observed`: {} of {} on {}: {}", name(run.observed.collective),
                      counted(run.observed.group.ranks, "rank"),
                      counted(run.observed.group.nodes(), "node"), problem.message),
          {}, problem.help);
    }
    const std::string& gpu = experiment.cluster.gpu.name;
    if (!run.gpu.empty() && family(run.gpu) != family(gpu)) {
      session.diagnostics().warning(
          run.written.span, fmt::format("{} was measured on {}, and the cluster has {}",
                                        backquoted(run.written.text), backquoted(run.gpu), gpu));
    }
  }
}

}  // namespace payoff
