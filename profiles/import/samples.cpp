// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/document.hpp"
#include "profiles/import/json_tree.hpp"
#include "profiles/import/json_values.hpp"
#include "profiles/import/samples_together.hpp"

namespace payoff {
namespace {

constexpr double no_limit = std::numeric_limits<double>::max();

constexpr std::array<std::pair<std::string_view, SamplesOrigin>, 3> origins{{
    {"measured_local", SamplesOrigin::measured},
    {"synthetic", SamplesOrigin::synthetic},
    {"emulated", SamplesOrigin::emulated},
}};

class SamplesReader : private import_detail::JsonValues {
 public:
  explicit SamplesReader(Diagnostics& diagnostics) : JsonValues(diagnostics) {}

  SamplesFile read(const Node& root);

 private:
  void read_header(const Node& root, SamplesFile& file);
  void read_device(const Node& root, SamplesDevice& device);
  void read_anchors(const Node& root, SamplesFile& file);
  void read_timer(const Node& root, SamplesFile& file);
  SamplesPoint read_point(const Node& node, std::size_t place);
};

void SamplesReader::read_header(const Node& root, SamplesFile& file) {
  const std::string origin = text(root, "provenance");
  bool known = origin.empty();
  for (const auto& [name, value] : origins) {
    if (name == origin) {
      file.origin = value;
      known = true;
    }
  }
  if (!known) {
    wrong(root.find("provenance")->value.span, "unknown provenance " + backquoted(origin),
          "measured_local, synthetic or emulated");
  }
  file.date = text(root, "date");
  if (const Node* program = find(root, "program", Node::Kind::map, true)) {
    const std::string git = text(*program, "git", false);
    file.program = text(*program, "name") + " " + text(*program, "version") +
                   (git.empty() ? "" : " (" + git + ")");
    file.binary = text(*program, "binary_fnv1a64", false);
  }
  if (const Node* host = find(root, "host", Node::Kind::map, false)) {
    file.host_cpu = text(*host, "cpu", false);
  }
  if (const Node* libraries = find(root, "libraries", Node::Kind::map, false)) {
    for (const Entry& library : libraries->entries) {
      file.libraries[library.key] = library.value.text;
    }
  }
}

void SamplesReader::read_device(const Node& root, SamplesDevice& device) {
  const Node* node = find(root, "device", Node::Kind::map, true);
  if (node == nullptr) {
    return;
  }
  device.name = text(*node, "name");
  device.uuid_hash = text(*node, "uuid_hash", false);
  device.compute_capability = text(*node, "compute_capability", false);
  device.driver = text(*node, "driver", false);
  device.runtime = text(*node, "runtime", false);
  device.multiprocessors = static_cast<int>(std::min(
      number(*node, "multiprocessors", 1.0), static_cast<double>(std::numeric_limits<int>::max())));
  device.l2 = Bytes{number(*node, "l2_bytes", 0.0)};
  device.memory = Bytes{number(*node, "memory_bytes", 0.0)};
}

void SamplesReader::read_anchors(const Node& root, SamplesFile& file) {
  const Node* anchors = find(root, "anchors", Node::Kind::list, false);
  if (anchors == nullptr) {
    return;
  }
  for (const Node& each : anchors->items) {
    const double after = number(each, "after_points", 0.0);
    file.anchors.push_back({static_cast<std::size_t>(std::min(after, 1e9)),
                            Bandwidth{1e9 * number(each, "copy_gb_per_s", 1e-3)}});
  }
}

void SamplesReader::read_timer(const Node& root, SamplesFile& file) {
  const Node* check = find(root, "timer_check", Node::Kind::map, false);
  if (check == nullptr || check->find("not_checked") != nullptr) {
    return;
  }
  constexpr double least = shortest_sample / 1_us;
  file.timer = SamplesTimer{check->span, number(*check, "events_us", least) * 1_us,
                            number(*check, "records_us", least) * 1_us};
}

SamplesPoint SamplesReader::read_point(const Node& node, std::size_t place) {
  SamplesPoint point;
  point.place = node.span;
  set_record(fmt::format("point {}", place));
  if (node.kind != Node::Kind::map) {
    wrong(node.span, "a point is a mapping", "this is " + describe(node));
    return point;
  }
  point.kernel = text(node, "kernel");
  set_record(fmt::format("point {}, {}", place, point.kernel));
  point.family = text(node, "family", false);
  point.implementation = text(node, "implementation");
  point.input = text(node, "input", false);
  point.state = text(node, "state");
  point.mode = text(node, "mode");
  if (const Node* parameters = find(node, "parameters", Node::Kind::map, true)) {
    for (const Entry& each : parameters->entries) {
      point.parameters[each.key] = number_of(each.value, each.key, -no_limit, no_limit);
    }
  }
  point.read = Bytes{number(node, "read_bytes", 0.0)};
  point.written = Bytes{number(node, "written_bytes", 0.0)};
  point.flops = Flops{number(node, "flops", 0.0)};
  point.random_accesses = number(node, "random_accesses", 0.0, false);
  point.launches = number(node, "launches", 0.0);
  point.host_syncs = number(node, "host_syncs", 0.0);
  point.discarded = static_cast<std::size_t>(std::min(number(node, "discarded", 0.0, false), 1e9));
  if (node.find("clock_ratio") != nullptr) {
    point.clock_ratio = number(node, "clock_ratio", 0.0);
  }
  if (const Node* spread = find(node, "stands_for", Node::Kind::map, false)) {
    const double count = number(*spread, "count", 1.0);
    point.stands_for = SamplesSpread{static_cast<std::size_t>(std::min(count, 1e9)),
                                     number(*spread, "noise_ratio", 0.0, false)};
  }
  if (const Node* samples = find(node, "samples_us", Node::Kind::list, true)) {
    point.samples.reserve(samples->items.size());
    for (const Node& sample : samples->items) {
      point.samples.push_back(
          1_us * number_of(sample, "samples_us", shortest_sample / 1_us, longest_sample / 1_us));
    }
  }
  return point;
}

SamplesFile SamplesReader::read(const Node& root) {
  SamplesFile file;
  if (root.kind != Node::Kind::map) {
    wrong(root.span, "a samples file is one JSON object",
          root.kind == Node::Kind::list ? "several files joined? give them one by one"
                                        : "this is " + describe(root));
    return file;
  }
  if (text(root, "format") != "payoff-samples") {
    wrong(root.span, "this is no samples file of payoff-kernels",
          "its `format` is not \"payoff-samples\"");
    return file;
  }
  if (const Node* version = find(root, "version", Node::Kind::scalar, true);
      version != nullptr && version->text != "1") {
    wrong(version->span, "version " + backquoted(version->text) + " of samples is not known",
          "this program reads version 1");
    return file;
  }
  read_header(root, file);
  read_device(root, file.device);
  read_anchors(root, file);
  read_timer(root, file);
  if (const Node* points = find(root, "points", Node::Kind::list, true)) {
    for (const Node& each : points->items) {
      file.points.push_back(read_point(each, file.points.size() + 1));
    }
    set_record({});
    if (points->items.empty()) {
      wrong(points->span, "there is no point in this file");
    }
  }
  if (const Node* together = find(root, "interference", Node::Kind::list, false)) {
    file.together = import_detail::read_together(*together, *this);
  }
  return file;
}

}  // namespace

std::string title_of(const SamplesPoint& point) {
  std::string title = fmt::format("{} ({}), {}, {}, {}", point.kernel, point.implementation,
                                  point.state, point.mode, point.input);
  for (const auto& [name, value] : point.parameters) {
    title += fmt::format(", {}={}", name, value);
  }
  return title;
}

std::optional<SamplesFile> parse_samples(Span text, const SourceMap& sources,
                                         Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.error_count();
  const std::optional<Node> root = parse_json_tree(text, sources, diagnostics);
  if (!root) {
    return std::nullopt;
  }
  SamplesFile file = SamplesReader(diagnostics).read(*root);
  file.file = sources[text.source].name;
  return diagnostics.error_count() == before ? std::optional(std::move(file)) : std::nullopt;
}

void report_twins(const std::vector<SamplesFile>& files, const SourceMap& sources,
                  Diagnostics& diagnostics) {
  std::map<std::string, Span> seen;
  const auto add = [&](const std::string& title, Span place) {
    const auto [first, is_new] = seen.emplace(title, place);
    if (!is_new) {
      diagnostics.error(place, "the point " + title + " is there twice",
                        "first at " + sources.place(first->second));
    }
  };
  for (const SamplesFile& file : files) {
    for (const SamplesPoint& point : file.points) {
      add(title_of(point), point.place);
    }
    for (const SamplesTogether& together : file.together) {
      add(title_of(together), together.place);
    }
  }
}

std::vector<SamplesFile> read_samples(const std::vector<std::string>& paths, SourceMap& sources,
                                      Diagnostics& diagnostics) {
  std::vector<SamplesFile> files;
  for (const std::string& path : paths) {
    const std::size_t source = sources.add_file(path, import_detail::read_measurements(path));
    const Span whole{source, 0, sources[source].text.size()};
    if (auto file = parse_samples(whole, sources, diagnostics)) {
      if (!files.empty() && !(file->device == files.front().device)) {
        diagnostics.error(Span{source, 0, 1},
                          "the device " + backquoted(file->device.name) + " is not that of " +
                              files.front().file + ", " + backquoted(files.front().device.name),
                          "", "one profile is of one device: fit the files one by one");
      }
      if (file->origin != SamplesOrigin::measured) {
        diagnostics.warning(Span{source, 0, 1}, file->origin == SamplesOrigin::emulated
                                                    ? "these times are of an emulated GPU"
                                                    : "these times are drawn, not measured");
      }
      files.push_back(std::move(*file));
    }
  }
  report_twins(files, sources, diagnostics);
  return diagnostics.has_errors() ? std::vector<SamplesFile>{} : files;
}

}  // namespace payoff
