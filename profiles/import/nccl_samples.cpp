// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/foreign_parts.hpp"
#include "profiles/import/nccl_log.hpp"

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
  return {text.source, text.offset + at, std::max<std::size_t>(end - at, 1)};
}

void report(const Findings& findings, Span text, const SourceMap& sources,
            Diagnostics& diagnostics) {
  for (const Finding& finding : findings) {
    const Span place = span_of(finding, text, sources);
    if (finding.effect == Effect::rejected) {
      diagnostics.error(place, finding.message);
    } else {
      diagnostics.warning(place, finding.message);
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

ForeignMeasurements read_nccl(Span text, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::string characters(sources.text(text));
  const std::string& file = sources[text.source].name;
  const bool is_json = characters.find_first_not_of(" \t\r\n") == characters.find('{');
  const NcclImport import =
      is_json ? parse_nccl_json(characters, file) : parse_nccl_log(characters, file);
  report(import.findings, text, sources, diagnostics);
  ForeignMeasurements result;
  result.program = "nccl-tests";
  PointCollector points;
  for (const NcclTable& table : import.tables) {
    result.version = table.nccl_version.empty() ? "" : "NCCL " + table.nccl_version;
    result.device.name = table.device_name;
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
  result.points = std::move(points).points();
  return result;
}

}  // namespace payoff::import_detail
