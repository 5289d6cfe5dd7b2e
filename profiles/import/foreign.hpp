// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/diagnostics.hpp"
#include "profiles/import/samples.hpp"
#include "profiles/source_map.hpp"

// Times that other programs measured, as a samples file (docs/kernels.md, "From other programs"):
//   nccl-tests        its text, or the JSON of -J (profiles/import/nccl_log.hpp)
//   google-benchmark  the JSON of --benchmark_out, version 1.5 and later (src/json_reporter.cc of
//                     google/benchmark at 00e988c); times are real_time
//   nvbench           the JSON of --json (nvbench/json_printer.cu of NVIDIA/nvbench at 66212f1):
//                     isolated times are `cold`, batches `hot`
//   csv               one row for each sample: kernel, time_us (or _ns, _ms, _s), what the schema
//                     calls a point's keys, and any column more as a parameter
// One mistake refuses the whole file, with its place and record. Where a program tells a median
// or a mean and not its samples, the point holds that one time and what it stands for.

namespace payoff {

enum class MeasurementFormat { nccl_tests, google_benchmark, nvbench, csv };

// As the user writes them.
inline constexpr std::array<std::pair<std::string_view, MeasurementFormat>, 4> measurement_formats{{
    {"nccl-tests", MeasurementFormat::nccl_tests},
    {"google-benchmark", MeasurementFormat::google_benchmark},
    {"nvbench", MeasurementFormat::nvbench},
    {"csv", MeasurementFormat::csv},
}};
[[nodiscard]] std::string_view name(MeasurementFormat format);

struct ForeignMeasurements {
  Span place;  // the beginning of the file
  std::string file;
  MeasurementFormat format{};
  std::string program;
  std::string version;               // empty: not stated
  std::string date;                  // as in a samples file; empty: not stated
  SamplesDevice device;              // empty or zero: not stated
  std::vector<SamplesPoint> points;  // implementation empty: not stated
};

// `format` absent: by what the text looks like. Nothing after an error.
[[nodiscard]] std::optional<ForeignMeasurements> parse_foreign(
    Span text, std::optional<MeasurementFormat> format, const SourceMap& sources,
    Diagnostics& diagnostics);

// The same for a file; throws std::runtime_error where it cannot be read.
[[nodiscard]] std::optional<ForeignMeasurements> read_foreign(
    const std::string& path, std::optional<MeasurementFormat> format, SourceMap& sources,
    Diagnostics& diagnostics);

// What stands in where the measurements say nothing.
struct ImportDefaults {
  std::string implementation{"library"};
  std::string date;
  std::optional<SamplesDevice> device;
};

struct ImportedSamples {
  SamplesFile samples;
  std::string program;  // that measured, with its version; several: joined
  std::vector<std::pair<std::string, MeasurementFormat>> sources;  // files
};

// One samples file of measurements of one device; reports what differs between them, what is there
// twice and what nobody says. `measurements` is not empty.
[[nodiscard]] std::optional<ImportedSamples> join_measurements(
    std::vector<ForeignMeasurements> measurements, const ImportDefaults& defaults,
    const SourceMap& sources, Diagnostics& diagnostics);

// "2026-11-20T12:00:00+01:00", "2026-11-20 12:00:00" (taken as UTC) and "2026-11-20" as a samples
// file has it: "2026-11-20T11:00:00Z".
[[nodiscard]] std::optional<std::string> utc_date(std::string_view text);

// The file itself (docs/schema/samples.schema.json).
[[nodiscard]] std::string samples_text(const ImportedSamples& imported);

}  // namespace payoff
