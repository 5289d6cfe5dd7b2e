// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/foreign.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/foreign_parts.hpp"
#include "profiles/import/json_tree.hpp"
#include "profiles/import/samples_rules.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

std::optional<MeasurementFormat> format_of_json(const Node& root) {
  const bool has_benchmarks = root.find("benchmarks") != nullptr;
  if (has_benchmarks && root.find("context") != nullptr) {
    return MeasurementFormat::google_benchmark;
  }
  if (has_benchmarks && root.find("devices") != nullptr) {
    return MeasurementFormat::nvbench;
  }
  return root.find("results") != nullptr ? std::optional(MeasurementFormat::nccl_tests)
                                         : std::nullopt;
}

// Whether the first line that is no remark names a column `kernel`, or nearly.
bool names_kernels(std::string_view text) {
  while (text.starts_with('#') || text.starts_with('\n')) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  std::vector<std::string_view> names;
  for (std::string_view line = text.substr(0, text.find_first_of("\r\n")); !line.empty();) {
    const std::size_t end = std::min(line.find(','), line.size());
    names.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return names.size() > 1 && !closest("kernel", names).empty();
}

// A log has remarks with the names of nccl-tests' columns; a table of commas names its columns.
std::optional<MeasurementFormat> format_of_text(std::string_view text) {
  for (const std::string_view sign : {"nThread ", "algbw", "nccl-tests"}) {
    if (text.find(sign) != std::string_view::npos) {
      return MeasurementFormat::nccl_tests;
    }
  }
  const bool is_table =
      text.find("kernel") != std::string_view::npos && text.find(',') != std::string_view::npos;
  return is_table || names_kernels(text) ? std::optional(MeasurementFormat::csv) : std::nullopt;
}

class ForeignParser {
 public:
  ForeignParser(Span text, const SourceMap& sources, Diagnostics& diagnostics)
      : text_(text), sources_(sources), diagnostics_(diagnostics) {
    if (sources.text(text).starts_with(byte_order_mark)) {
      text_.offset += byte_order_mark.size();
      text_.length -= byte_order_mark.size();
    }
  }

  std::optional<ForeignMeasurements> parse(std::optional<MeasurementFormat> format) {
    const std::size_t before = diagnostics_.error_count();
    ForeignMeasurements result;
    if (is_json(sources_.text(text_)) && format != MeasurementFormat::csv) {
      const std::optional<Node> root = parse_measured_tree(text_, sources_, diagnostics_);
      if (!root) {
        return std::nullopt;
      }
      format = format ? format : known(format_of_json(*root), *root);
      result = read_tree(*root, format);
    } else {
      format = format ? format : known(format_of_text(sources_.text(text_)), {});
      result = read_text(format);
    }
    for (const SamplesPoint& point : result.points) {
      import_detail::report_impossible(point, diagnostics_);
    }
    if (diagnostics_.error_count() == before && result.points.empty()) {
      diagnostics_.error(beginning(), "there is no time of a kernel in this file",
                         format == MeasurementFormat::google_benchmark
                             ? "aggregates only? single repetitions are wanted"
                             : "");
    }
    if (diagnostics_.error_count() != before) {
      return std::nullopt;
    }
    result.place = beginning();
    result.file = sources_[text_.source].name;
    result.format = *format;
    return result;
  }

 private:
  [[nodiscard]] Span beginning() const { return {text_.source, text_.offset, 1}; }

  std::optional<MeasurementFormat> known(std::optional<MeasurementFormat> format,
                                         const Node& root) {
    const bool is_ours = root.find("format") != nullptr;
    if (!format) {
      diagnostics_.error(beginning(),
                         is_ours ? "this is a samples file already"
                                 : "nothing in this file says which program wrote it",
                         "",
                         is_ours ? "`payoff calibrate fit` reads it as it is"
                                 : "`--format` with one of " + listed(measurement_formats));
    }
    return format;
  }

  ForeignMeasurements read_tree(const Node& root, std::optional<MeasurementFormat> format) {
    if (format == MeasurementFormat::google_benchmark) {
      return import_detail::read_google_benchmark(root, sources_, diagnostics_);
    }
    if (format == MeasurementFormat::nvbench) {
      return import_detail::read_nvbench(root, sources_, diagnostics_);
    }
    return format ? import_detail::read_nccl(text_, &root, sources_, diagnostics_)
                  : ForeignMeasurements{};
  }

  ForeignMeasurements read_text(std::optional<MeasurementFormat> format) {
    if (format == MeasurementFormat::nccl_tests) {
      return import_detail::read_nccl(text_, nullptr, sources_, diagnostics_);
    }
    if (format == MeasurementFormat::csv) {
      return import_detail::read_csv_samples(text_, sources_, diagnostics_);
    }
    if (format) {
      diagnostics_.error(beginning(), fmt::format("this is no JSON of {}", name(*format)));
    }
    return {};
  }

  Span text_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
};

// What the device of one file does not say, another or the defaults may.
void fill(SamplesDevice& device, const SamplesDevice& other) {
  if (device.name.empty()) {
    device.name = other.name;
  }
  if (device.compute_capability.empty()) {
    device.compute_capability = other.compute_capability;
  }
  device.multiprocessors =
      device.multiprocessors > 0 ? device.multiprocessors : other.multiprocessors;
  device.l2 = device.l2 > Bytes{} ? device.l2 : other.l2;
  device.memory = device.memory > Bytes{} ? device.memory : other.memory;
}

class Joiner {
 public:
  Joiner(const SourceMap& sources, Diagnostics& diagnostics)
      : sources_(sources), diagnostics_(diagnostics) {}

  std::optional<ImportedSamples> join(std::vector<ForeignMeasurements> measurements,
                                      const ImportDefaults& defaults) {
    const std::size_t before = diagnostics_.error_count();
    for (ForeignMeasurements& each : measurements) {
      add(each, defaults.implementation);
    }
    SamplesFile& samples = imported_.samples;
    if (defaults.device) {
      fill(samples.device, *defaults.device);
    }
    samples.date = samples.date.empty() ? defaults.date : samples.date;
    check(measurements.front().place);
    imported_.program = fmt::format("{}", fmt::join(programs_, ", "));
    return diagnostics_.error_count() == before ? std::optional(std::move(imported_))
                                                : std::nullopt;
  }

 private:
  void add(ForeignMeasurements& each, const std::string& implementation) {
    SamplesFile& samples = imported_.samples;
    const std::string& device = each.device.name;
    if (!device.empty() && !samples.device.name.empty() && device != samples.device.name) {
      diagnostics_.error(each.place,
                         "the device " + backquoted(device) + " is not that of " + named_by_ +
                             ", " + backquoted(samples.device.name),
                         "", "one samples file is of one device: import the files one by one");
    }
    named_by_ = named_by_.empty() && !device.empty() ? each.file : named_by_;
    fill(samples.device, each.device);
    samples.date = samples.date.empty() ? each.date : samples.date;
    programs_.insert(each.version.empty() ? each.program : each.program + " " + each.version);
    imported_.sources.emplace_back(std::filesystem::path(each.file).filename().string(),
                                   each.format);
    for (SamplesPoint& point : each.points) {
      if (point.implementation.empty()) {
        point.implementation = implementation;
      }
      samples.points.push_back(std::move(point));
    }
  }

  void check(Span first) {
    const SamplesDevice& device = imported_.samples.device;
    if (device.name.empty() || device.multiprocessors < 1 || device.memory <= Bytes{}) {
      diagnostics_.error(first, "nothing says which GPU was measured",
                         device.name.empty() ? "" : "the name alone: " + device.name,
                         "`--gpu NAME`; `payoff profiles list` names them");
    }
    if (imported_.samples.date.empty()) {
      diagnostics_.error(first, "nothing says when this was measured", "", "`--date YYYY-MM-DD`");
    }
    report_twins({imported_.samples}, sources_, diagnostics_);
  }

  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  ImportedSamples imported_;
  std::set<std::string> programs_;
  std::string named_by_;  // the file that named the device
};

}  // namespace

std::string_view name(MeasurementFormat format) {
  return measurement_formats.at(static_cast<std::size_t>(format)).first;
}

std::optional<ForeignMeasurements> parse_foreign(Span text, std::optional<MeasurementFormat> format,
                                                 const SourceMap& sources,
                                                 Diagnostics& diagnostics) {
  return ForeignParser(text, sources, diagnostics).parse(format);
}

std::optional<ForeignMeasurements> read_foreign(const std::string& path,
                                                std::optional<MeasurementFormat> format,
                                                SourceMap& sources, Diagnostics& diagnostics) {
  const std::size_t source = sources.add_file(path, import_detail::read_measurements(path));
  return parse_foreign({source, 0, sources[source].text.size()}, format, sources, diagnostics);
}

std::optional<ImportedSamples> join_measurements(std::vector<ForeignMeasurements> measurements,
                                                 const ImportDefaults& defaults,
                                                 const SourceMap& sources,
                                                 Diagnostics& diagnostics) {
  return Joiner(sources, diagnostics).join(std::move(measurements), defaults);
}

}  // namespace payoff
