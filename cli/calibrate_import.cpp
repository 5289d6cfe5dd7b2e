// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_import.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/calibrate_gpu.hpp"
#include "cli/calibrate_options.hpp"
#include "cli/option_values.hpp"
#include "cli/output_ending.hpp"
#include "cli/output_files.hpp"
#include "cli/output_guard.hpp"
#include "profiles/import/foreign.hpp"

namespace payoff {
namespace {

std::optional<MeasurementFormat> wanted_format(const Arguments& arguments, Session& session) {
  const auto given = arguments.value("--format");
  if (!given) {
    return std::nullopt;
  }
  const std::vector<std::pair<std::string, MeasurementFormat>> names(measurement_formats.begin(),
                                                                     measurement_formats.end());
  return named_value("a format of measurements", *given, names, session);
}

std::string wanted_implementation(const Arguments& arguments, Session& session) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"library", "library"}, {"fused", "fused"}, {"framework_ops", "framework_ops"}};
  const auto given = arguments.value("--implementation");
  return given ? named_value("an implementation", *given, names, session).value_or("library")
               : "library";
}

std::string wanted_date(const Arguments& arguments, Session& session) {
  const auto given = arguments.value("--date");
  const auto date = given ? utc_date(given->text) : std::nullopt;
  if (given && !date) {
    session.diagnostics().error(given->span, backquoted(given->text) + " is not a date", "",
                                "like 2026-11-20 or 2026-11-20T12:00:00+01:00");
  }
  return date.value_or("");
}

SamplesDevice device_of(const Gpu& gpu) {
  SamplesDevice device;
  device.name = gpu.name;
  device.multiprocessors = gpu.compute_units;
  device.l2 = gpu.l2;
  device.memory = gpu.memory;
  return device;
}

std::optional<SamplesDevice> known_device(const Arguments& arguments,
                                          const std::vector<ForeignMeasurements>& measurements,
                                          Session& session) {
  std::vector<std::string> names;
  names.reserve(measurements.size());
  for (const ForeignMeasurements& each : measurements) {
    names.push_back(each.device.name);
  }
  const auto gpu = data_sheet_of(arguments, names, session);
  return gpu ? std::optional(device_of(*gpu)) : std::nullopt;
}

// `is_whole`: whether every file could be read.
std::vector<ForeignMeasurements> read_files(const Arguments& arguments, bool& is_whole,
                                            Session& session) {
  const std::optional<MeasurementFormat> format = wanted_format(arguments, session);
  std::vector<ForeignMeasurements> measurements;
  for (const std::string& path : arguments.behind_action()) {
    session.reads(path);
    try {
      if (auto read = read_foreign(path, format, session.sources(), session.diagnostics())) {
        measurements.push_back(std::move(*read));
      }
    } catch (const std::runtime_error& error) {
      session.cannot_read(error.what());
      is_whole = false;
    }
  }
  return measurements;
}

}  // namespace

ExitCode import_measurements(const Arguments& arguments, Session& session) {
  const auto out = arguments.value("-o");
  const Span action = arguments.positionals().front().span;
  if (arguments.positionals().size() < 2) {
    session.diagnostics().error(action, "`import` takes files of measurements, and there is none");
  }
  if (out) {
    check_ending(*out, ".json", session);
  } else {
    session.diagnostics().error(action, "nothing says where the samples go", "",
                                "`-o SAMPLES.json`");
  }
  ImportDefaults defaults{
      wanted_implementation(arguments, session), wanted_date(arguments, session), {}};
  bool is_whole = true;
  std::vector<ForeignMeasurements> measurements = read_files(arguments, is_whole, session);
  defaults.device = known_device(arguments, measurements, session);
  check_replaced_samples(arguments, session);
  if (!inputs_are_kept(arguments, session) || !is_whole || session.diagnostics().has_errors()) {
    return session.report();
  }
  const auto imported = join_measurements(std::move(measurements), defaults, session.sources(),
                                          session.diagnostics());
  if (!imported) {
    return session.report();
  }
  OutputFiles files;
  files.add(out->text, samples_text(*imported));
  files.commit();
  session.out() << fmt::format("{} points of {}, by {}; wrote {}\n",
                               imported->samples.points.size(), imported->samples.device.name,
                               imported->program, out->text);
  return session.report();
}

}  // namespace payoff
