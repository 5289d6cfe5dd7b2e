// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/import/foreign_parts.hpp"

// nvbench writes times in seconds, integers and fractions alike as texts in {name, type, value};
// traffic and elements only as rates of the mean isolated time.

namespace payoff::import_detail {
namespace {

// The `value` of the member of a list that has this name.
const Node* value_named(const Node* list, std::string_view name) {
  if (list != nullptr) {
    for (const Node& each : list->items) {
      const Entry* own = each.find("name");
      const Entry* value = each.find("value");
      if (own != nullptr && value != nullptr && own->value.text == name) {
        return &value->value;
      }
    }
  }
  return nullptr;
}

class NvbenchReader : private JsonValues {
 public:
  NvbenchReader(const SourceMap& sources, Diagnostics& diagnostics) : JsonValues(diagnostics) {
    group_causes(sources);
  }

  ForeignMeasurements read(const Node& root) {
    result_.program = "nvbench";
    read_version(root);
    if (const Node* benchmarks = find(root, "benchmarks", Node::Kind::list, true)) {
      for (const Node& benchmark : benchmarks->items) {
        read_benchmark(benchmark);
      }
    }
    set_record("");
    if (const Node* devices = find(root, "devices", Node::Kind::list, true)) {
      read_device(*devices);
    }
    tell_causes();
    return std::move(result_);
  }

 private:
  void read_version(const Node& root) {
    const Node* meta = find(root, "meta", Node::Kind::map, true);
    const Node* versions =
        meta == nullptr ? nullptr : find(*meta, "version", Node::Kind::map, true);
    if (versions == nullptr) {
      return;
    }
    if (const Node* own = find(*versions, "nvbench", Node::Kind::map, false)) {
      result_.version = text(*own, "string", false);
    }
    const Node* format = find(*versions, "json", Node::Kind::map, true);
    if (format != nullptr && text(*format, "major") != "1") {
      wrong(format->span, "this version of nvbench's JSON is not known", "version 1 is read");
    }
  }

  void read_benchmark(const Node& benchmark) {
    set_record("");
    const std::string title = text(benchmark, "name");
    const Node* states = find(benchmark, "states", Node::Kind::list, true);
    if (states == nullptr) {
      return;
    }
    for (std::size_t i = 0; i < states->items.size(); ++i) {
      set_record(fmt::format("benchmark {}, state {}", title, i));
      read_state(title, states->items[i]);
    }
  }

  void read_state(const std::string& title, const Node& state) {
    if (text(state, "is_skipped") == "true") {
      doubtful(state.span, "was skipped and is left out", text(state, "skip_reason", false));
      return;
    }
    if (!is_of_one_device(state)) {
      return;
    }
    SamplesPoint point = plain_point(state.span);
    point.kernel = kernel_name(title);
    read_axes(state, point);
    if (point.kernel.empty()) {
      wrong(state.span, "the name of its benchmark has no letter");
      return;
    }
    summaries_.clear();
    read_summaries(state);
    read_times(state, point);
  }

  bool is_of_one_device(const Node& state) {
    const Node* device = find(state, "device", Node::Kind::scalar, true);
    if (device == nullptr) {
      return false;
    }
    if (device_.empty()) {
      device_ = device->text;
      device_place_ = device->span;
    }
    if (device->text != device_) {
      wrong(device->span, fmt::format("device {} after device {}", device->text, device_),
            "a samples file is of one device: nvbench --devices " + device_);
      return false;
    }
    return true;
  }

  // What is no number belongs to the name: a type, a distribution.
  void read_axes(const Node& state, SamplesPoint& point) {
    const Entry* axes = state.find("axis_values");
    if (axes == nullptr || axes->value.kind != Node::Kind::list) {
      return;  // null where there is no axis
    }
    for (const Node& axis : axes->value.items) {
      const std::string name = text(axis, "name");
      const Node* value = find(axis, "value", Node::Kind::scalar, true);
      if (value == nullptr || name == "Device") {
        continue;
      }
      const std::string key = kernel_name(name.substr(0, name.find('{')));
      if (text(axis, "type") == "string" || key.empty()) {
        point.kernel = kernel_name(point.kernel + "_" + value->text);
      } else {
        point.parameters[key] = number_of(*value, name, std::numeric_limits<double>::lowest());
      }
    }
  }

  void read_summaries(const Node& state) {
    const Node* list = find(state, "summaries", Node::Kind::list, true);
    if (list == nullptr) {
      return;
    }
    for (const Node& each : list->items) {
      const Entry* data = each.find("data");
      if (const Node* value = value_named(data == nullptr ? nullptr : &data->value, "value")) {
        summaries_[text(each, "tag")] = value;
      }
    }
  }

  [[nodiscard]] const Node* summary(const std::string& tag) const {
    const auto found = summaries_.find(tag);
    return found == summaries_.end() ? nullptr : found->second;
  }

  // 0 where it is not there.
  double amount(const std::string& tag) {
    const Node* node = summary(tag);
    return node == nullptr ? 0.0 : number_of(*node, tag, 0.0);
  }

  Seconds time(const std::string& tag) {
    return Seconds{number_of(*summary(tag), tag, shortest_sample.si, longest_sample.si)};
  }

  // nvbench writes infinity where there are too few samples to tell.
  [[nodiscard]] double noise() const {
    const Node* node = summary("nv/cold/time/gpu/stdev/relative");
    const Parsed<double> parsed = node == nullptr ? Parsed<double>{} : parse_number(node->text);
    return parsed && *parsed > 0.0 ? *parsed : 0.0;
  }

  void read_times(const Node& state, SamplesPoint& point) {
    const std::string mean = "nv/cold/time/gpu/mean";
    const std::string median = "nv/cold/time/gpu/median";
    const std::string batch = "nv/batch/time/gpu/mean";
    if (summary(mean) == nullptr && summary(batch) == nullptr) {
      doubtful(state.span, "has no time of the GPU and is left out");
      return;
    }
    if (summary(mean) != nullptr) {
      read_amounts(time(mean), point);
      SamplesPoint cold = point;
      cold.state = "cold";
      cold.samples = {time(summary(median) == nullptr ? mean : median)};
      const double count = amount("nv/cold/sample_size");
      cold.stands_for = SamplesSpread{as_count(count), noise()};
      if (summary("nv/cold/sm_clock_rate/scaling/percent") != nullptr) {
        cold.clock_ratio = amount("nv/cold/sm_clock_rate/scaling/percent");
      }
      result_.points.push_back(std::move(cold));
    }
    if (summary(batch) != nullptr) {
      point.samples = {time(batch)};
      point.stands_for = SamplesSpread{as_count(amount("nv/batch/sample_size")), 0.0};
      result_.points.push_back(std::move(point));
    }
  }

  static std::size_t as_count(double count) {
    return static_cast<std::size_t>(std::clamp(count, 1.0, 1e9));
  }

  // Counts are whole; the rates are these counts over the mean isolated time.
  void read_amounts(Seconds mean, SamplesPoint& point) {
    for (const auto& [tag, node] : summaries_) {
      if (tag.starts_with("nv/gmem/reads/")) {
        point.read += Bytes{number_of(*node, tag, 0.0)};
      } else if (tag.starts_with("nv/gmem/writes/")) {
        point.written += Bytes{number_of(*node, tag, 0.0)};
      }
    }
    const Bytes all{std::round(amount("nv/cold/bw/global/bytes_per_second") * mean.si)};
    if (all > point.traffic()) {
      point.read += all - point.traffic();
    }
    const double items = std::round(amount("nv/cold/bw/item_rate") * mean.si);
    if (items > 0.0) {
      point.parameters.emplace("elements", items);
    }
  }

  void read_device(const Node& devices) {
    for (const Node& each : devices.items) {
      if (text(each, "id") != device_) {
        continue;
      }
      SamplesDevice& device = result_.device;
      device.name = text(each, "name");
      device.multiprocessors = static_cast<int>(std::min(number(each, "number_of_sms", 1.0), 1e6));
      device.l2 = Bytes{number(each, "l2_cache_size", 0.0)};
      device.memory = Bytes{number(each, "global_memory_size", 0.0)};
      const auto version = static_cast<int>(std::min(number(each, "sm_version", 0.0), 1e6));
      device.compute_capability = fmt::format("{}.{}", version / 100, version % 100 / 10);
      return;
    }
    if (!device_.empty()) {
      wrong(device_place_, fmt::format("device {} is not in the list `devices`", device_));
    }
  }

  ForeignMeasurements result_;
  std::string device_;  // its id, as it is written
  Span device_place_;
  std::map<std::string, const Node*> summaries_;  // by tag
};

}  // namespace

ForeignMeasurements read_nvbench(const Node& root, const SourceMap& sources,
                                 Diagnostics& diagnostics) {
  return NvbenchReader(sources, diagnostics).read(root);
}

}  // namespace payoff::import_detail
