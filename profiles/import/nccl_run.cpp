// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/gpu_names.hpp"
#include "profiles/import/nccl_ending.hpp"
#include "profiles/import/nccl_log.hpp"
#include "profiles/import/samples.hpp"

namespace payoff {

namespace {

// Those that contain another, as all_reduce does `reduce`, come before it.
constexpr std::array<std::string_view, 7> program_endings{
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "sendrecv", "reduce"};

// nccl-tests prints bandwidths to 0.01 GB/s; times are rounded too, and all by other collections.
constexpr double printed_gbps = 0.01;
constexpr double tolerance = 0.01;
constexpr int most_table_ranks = 1 << 20;

bool contradicts(double printed_bandwidth, double computed) {
  return std::abs(printed_bandwidth - computed) > tolerance * computed + printed_gbps;
}

// The number of ranks with which the collective has this busbw / algbw, c (n - 1) / n with c = 2 or
// 1; nothing where there is none or every number has it.
std::optional<int> ranks_of(const std::string& collective, double ratio) {
  const std::optional<double> two = bus_factor(collective, 2);
  const std::optional<double> three = bus_factor(collective, 3);
  if (!two || *two == *three) {
    return std::nullopt;
  }
  const double others = 0.5 * ratio / *two;  // (n - 1) / n, which is a half for two ranks
  const double ranks = std::round(1.0 / (1.0 - others));
  if (!(others < 1.0) || ranks < 2.0 || ranks > most_table_ranks) {
    return std::nullopt;
  }
  const double explained = *bus_factor(collective, static_cast<int>(ranks));
  return std::abs(explained / ratio - 1.0) <= tolerance ? std::optional(static_cast<int>(ranks))
                                                        : std::nullopt;
}

// Of one of the two halves of a row.
std::string bandwidth_contradiction(const std::string& collective, int ranks, double rate,
                                    std::optional<double> algbw, std::optional<double> busbw) {
  if (algbw && contradicts(*algbw, rate)) {
    return fmt::format("algbw {} GB/s contradicts bytes / time = {:.2f} GB/s", *algbw, rate);
  }
  const std::optional<double> ratio = ranks > 0 ? bus_factor(collective, ranks) : std::nullopt;
  if (!ratio || !busbw || !contradicts(*busbw, rate * *ratio)) {
    return "";
  }
  const std::optional<int> explained = ranks_of(collective, *busbw / rate);
  return fmt::format("busbw {} GB/s contradicts {} ranks: {:.4g} x bytes / time = {:.2f} GB/s{}",
                     *busbw, ranks, *ratio, rate * *ratio,
                     explained ? fmt::format("; {} ranks would explain it", *explained) : "");
}

// A program of nccl-tests says it, whatever its file is called.
std::string collective_of(const std::string& program, const std::string& file_stem) {
  for (const std::string& text : {program, program.ends_with("_perf") ? "" : file_stem}) {
    for (const std::string_view name : program_endings) {
      if (text.find(name) != std::string::npos) {
        return std::string(name);
      }
    }
  }
  return "";
}

std::string launch_of(const import_detail::NcclRun& run) {
  const int gpus = run.threads * run.gpus_per_thread;
  if (gpus == 0) {
    return "unknown";
  }
  return std::string(gpus == 1 ? "process-per-gpu" : "single-process") +
         (run.graph ? "-graph" : "");
}

bool fills_nodes_evenly(const import_detail::NcclRun& run) {
  std::map<std::string, int> ranks;
  for (const import_detail::NcclRank& rank : run.ranks) {
    ++ranks[rank.host];
  }
  return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [&](const auto& each) {
    return each.second == ranks.begin()->second;
  });
}

constexpr std::string_view help_for_time =
    "measure again, or take the row out: it is no time of a collective";

// Whether a half of a row can be used; what cannot is told.
bool check_half(const import_detail::NcclHalf& half, std::string_view which, const NcclTable& table,
                Findings& findings) {
  const std::size_t before = findings.size();
  const auto wrong = [&](const import_detail::NcclPlace& place, std::string message,
                         std::string_view help) {
    findings.push_back({table.file, place.line, place.column, table.id, std::move(message),
                        Effect::rejected, std::string(help)});
  };
  const Seconds time = half.time_us.value_or(1.0) * 1_us;
  if (time < shortest_sample) {
    wrong(half.time_at, fmt::format("the time{} cannot be {} us", which, *half.time_us),
          help_for_time);
  } else if (time > longest_sample) {
    wrong(half.time_at, fmt::format("the time{} is longer than an hour", which),
          "times of nccl-tests are in us");
  }
  if (half.wrong != 0.0) {
    wrong(half.wrong_at,
          fmt::format("{:.0f} wrong values{}: what failed its check was not measured", half.wrong,
                      which),
          "find out why, then measure again; or take the row out");
  }
  return findings.size() == before;
}

// Whether a row can be used; everything that is wrong with it is told.
bool check_row(const import_detail::NcclRunRow& row, const NcclTable& table, Findings& findings) {
  const std::size_t before = findings.size();
  const auto wrong = [&](std::string message) {
    findings.push_back({table.file, row.place.line, row.place.column, table.id, std::move(message),
                        Effect::rejected});
  };
  if (!row.has_told && (!row.bytes || *row.bytes < 0.0 || !row.out_of_place.time_us)) {
    wrong("no size or time can be read");
  }
  const bool is_sound = check_half(row.out_of_place, "", table, findings);
  if (check_half(row.in_place, " in place", table, findings) && is_sound && !row.has_told) {
    std::string problem = nccl_contradiction(table.collective, table.gpus, row);
    if (!problem.empty()) {
      wrong(std::move(problem));
    }
  }
  return findings.size() == before && !row.has_told;
}

void read_machine(const import_detail::NcclRun& run, NcclTable& table) {
  std::set<std::string> hosts;
  std::set<std::string> devices;
  for (const import_detail::NcclRank& rank : run.ranks) {
    hosts.insert(rank.host);
    if (!rank.device.empty() && devices.insert(rank.device).second) {
      const auto index = static_cast<int>(&rank - run.ranks.data());
      table.devices.push_back({rank.device, index, rank.place.line, rank.place.column});
    }
  }
  table.gpus = static_cast<int>(run.ranks.size());
  table.nodes = static_cast<int>(hosts.size());
  table.gpus_per_node = table.nodes > 0 ? table.gpus / table.nodes : 0;
  table.gpu = table.devices.empty() ? "" : gpu_id(table.devices.front().name);
  table.intra = table.gpus_per_node == 1 ? "none" : "";
  table.transport = table.nodes == 1 ? "none" : "";
}

// What the head of a run does not say, and its table should.
void note_unknown(const import_detail::NcclRun& run, const NcclTable& table, Findings& findings) {
  const auto note = [&](std::string message) {
    findings.push_back({table.file, run.line, 1, table.id, std::move(message), Effect::noted});
  };
  if (table.collective.empty()) {
    note(run.program.ends_with("_perf")
             ? run.program + " measures none of the collectives that are priced"
             : "neither the log nor the name of the file says which collective this is");
  }
  if (!fills_nodes_evenly(run)) {
    note(fmt::format("the device list ({} ranks on {} hosts) does not say how many GPUs a node has",
                     table.gpus, table.nodes));
  }
}

void read_nccl_rows(const import_detail::NcclRun& run, NcclTable& table, Findings& findings) {
  for (const import_detail::NcclRunRow& row : run.rows) {
    if (row.bytes && *row.bytes == 0.0) {
      ++table.empty_rows;
    } else if (check_row(row, table, findings)) {
      const auto& in_place = row.in_place.time_us;
      table.rows.push_back({Bytes{*row.bytes}, *row.out_of_place.time_us * 1_us,
                            in_place ? std::optional<Seconds>(*in_place * 1_us) : std::nullopt,
                            row.place.line});
    }
  }
}

bool tells_rejection(const Findings& findings, int from_line) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.effect == Effect::rejected && finding.line >= from_line;
  });
}

}  // namespace

std::string nccl_version_text(int code) {
  const int major_unit = code < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", code / major_unit, code % major_unit / 100, code % 100);
}

namespace import_detail {

std::string nccl_contradiction(const std::string& collective, int ranks, const NcclRunRow& row) {
  if (!row.bytes) {
    return "";
  }
  const auto problem_of = [&](const NcclHalf& half) {
    return half.time_us && *half.time_us > 0.0
               ? bandwidth_contradiction(collective, ranks, *row.bytes / *half.time_us / 1e3,
                                         half.algbw_gbps, half.busbw_gbps)
               : "";
  };
  std::string problem = problem_of(row.out_of_place);
  if (problem.empty()) {
    problem = problem_of(row.in_place);
    problem += problem.empty() ? "" : ", in place";
  }
  return problem;
}

void append_table(const NcclRun& run, const std::string& file, NcclImport& result) {
  NcclTable table;
  table.source = std::filesystem::path(file).stem().string();
  table.id = result.tables.empty() ? table.source
                                   : fmt::format("{}#{}", table.source, result.tables.size() + 1);
  table.file = file;
  table.line = run.line;
  table.citation = file;
  table.provenance = "log";
  table.collective = collective_of(run.program, table.source);
  table.launch = launch_of(run);
  table.nccl_version = run.nccl_version;
  table.dtype = run.dtype;
  read_machine(run, table);
  note_unknown(run, table, result.findings);
  read_nccl_rows(run, table, result.findings);
  if (std::optional<Finding> doubt = doubt_of_ending(run, file, table.id)) {
    result.doubts.push_back(std::move(*doubt));
  }
  if (!table.rows.empty()) {
    result.tables.push_back(std::move(table));
  } else if (!run.has_told && !tells_rejection(result.findings, run.line)) {
    result.findings.push_back({file, run.line, 1, table.id, "no usable row", Effect::rejected});
  }
}

}  // namespace import_detail

}  // namespace payoff
