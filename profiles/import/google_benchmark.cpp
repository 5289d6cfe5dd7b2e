// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/import/foreign_parts.hpp"

// Google Benchmark counts per second of the time that the benchmark chose: real_time with
// UseRealTime and UseManualTime, which its name tells, and cpu_time else.

namespace payoff::import_detail {
namespace {

struct TimeUnit {
  std::string_view name;
  double us;
};
constexpr std::array<TimeUnit, 4> time_units{{{"ns", 1e-3}, {"us", 1.0}, {"ms", 1e3}, {"s", 1e6}}};

// Parts of a name that say how it was run.
constexpr std::array<std::string_view, 5> of_the_run{"iterations", "repeats", "min_time",
                                                     "min_warmup_time", "threads"};

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : name) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == '/' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// "BM_Cast<half>/rows:64/1024/manual_time"
struct BenchmarkName {
  std::string kernel;
  std::map<std::string, double> parameters;
  bool counts_real_time{};
};

void read_part(const std::string& part, int& unnamed, BenchmarkName& name) {
  const std::size_t colon = part.find(':');
  const std::string key = colon == std::string::npos ? "" : part.substr(0, colon);
  const Parsed<double> value =
      parse_number(colon == std::string::npos ? part : part.substr(colon + 1));
  if (part == "real_time" || part == "manual_time") {
    name.counts_real_time = true;
  } else if (part == "process_time" ||
             std::find(of_the_run.begin(), of_the_run.end(), key) != of_the_run.end()) {
    return;
  } else if (!value) {
    name.kernel += "_" + part;
  } else if (key.empty()) {
    ++unnamed;
    name.parameters[unnamed == 1 ? "size" : fmt::format("argument_{}", unnamed)] = *value;
  } else {
    name.parameters[kernel_name(key)] = *value;
  }
}

BenchmarkName read_name(const std::string& text) {
  BenchmarkName name;
  const std::vector<std::string> parts = parts_of(text);
  name.kernel = parts.front().starts_with("BM_") ? parts.front().substr(3) : parts.front();
  int unnamed = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    read_part(parts[i], unnamed, name);
  }
  name.kernel = kernel_name(name.kernel);
  return name;
}

class GoogleBenchmarkReader : private JsonValues {
 public:
  GoogleBenchmarkReader(const SourceMap& sources, Diagnostics& diagnostics)
      : JsonValues(diagnostics), sources_(sources) {
    group_causes(sources);
  }

  ForeignMeasurements read(const Node& root) {
    ForeignMeasurements result;
    result.program = "Google Benchmark";
    if (const Node* context = find(root, "context", Node::Kind::map, true)) {
      read_context(*context, result);
    }
    if (const Node* runs = find(root, "benchmarks", Node::Kind::list, true)) {
      for (std::size_t i = 0; i < runs->items.size(); ++i) {
        set_record(fmt::format("record {}", i));
        read_run(runs->items[i]);
      }
    }
    tell_causes();
    report_repeats(repeats_, sources_, diagnostics());
    result.points = std::move(points_).points();
    return result;
  }

 private:
  void read_context(const Node& context, ForeignMeasurements& result) {
    result.version = text(context, "library_version", false);
    result.device.name = text(context, "gpu", false);
    const Node* date = find(context, "date", Node::Kind::scalar, false);
    if (date != nullptr) {
      if (const auto utc = utc_date(date->text)) {
        result.date = *utc;
      } else {
        wrong(date->span, "`date` cannot be read", "like 2026-11-20T12:00:00+01:00");
      }
    }
  }

  void read_run(const Node& run) {
    if (run.kind != Node::Kind::map) {
      wrong(run.span, "a benchmark is a mapping", "this is " + describe(run));
      return;
    }
    const std::string title = text(run, run.find("run_name") != nullptr ? "run_name" : "name");
    set_record(title);
    const std::string type = text(run, "run_type");
    if (run.find("error_occurred") != nullptr) {
      doubtful(run.span, "failed and is left out", text(run, "error_message", false));
    } else if (run.find("skipped") != nullptr) {
      doubtful(run.span, "was skipped and is left out", text(run, "skip_message", false));
    } else if (type == "iteration") {
      add_run(run, read_name(title));
    }
  }

  double time_us(const Node& run, std::string_view key, double unit) {
    const Node* time = find(run, key, Node::Kind::scalar, true);
    return time == nullptr ? 0.0
                           : unit * number_of(*time, key, shortest_sample / 1_us / unit,
                                              longest_sample / 1_us / unit);
  }

  // A count of one iteration from its rate: whole, because counts are.
  double counted(const Node& run, std::string_view key, double seconds) {
    return run.find(key) == nullptr ? 0.0 : std::round(number(run, key, 0.0) * seconds);
  }

  void add_run(const Node& run, const BenchmarkName& name) {
    const std::string unit_name = text(run, "time_unit");
    const auto* unit = std::find_if(time_units.begin(), time_units.end(),
                                    [&](const TimeUnit& each) { return each.name == unit_name; });
    if (unit == time_units.end()) {
      wrong(run.span,
            fmt::format("`time_unit` {} is none of ns, us, ms and s", backquoted(unit_name)));
      return;
    }
    if (name.kernel.empty()) {
      wrong(run.span, "its name has no letter");
      return;
    }
    if (run.find("threads") != nullptr && number(run, "threads", 1.0) > 1.0) {
      wrong(run.span, "several threads launch at once", "times of one launch are wanted");
      return;
    }
    SamplesPoint point = plain_point(run.span);
    point.kernel = name.kernel;
    point.parameters = name.parameters;
    const double time = time_us(run, "real_time", unit->us);
    const double counted_in = name.counts_real_time ? time : time_us(run, "cpu_time", unit->us);
    read_counts(run, counted_in * 1e-6, point);
    point.samples.push_back(time * 1_us);
    note_repetition(run, title_of(point));
    points_.add(std::move(point));
  }

  // Repetitions of one benchmark have indices of their own.
  void note_repetition(const Node& run, const std::string& title) {
    const std::string index = text(run, "repetition_index", false);
    const auto [first, is_new] = seen_.emplace(std::pair(title, index), run.span);
    if (!is_new) {
      repeats_.push_back({title, run.span, first->second});
    }
  }

  void read_counts(const Node& run, double seconds, SamplesPoint& point) {
    const bool has_parts =
        run.find("read_bytes") != nullptr || run.find("written_bytes") != nullptr;
    point.read = Bytes{has_parts ? number(run, "read_bytes", 0.0, false)
                                 : counted(run, "bytes_per_second", seconds)};
    point.written = Bytes{number(run, "written_bytes", 0.0, false)};
    point.flops = Flops{number(run, "flops", 0.0, false)};
    const double items = counted(run, "items_per_second", seconds);
    if (items > 0.0) {
      point.parameters.emplace("elements", items);
    }
  }

  const SourceMap& sources_;
  PointCollector points_;
  std::map<std::pair<std::string, std::string>, Span> seen_;  // by title and repetition
  std::vector<RepeatedPoint> repeats_;
};

}  // namespace

ForeignMeasurements read_google_benchmark(const Node& root, const SourceMap& sources,
                                          Diagnostics& diagnostics) {
  return GoogleBenchmarkReader(sources, diagnostics).read(root);
}

}  // namespace payoff::import_detail
