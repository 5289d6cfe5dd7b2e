// SPDX-License-Identifier: Apache-2.0
#include "cli/observed_run.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "calibrate/network_fit.hpp"
#include "cli/counted.hpp"
#include "cli/file_text.hpp"
#include "cli/finding_places.hpp"
#include "profiles/import/collective_case.hpp"
#include "profiles/import/nccl_log.hpp"

namespace payoff {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string run_of(const NcclTable& table) {
  return fmt::format("{} of {} on {}", table.collective.empty() ? "a collective" : table.collective,
                     counted(table.gpus, "rank"), counted(table.nodes, "node"));
}

class RunReader {
 public:
  RunReader(const Argument& named, Session& session) : named_(named), session_(session) {}

  std::optional<ObservedRun> read() {
    const NcclImport import = read_nccl();
    const std::size_t errors = session_.diagnostics().error_count();
    for (const Finding& finding : import.findings) {
      report(finding);
    }
    for (const Finding& doubt : import.doubts) {
      report_finding(doubt, Severity::warning, "", session_);
    }
    if (import.tables.size() > 1) {
      const NcclTable& second = import.tables[1];
      report({named_.text, second.line, 1, "",
              fmt::format("a second run, {}, after {}: one file is one measurement", run_of(second),
                          run_of(import.tables.front()))});
    }
    if (session_.diagnostics().error_count() > errors || import.tables.empty()) {
      return std::nullopt;
    }
    return observed(import.tables.front());
  }

 private:
  NcclImport read_nccl() {
    session_.reads(named_.text);
    const std::string text = contents_of(named_.text);
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string::npos) {
      NcclImport empty;
      empty.findings.push_back({named_.text, 0, 0, "", "is empty", Effect::rejected});
      return empty;
    }
    return text[first] == '{' ? parse_nccl_json(text, named_.text)
                              : parse_nccl_log(text, named_.text);
  }

  // Whatever a finding does to a table elsewhere: half a measurement is none.
  void report(const Finding& finding) {
    if (finding.line > 0) {
      report_finding(finding, Severity::error, "", session_);
    } else {
      session_.diagnostics().error(
          named_.span, fmt::format("{} {}", backquoted(named_.text), finding.message), "",
          "what nccl-tests printed or wrote with `-J`, or a trace of PyTorch's profiler");
    }
  }

  std::optional<ObservedRun> observed(const NcclTable& table) {
    ObservedRun run;
    run.gpu = table.gpu;
    ObservedCollective& observed = run.observed;
    observed.file = named_.text;
    observed.collective = *modelled_collective(table.collective);
    observed.group = {table.gpus, table.gpus_per_node, 1};
    observed.release = nccl_release(table.nccl_version).value_or(newest_nccl);
    observed.points = comparable_points(table);
    if (observed.points.empty()) {
      report({named_.text, table.line, 1, "",
              "no size measures what training calls: CUDA graphs, or one process whose launches "
              "take longer than the messages"});
      return std::nullopt;
    }
    if (const std::size_t left_out = table.rows.size() - observed.points.size(); left_out > 0) {
      session_.diagnostics().warning(
          named_.span, fmt::format("{} of {} sizes are left out: one process drives several GPUs, "
                                   "and its launches hide the messages",
                                   left_out, table.rows.size()));
    }
    return run;
  }

  // In place where the run has it: out of place comes first and often pays for set-up.
  static std::vector<CollectivePoint> comparable_points(const NcclTable& table) {
    MeasuredCollective measured;
    measured.graph = table.launch.ends_with("-graph");
    measured.launch = table.launch.starts_with("single-process") ? Launch::single_process
                                                                 : Launch::process_per_gpu;
    for (const NcclRow& row : table.rows) {
      measured.points.push_back({row.size, row.in_place.value_or(row.out_of_place)});
    }
    std::vector<CollectivePoint> points;
    for (const CollectivePoint& point : measured.points) {
      if (is_comparable(measured, point)) {
        points.push_back(point);
      }
    }
    return points;
  }

  const Argument& named_;
  Session& session_;
};

}  // namespace

bool looks_like_nccl_tests(const std::string& path) {
  constexpr std::size_t enough = 4U << 20U;  // the results of -J follow a list of all devices
  const std::string text = beginning_of(path, enough);
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  const std::string_view begins = std::string_view(text).substr(first);
  if (begins.starts_with('{')) {
    return text.find("\"results\"") != std::string::npos &&
           text.find("\"traceEvents\"") == std::string::npos;
  }
  // A trace may be compressed, or a list of events; mpirun puts "[1,0]<stdout>:" before lines.
  const std::size_t second = std::min(begins.find_first_not_of(blanks, 1), begins.size());
  const bool is_list = begins.starts_with('[') && begins.substr(second).starts_with('{');
  return !is_list && !begins.starts_with("\x1f\x8b");
}

std::optional<ObservedRun> observe_run(const Argument& named, Session& session) {
  return RunReader(named, session).read();
}

}  // namespace payoff
