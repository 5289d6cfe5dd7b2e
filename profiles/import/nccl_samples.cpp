// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/by_cause.hpp"
#include "profiles/import/foreign_parts.hpp"
#include "profiles/import/nccl_log.hpp"
#include "profiles/import/nccl_run.hpp"

// A collective as a point: its traffic is the message as nccl-tests counts it, so that the
// bandwidth of a law is algbw. Out of place and in place are laws of their own.

namespace payoff::import_detail {
namespace {

Span span_of(const Finding& finding, Span text, const SourceMap& sources) {
  const std::string_view characters = sources.text(text);
  std::size_t begin = 0;
  for (int line = 1; line < finding.line && begin < characters.size(); ++line) {
    begin = std::min(characters.find('\n', begin), characters.size() - 1) + 1;
  }
  const std::size_t end = std::min(characters.find('\n', begin), characters.size());
  const auto column = static_cast<std::size_t>(std::max(finding.column, 1) - 1);
  const std::size_t at = std::min(begin + column, end);
  // Within a line the word is meant, at its beginning all of it.
  const std::size_t word = std::min(characters.find_first_of(" \t,}", at), end);
  return {text.source, text.offset + at, std::max<std::size_t>((at > begin ? word : end) - at, 1)};
}

void report(const Findings& findings, Span text, const SourceMap& sources,
            Diagnostics& diagnostics) {
  ByCause causes(sources);
  for (const Finding& finding : findings) {
    const Severity severity =
        finding.effect == Effect::rejected ? Severity::error : Severity::warning;
    causes.add(finding.message,
               {severity, finding.message, span_of(finding, text, sources), {}, finding.help, {}});
  }
  causes.tell(diagnostics);
}

// Every GPU that is not the first one's, once, in one run or from run to run.
void report_mixed(const NcclImport& import, Span text, const SourceMap& sources,
                  Diagnostics& diagnostics) {
  const NcclDevice* first = nullptr;
  std::set<std::string> told;
  for (const NcclTable& table : import.tables) {
    for (const NcclDevice& each : table.devices) {
      first = first == nullptr ? &each : first;
      if (each.name == first->name || !told.insert(each.name).second) {
        continue;
      }
      Span place = span_of({{}, each.line, each.column, {}, {}, {}}, text, sources);
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
  report(import.findings, text, sources, diagnostics);
  report(import.doubts, text, sources, diagnostics);
  report_mixed(import, text, sources, diagnostics);
  ForeignMeasurements result;
  result.program = "nccl-tests";
  PointCollector points;
  for (const NcclTable& table : import.tables) {
    result.version = table.nccl_version.empty() ? "" : "NCCL " + table.nccl_version;
    if (result.device.name.empty() && !table.devices.empty()) {
      result.device.name = table.devices.front().name;
    }
    for (const NcclRow& row : table.rows) {
      const Finding place{file, row.line, 1, {}, {}, {}};
      for (const bool in_place : {false, true}) {
        if (!in_place || row.in_place) {
          SamplesPoint point = point_of(table, row, in_place);
          point.place = span_of(place, text, sources);
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
