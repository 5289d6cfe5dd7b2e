// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiles/import/by_cause.hpp"
#include "profiles/import/foreign_parts.hpp"
#include "profiles/import/nccl_log.hpp"
#include "profiles/import/nccl_run.hpp"

// A collective as a point: its traffic is the message as nccl-tests counts it, so that the
// bandwidth of a law is algbw. Out of place and in place are laws of their own.

namespace payoff::import_detail {
namespace {

// From lines and columns to places in a text.
class LinePlaces {
 public:
  LinePlaces(Span text, const SourceMap& sources) : text_(text), characters_(sources.text(text)) {
    for (std::size_t end = characters_.find('\n'); end != std::string_view::npos;
         end = characters_.find('\n', end + 1)) {
      begins_.push_back(end + 1);
    }
  }

  // Both from 1; a line beyond the last is the last, 0 the first.
  [[nodiscard]] Span of(int line, int column) const {
    const std::size_t index =
        std::min(static_cast<std::size_t>(std::max(line, 1) - 1), begins_.size() - 1);
    const std::size_t begin = begins_[index];
    const std::size_t end =
        index + 1 < begins_.size() ? begins_[index + 1] - 1 : characters_.size();
    const std::size_t at = std::min(begin + static_cast<std::size_t>(std::max(column, 1) - 1), end);
    // Within a line the word is meant, at its beginning all of it.
    const std::size_t last =
        at > begin ? std::min(characters_.find_first_of(" \t,}", at), end) : end;
    return {text_.source, text_.offset + at, std::max<std::size_t>(last - at, 1)};
  }

 private:
  Span text_;
  std::string_view characters_;
  std::vector<std::size_t> begins_{0};  // of lines
};

void report(const Findings& findings, const LinePlaces& places, const SourceMap& sources,
            Diagnostics& diagnostics) {
  ByCause causes(sources);
  for (const Finding& finding : findings) {
    const Severity severity =
        finding.effect == Effect::rejected ? Severity::error : Severity::warning;
    const Span place = places.of(finding.line, finding.column);
    causes.add(finding.message, {severity, finding.message, place, {}, finding.help, {}});
  }
  causes.tell(diagnostics);
}

// Every GPU that is not the first one's, once, in one run or from run to run.
void report_mixed(const NcclImport& import, const LinePlaces& places, Diagnostics& diagnostics) {
  const NcclDevice* first = nullptr;
  std::set<std::string> told;
  for (const NcclTable& table : import.tables) {
    for (const NcclDevice& each : table.devices) {
      first = first == nullptr ? &each : first;
      if (each.name == first->name || !told.insert(each.name).second) {
        continue;
      }
      Span place = places.of(each.line, each.column);
      place.length = each.name.size();
      diagnostics.error(
          place,
          fmt::format("rank {} is on {}, and rank {} at line {} on {}", each.rank,
                      backquoted(each.name), first->rank, first->line, backquoted(first->name)),
          "another GPU", "one samples file is of one device: measure among GPUs of one kind");
    }
  }
}

SamplesPoint point_of(const NcclTable& table, const NcclRow& row, bool in_place) {
  SamplesPoint point = plain_point({});
  point.kernel = kernel_name(
      "nccl_" + (table.collective.empty() ? "collective" : table.collective) + "_" + table.dtype);
  point.family = "collectives";
  point.implementation = "library";
  point.mode = table.launch.ends_with("graph") ? "graph" : "stream";
  point.parameters = {{"size", row.size.si},
                      {"gpus", table.gpus},
                      {"nodes", table.nodes},
                      {"in_place", in_place ? 1.0 : 0.0}};
  point.read = row.size;
  point.samples = {in_place ? *row.in_place : row.out_of_place};
  return point;
}

}  // namespace

ForeignMeasurements read_nccl(Span text, const Node* root, const SourceMap& sources,
                              Diagnostics& diagnostics) {
  const std::string& file = sources[text.source].name;
  const NcclImport import = root != nullptr ? nccl_import_of(*root, sources, file)
                                            : parse_nccl_log(std::string(sources.text(text)), file);
  const LinePlaces places(text, sources);
  report(import.findings, places, sources, diagnostics);
  report(import.doubts, places, sources, diagnostics);
  report_mixed(import, places, diagnostics);
  ForeignMeasurements result;
  result.program = "nccl-tests";
  PointCollector points;
  for (const NcclTable& table : import.tables) {
    result.version = table.nccl_version.empty() ? "" : "NCCL " + table.nccl_version;
    if (result.device.name.empty() && !table.devices.empty()) {
      result.device.name = table.devices.front().name;
    }
    for (const NcclRow& row : table.rows) {
      for (const bool in_place : {false, true}) {
        if (!in_place || row.in_place) {
          SamplesPoint point = point_of(table, row, in_place);
          point.place = places.of(row.line, 1);
          points.add(std::move(point));
        }
      }
    }
  }
  report_repeats(points.repeats(), sources, diagnostics);
  result.points = std::move(points).points();
  return result;
}

}  // namespace payoff::import_detail
