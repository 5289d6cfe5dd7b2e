// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/document.hpp"
#include "profiles/import/foreign.hpp"
#include "profiles/import/json_tree.hpp"
#include "profiles/import/json_values.hpp"
#include "profiles/import/samples_device.hpp"
#include "profiles/import/samples_keys.hpp"
#include "profiles/import/samples_point.hpp"
#include "profiles/import/samples_rules.hpp"
#include "profiles/import/samples_together.hpp"

namespace payoff {
namespace {

using import_detail::implementation_choices;
using import_detail::input_choices;
using import_detail::mode_choices;
using import_detail::most_count;
using import_detail::most_traffic;
using import_detail::state_choices;

constexpr std::array<std::string_view, 3> provenance_choices{"measured_local", "synthetic",
                                                             "emulated"};
constexpr std::array<std::pair<std::string_view, SamplesOrigin>, 3> origins{{
    {"measured_local", SamplesOrigin::measured},
    {"synthetic", SamplesOrigin::synthetic},
    {"emulated", SamplesOrigin::emulated},
}};

class SamplesReader : private import_detail::JsonValues {
 public:
  SamplesReader(const SourceMap& sources, Diagnostics& diagnostics) : JsonValues(diagnostics) {
    group_causes(sources);
    take_bare_numbers();
  }

  SamplesFile read(const Node& root) {
    SamplesFile file = read_root(root);
    tell_causes();
    return file;
  }
  [[nodiscard]] const std::set<std::size_t>& nameless() const { return nameless_; }

 private:
  bool is_samples(const Node& root);  // of a version that this program reads
  SamplesFile read_root(const Node& root);
  void read_header(const Node& root, SamplesFile& file);
  void read_device(const Node& root, SamplesDevice& device);
  void read_anchors(const Node& root, SamplesFile& file);
  void read_timer(const Node& root, SamplesFile& file);
  SamplesPoint read_point(const Node& node, std::size_t place);

  std::set<std::size_t> nameless_;  // points of which something that names them is wrong
};

void SamplesReader::read_header(const Node& root, SamplesFile& file) {
  const std::string origin =
      import_detail::choice_of(*this, root, "provenance", provenance_choices);
  for (const auto& [name, value] : origins) {
    file.origin = name == origin ? value : file.origin;
  }
  if (const Node* date = find(root, "date", Node::Kind::scalar, true)) {
    file.date = date->text;
    const auto utc = utc_date(date->text);
    if (utc != date->text) {
      wrong(date->span, backquoted(date->text) + " is not a date of a samples file",
            utc ? "did you mean `" + *utc + "`?" : "like 2026-11-20T11:00:00Z");
    }
  }
  (void)number(root, "seed", 0.0);
  if (const Node* program = find(root, "program", Node::Kind::map, true)) {
    const std::string git = text(*program, "git", false);
    file.program = text(*program, "name") + " " + text(*program, "version") +
                   (git.empty() ? "" : " (" + git + ")");
    file.binary = text(*program, "binary_fnv1a64", false);
    refuse_others(*program, import_detail::program_keys);
  }
  if (const Node* host = find(root, "host", Node::Kind::map, false)) {
    file.host_cpu = text(*host, "cpu", false);
    refuse_others(*host, import_detail::host_keys);
  }
  if (const Node* libraries = find(root, "libraries", Node::Kind::map, false)) {
    for (const Entry& library : libraries->entries) {
      file.libraries[library.key] = library.value.text;
    }
    refuse_others(*libraries, import_detail::library_keys);
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
  device.multiprocessors =
      static_cast<int>(number(*node, "multiprocessors", 1.0, true, most_count));
  device.l2 = Bytes{number(*node, "l2_bytes", 0.0, true, most_traffic)};
  device.memory = Bytes{number(*node, "memory_bytes", 0.0, true, most_traffic)};
  refuse_others(*node, import_detail::device_keys);
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
    refuse_others(each, import_detail::anchor_keys);
  }
}

void SamplesReader::read_timer(const Node& root, SamplesFile& file) {
  const Node* check = find(root, "timer_check", Node::Kind::map, false);
  if (check == nullptr) {
    return;
  }
  const std::size_t before = problems();
  refuse_others(*check, import_detail::timer_keys);
  if (problems() > before || check->find("not_checked") != nullptr) {
    return;  // a misspelt one may be any of those that are missing
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
  const std::size_t before = problems();
  point.kernel = import_detail::kernel_of(*this, node);
  if (!point.kernel.empty()) {
    set_record(fmt::format("point {}, {}", place, point.kernel));
  }
  point.family = text(node, "family");
  point.implementation =
      import_detail::choice_of(*this, node, "implementation", implementation_choices);
  point.input = import_detail::choice_of(*this, node, "input", input_choices);
  point.state = import_detail::choice_of(*this, node, "state", state_choices);
  point.mode = import_detail::choice_of(*this, node, "mode", mode_choices);
  point.parameters = import_detail::parameters_of(*this, node);
  if (problems() > before) {
    nameless_.insert(place - 1);  // it may be any other's twin
  }
  import_detail::read_amounts(node, point, *this);
  import_detail::read_times(node, point, *this);
  return point;
}

bool SamplesReader::is_samples(const Node& root) {
  if (root.kind != Node::Kind::map) {
    wrong(root.span, "a samples file is one JSON object",
          root.kind == Node::Kind::list ? "several files joined? give them one by one"
                                        : "this is " + describe(root));
    return false;
  }
  if (text(root, "format") != "payoff-samples") {
    wrong(root.span, "this is no samples file of payoff-kernels",
          "its `format` is not \"payoff-samples\"");
    return false;
  }
  const Node* version = find(root, "version", Node::Kind::scalar, true);
  if (version == nullptr || (version->text == "1" && !is_quoted(*version))) {
    return true;
  }
  if (is_quoted(*version)) {
    wrong(version->span, "`version` is a text, not a number",
          version->text + " without the quotes");
  } else {
    wrong(version->span, "version " + backquoted(version->text) + " of samples is not known",
          "this program reads version 1");
  }
  return false;
}

SamplesFile SamplesReader::read_root(const Node& root) {
  SamplesFile file;
  if (!is_samples(root)) {
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
  if (const Node* imported = find(root, "imported_from", Node::Kind::list, false)) {
    for (const Node& each : imported->items) {
      refuse_others(each, import_detail::origin_keys);
    }
  }
  refuse_others(root, import_detail::file_keys);
  return file;
}

// What can be read, whatever else is wrong; points that nobody can name are left out.
std::optional<SamplesFile> read_text(Span text, const SourceMap& sources,
                                     Diagnostics& diagnostics) {
  const std::optional<Node> root = parse_measured_tree(text, sources, diagnostics);
  if (!root) {
    return std::nullopt;
  }
  SamplesReader reader(sources, diagnostics);
  SamplesFile file = reader.read(*root);
  file.file = sources[text.source].name;
  std::size_t place = 0;
  std::erase_if(file.points,
                [&](const SamplesPoint&) { return reader.nameless().contains(place++); });
  return file;
}

}  // namespace

std::optional<SamplesFile> parse_samples(Span text, const SourceMap& sources,
                                         Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.error_count();
  std::optional<SamplesFile> file = read_text(text, sources, diagnostics);
  return diagnostics.error_count() == before ? std::move(file) : std::nullopt;
}

std::vector<SamplesFile> read_samples(const std::vector<std::string>& paths, SourceMap& sources,
                                      Diagnostics& diagnostics) {
  std::vector<SamplesFile> sound;
  std::vector<SamplesFile> all;  // with what is left of those that are not
  std::vector<std::string> unreadable;
  for (const std::string& path : paths) {
    try {
      const std::size_t source = sources.add_file(path, import_detail::read_measurements(path));
      const std::size_t before = diagnostics.error_count();
      auto file = read_text({source, 0, sources[source].text.size()}, sources, diagnostics);
      if (file && diagnostics.error_count() == before) {
        import_detail::check_device(*file, sound.empty() ? *file : sound.front(), {source, 0, 1},
                                    diagnostics);
        sound.push_back(*file);
      }
      if (file) {
        all.push_back(std::move(*file));
      }
    } catch (const std::runtime_error& error) {
      unreadable.emplace_back(error.what());
    }
  }
  report_twins(all, sources, diagnostics);
  if (!unreadable.empty()) {
    throw std::runtime_error(fmt::format("{}", fmt::join(unreadable, "\nerror: ")));
  }
  return diagnostics.has_errors() ? std::vector<SamplesFile>{} : sound;
}

}  // namespace payoff
