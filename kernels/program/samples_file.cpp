// SPDX-License-Identifier: Apache-2.0
#include "kernels/program/samples_file.hpp"

#include <array>
#include <cmath>

#include "kernels/harness/json_writer.hpp"
#include "kernels/program/outputs.hpp"

namespace payoff::kernels {
namespace {

std::uint64_t whole(Bytes bytes) { return static_cast<std::uint64_t>(bytes / Bytes{1.0}); }

void text_if_known(JsonWriter& json, std::string_view key, const std::string& value) {
  if (!value.empty()) {
    json.text(key, value);
  }
}

void write_program(JsonWriter& json, const SamplesFile& file) {
  json.begin_object("program");
  json.text("name", "payoff-kernels");
  json.text("version", file.program_version);
  if (file.binary_hash) {
    json.text("binary_fnv1a64", hexadecimal(*file.binary_hash, 16));
  }
  text_if_known(json, "nvcc", file.compiler);
  text_if_known(json, "git", file.git);
  json.end_object();
}

void write_device(JsonWriter& json, const Machine& machine) {
  json.begin_object("device");
  json.text("name", machine.name);
  text_if_known(json, "uuid_hash", machine.uuid_hash);
  json.whole("count", static_cast<std::uint64_t>(machine.count));
  json.text("compute_capability", machine.compute_capability);
  json.whole("multiprocessors", machine.multiprocessors);
  json.whole("l2_bytes", whole(machine.l2));
  json.whole("shared_bytes_per_multiprocessor", whole(machine.shared_per_multiprocessor));
  json.whole("memory_bytes", whole(machine.memory));
  json.whole("memory_bus_bits", static_cast<std::uint64_t>(machine.memory_bus_bits));
  json.number("memory_clock_hz", machine.memory_clock_hz);
  json.number("clock_hz", machine.clock_hz);
  json.truth("ecc", machine.ecc);
  if (machine.mig) {
    json.truth("mig", *machine.mig);
  }
  if (machine.power_limit_w) {
    json.number("power_limit_w", *machine.power_limit_w);
  }
  if (machine.temperature_c) {
    json.number("temperature_c", *machine.temperature_c);
  }
  if (machine.throttle_reasons) {
    json.text("throttle_reasons", *machine.throttle_reasons);
  }
  text_if_known(json, "driver", machine.driver);
  text_if_known(json, "runtime", machine.runtime);
  json.end_object();
}

void write_anchors(JsonWriter& json, const std::vector<Anchor>& anchors) {
  json.begin_list("anchors");
  for (const Anchor& anchor : anchors) {
    json.begin_object();
    json.whole("after_points", anchor.after_points);
    json.number("copy_gb_per_s", anchor.copied / Bandwidth{1e9});
    json.end_object();
  }
  json.end_list();
}

void write_parameters(JsonWriter& json, const Parameters& parameters) {
  json.begin_object("parameters");
  for (const auto& [name, value] : parameters) {
    json.number(name, value);
  }
  json.end_object();
}

// What the samples were taken under: the clock that each had, and what was not as it should be.
void write_conditions(JsonWriter& json, const Measurement& measured) {
  if (measured.timed_out > 0) {
    json.whole("timed_out", measured.timed_out);
  }
  if (!measured.gated) {
    json.truth("gated", false);
  }
  if (measured.clock_ratios.empty()) {
    return;
  }
  std::vector<double> ratios;
  for (const double ratio : measured.clock_ratios) {
    constexpr double digits = 1e4;
    ratios.push_back(std::round(digits * ratio / measured.clock_reference) / digits);
  }
  json.numbers("clock_ratios", ratios);
  json.number("clock_ratio", upper_median(measured.clock_ratios) / measured.clock_reference);
  json.number("clock_reference", measured.clock_reference);
}

void write_point(JsonWriter& json, const MeasuredPoint& measured) {
  const Point& point = measured.point;
  json.begin_object();
  json.text("kernel", point.kernel);
  json.text("family", point.family);
  json.text("implementation", point.implementation);
  json.text("input", point.input);
  json.text("state", point.state);
  json.text("mode", measured.mode == Mode::graph ? "graph" : "stream");
  write_parameters(json, point.parameters);
  text_if_known(json, "instead_of", point.instead_of);
  json.number("read_bytes", point.traffic.read / Bytes{1.0});
  json.number("written_bytes", point.traffic.written / Bytes{1.0});
  json.number("flops", point.traffic.flops / Flops{1.0});
  json.number("random_accesses", point.traffic.random_accesses);
  json.whole("launches", static_cast<std::uint64_t>(point.traffic.launches));
  json.whole("host_syncs", static_cast<std::uint64_t>(point.traffic.host_syncs));
  std::vector<double> microseconds;
  microseconds.reserve(measured.measurement.samples.size());
  for (const Seconds sample : measured.measurement.samples) {
    microseconds.push_back(sample / 1_us);
  }
  json.numbers("samples_us", microseconds);
  json.whole("discarded", measured.measurement.discarded);
  json.text("stop", name(measured.measurement.stop));
  write_conditions(json, measured.measurement);
  if (measured.checksum) {
    json.text("checksum", hexadecimal(*measured.checksum, 16));
  }
  json.end_object();
}

void write_neighbour(JsonWriter& json, const MeasuredNeighbour& measured, double clock_reference) {
  const Point& point = measured.of.benchmark.point;
  json.begin_object();
  json.text("kernel", point.kernel);
  json.text("role", name(measured.of.role));
  write_parameters(json, point.parameters);
  text_if_known(json, "instead_of", point.instead_of);
  json.number("read_bytes", point.traffic.read / Bytes{1.0});
  json.number("written_bytes", point.traffic.written / Bytes{1.0});
  if (measured.of.units_held > 0) {
    json.whole("units_held", measured.of.units_held);
  }
  if (measured.of.blocks > 0) {
    json.whole("blocks", measured.of.blocks);
  }
  json.number("alone_us", measured.alone / 1_us);
  json.number("together_us", measured.together / 1_us);
  json.number("alone_clock_ratio", measured.alone_clock / clock_reference);
  json.end_object();
}

void write_neighbours(JsonWriter& json, const std::vector<MeasuredNeighbours>& all) {
  json.begin_list("interference");
  for (const MeasuredNeighbours& measured : all) {
    json.begin_object();
    json.number("window_ms", measured.window / 1_ms);
    json.number("clock_ratio", measured.clock / measured.clock_reference);
    json.number("clock_reference", measured.clock_reference);
    if (measured.copied_before > Bandwidth{} && measured.copied_after > Bandwidth{}) {
      json.numbers("copy_gb_per_s", std::array{measured.copied_before / Bandwidth{1e9},
                                               measured.copied_after / Bandwidth{1e9}});
    }
    if (measured.repeats > 0) {
      json.whole("repeats", measured.repeats);
    }
    json.begin_list("members");
    for (const MeasuredNeighbour& member : measured.members) {
      write_neighbour(json, member, measured.clock_reference);
    }
    json.end_list();
    json.end_object();
  }
  json.end_list();
}

void write_timer(JsonWriter& json, const TimerCheck& check) {
  json.begin_object("timer_check");
  if (check.why_none.empty()) {
    json.text("kernel", check.kernel);
    json.whole("runs", check.runs);
    json.number("moved_bytes", check.traffic / Bytes{1.0});
    json.number("events_us", check.by_events / 1_us);
    json.number("records_us", check.by_records / 1_us);
  } else {
    json.text("not_checked", check.why_none);
  }
  json.end_object();
}

}  // namespace

std::string text_of(const SamplesFile& file) {
  JsonWriter json;
  json.begin_object();
  json.text("format", "payoff-samples");
  json.whole("version", 1);
  json.text("provenance", file.emulated ? "emulated" : "measured_local");
  json.text("date", file.date);
  json.whole("seed", file.seed);
  write_program(json, file);
  write_device(json, file.machine);
  json.begin_object("libraries");
  for (const Library& library : file.libraries) {
    json.text(library.name, library.version);
  }
  json.end_object();
  if (!file.host_cpu.empty()) {
    json.begin_object("host");
    json.text("cpu", file.host_cpu);
    json.end_object();
  }
  write_anchors(json, file.anchors);
  if (file.timer) {
    write_timer(json, *file.timer);
  }
  json.begin_list("points");
  for (const MeasuredPoint& point : file.points) {
    write_point(json, point);
  }
  json.end_list();
  if (!file.neighbours.empty()) {
    write_neighbours(json, file.neighbours);
  }
  return json.finished();
}

}  // namespace payoff::kernels
