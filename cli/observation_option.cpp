// SPDX-License-Identifier: Apache-2.0
#include "cli/observation_option.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/observed_trace.hpp"
#include "cli/option_values.hpp"

namespace payoff {
namespace {

// `step=412ms,exposed=110ms@dp=32`: fields are separated by commas or `@`. The first may be a
// trace.
class ObservationReader {
 public:
  ObservationReader(const Argument& written, Session& session)
      : written_(written), session_(session) {}

  std::optional<Observation> read() {
    const std::size_t errors = session_.diagnostics().error_count();
    const std::string& text = written_.text;
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find_first_of(",@", start), text.size());
      field(start, end);
      start = end + 1;
    }
    if (session_.diagnostics().error_count() == errors && observation_.step <= Seconds{}) {
      session_.diagnostics().error(written_.span, "`--observed` names no step time", {},
                                   "for example `--observed step=412ms,exposed=110ms@dp=32`");
    }
    return session_.diagnostics().error_count() == errors ? std::optional(observation_)
                                                          : std::nullopt;
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
      take_trace(part(start, end));
      return;
    }
    const Argument value = part(std::min(equals + 1, end), end);
    report_twice(name, part(start, end));
    if (name == "step") {
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
      observation_.noise = taken(name, value, parse_ratio(value.text, {.min = 1e-4, .max = 1.0}));
    } else {
      report_unknown_name("a field of --observed", part(start, equals),
                          {"step", "exposed", "dp", "nodes", "noise"}, session_);
    }
  }

  [[nodiscard]] static bool is_file(const std::string& name) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(name, unknown);
  }

  // What the trace measured counts as given.
  void take_trace(const Argument& named) {
    if (const auto observed = observe_trace(named, session_)) {
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
  std::vector<std::pair<std::string, std::string>> seen_;  // name, as written
};

}  // namespace

std::optional<Observation> read_observation(const Arguments& arguments, Session& session) {
  const std::optional<Argument> written = arguments.value(observed_option.name);
  return written ? ObservationReader(*written, session).read() : std::nullopt;
}

std::vector<Observation> read_observations(const Arguments& arguments, Session& session) {
  std::vector<Observation> observations;
  for (const Argument& written : arguments.values(observed_option.name)) {
    if (const auto observation = ObservationReader(written, session).read()) {
      observations.push_back(*observation);
    }
  }
  return observations;
}

void report_observation_problems(const Experiment& experiment,
                                 const std::vector<Observation>& observations,
                                 const Arguments& arguments, Session& session) {
  const std::vector<Argument> written = arguments.values(observed_option.name);
  for (std::size_t i = 0; i < observations.size() && observations.size() == written.size(); ++i) {
    for (const Problem& problem : check_observation(experiment, observations[i])) {
      const std::string field = problem.path.substr(problem.path.rfind('.') + 1);
      session.diagnostics().error(written[i].span,
                                  fmt::format("`--observed`: `{}` {}", field, problem.message), {},
                                  problem.help);
    }
  }
}

}  // namespace payoff
