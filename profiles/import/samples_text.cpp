// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "profiles/import/foreign.hpp"

namespace payoff {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson point_json(const SamplesPoint& point) {
  OrderedJson json{
      {"kernel", point.kernel}, {"family", point.family}, {"implementation", point.implementation},
      {"input", point.input},   {"state", point.state},   {"mode", point.mode}};
  json["parameters"] = OrderedJson::object();
  for (const auto& [name, value] : point.parameters) {
    json["parameters"][name] = value;
  }
  json["read_bytes"] = point.read.si;
  json["written_bytes"] = point.written.si;
  json["flops"] = point.flops.si;
  json["random_accesses"] = point.random_accesses;
  json["launches"] = static_cast<std::int64_t>(point.launches);
  json["host_syncs"] = static_cast<std::int64_t>(point.host_syncs);
  json["samples_us"] = OrderedJson::array();
  for (const Seconds sample : point.samples) {
    json["samples_us"].push_back(sample / 1_us);
  }
  json["discarded"] = point.discarded;
  json["stop"] = "foreign";
  if (point.clock_ratio > 0.0 && point.clock_ratio != 1.0) {
    json["clock_ratio"] = point.clock_ratio;
  }
  if (point.stands_for) {
    json["stands_for"]["count"] = point.stands_for->count;
    if (point.stands_for->noise > 0.0) {
      json["stands_for"]["noise_ratio"] = point.stands_for->noise;
    }
  }
  return json;
}

OrderedJson device_json(const SamplesDevice& device) {
  OrderedJson json{{"name", device.name}};
  if (!device.compute_capability.empty()) {
    json["compute_capability"] = device.compute_capability;
  }
  json["multiprocessors"] = device.multiprocessors;
  json["l2_bytes"] = static_cast<std::int64_t>(device.l2.si);
  json["memory_bytes"] = static_cast<std::int64_t>(device.memory.si);
  return json;
}

}  // namespace

bool is_samples_file(std::string_view beginning) {
  return beginning.starts_with('{') &&
         beginning.find("\"payoff-samples\"") != std::string_view::npos;
}

std::string samples_text(const ImportedSamples& imported) {
  const SamplesFile& samples = imported.samples;
  OrderedJson json{{"format", "payoff-samples"},
                   {"version", 1},
                   {"provenance", "measured_local"},
                   {"date", samples.date},
                   {"seed", 0}};
  json["program"] = {{"name", imported.program}, {"version", "(imported)"}};
  json["device"] = device_json(samples.device);
  json["imported_from"] = OrderedJson::array();
  for (const auto& [file, format] : imported.sources) {
    json["imported_from"].push_back({{"file", file}, {"format", std::string(name(format))}});
  }
  json["points"] = OrderedJson::array();
  for (const SamplesPoint& point : samples.points) {
    json["points"].push_back(point_json(point));
  }
  return json.dump(1) + "\n";
}

}  // namespace payoff
