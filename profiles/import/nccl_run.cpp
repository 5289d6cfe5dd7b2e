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

#include "profiles/import/nccl_log.hpp"
#include "profiles/import/samples.hpp"

namespace payoff {

namespace {

struct GpuName {
  std::string_view words;  // all of them occur in the device name
  std::string_view id;
};

// The most specific first.
constexpr std::array gpu_names{
    GpuName{"V100-SXM2-16GB", "v100-sxm2-16"},
    GpuName{"V100-SXM2-32GB", "v100-sxm2-32"},
    GpuName{"V100-SXM3-32GB", "v100-sxm3-32"},
    GpuName{"V100-PCIE", "v100-pcie"},
    GpuName{"P100-PCIE", "p100-pcie"},
    GpuName{"Tesla T4", "t4"},
    GpuName{"A100-SXM4-40GB", "a100-sxm-40"},
    GpuName{"A100-SXM4-80GB", "a100-sxm-80"},
    GpuName{"A100-SXM-80GB", "a100-sxm-80"},
    GpuName{"A100-PCIE", "a100-pcie"},
    GpuName{"A100 80GB PCIe", "a100-pcie"},
    GpuName{"H100 PCIe", "h100-pcie"},
    GpuName{"H100 80GB HBM3", "h100-sxm"},
    GpuName{"GH200", "gh200"},
    GpuName{"GB200", "gb200"},
    GpuName{"H200", "h200-sxm"},
    GpuName{"B200", "b200-sxm"},
    GpuName{"H20", "h20"},
    GpuName{"L40S", "l40s"},
    GpuName{"RTX 2080 Ti", "rtx2080ti"},
    GpuName{"MI300X", "mi300x"},
};

// Longer names first: all_reduce contains no other, reduce_scatter contains reduce.
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
  const std::optional<double> two = bus_ratio(collective, 2);
  const std::optional<double> three = bus_ratio(collective, 3);
  if (!two || *two == *three) {
    return std::nullopt;
  }
  const double others = 0.5 * ratio / *two;  // (n - 1) / n, which is a half for two ranks
  const double ranks = std::round(1.0 / (1.0 - others));
  if (!(others < 1.0) || ranks < 2.0 || ranks > most_table_ranks) {
    return std::nullopt;
  }
  const double explained = *bus_ratio(collective, static_cast<int>(ranks));
  return std::abs(explained / ratio - 1.0) <= tolerance ? std::optional(static_cast<int>(ranks))
                                                        : std::nullopt;
}

// Of one of the two halves of a row.
std::string bandwidth_contradiction(const std::string& collective, int ranks, double rate,
                                    std::optional<double> algbw, std::optional<double> busbw) {
  if (algbw && contradicts(*algbw, rate)) {
    return fmt::format("algbw {} GB/s contradicts bytes / time = {:.2f} GB/s", *algbw, rate);
  }
  const std::optional<double> ratio = ranks > 0 ? bus_ratio(collective, ranks) : std::nullopt;
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
  for (const std::string& host : run.hosts) {
    ++ranks[host];
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
  if (!row.bytes || *row.bytes < 0.0 || !row.out_of_place.time_us) {
    wrong("no size or time can be read");
  }
  const bool is_sound = check_half(row.out_of_place, "", table, findings);
  if (check_half(row.in_place, " in place", table, findings) && is_sound) {
    std::string problem = nccl_contradiction(table.collective, table.gpus, row);
    if (!problem.empty()) {
      wrong(std::move(problem));
    }
  }
  return findings.size() == before;
}

void read_machine(const import_detail::NcclRun& run, NcclTable& table) {
  const std::set<std::string> hosts(run.hosts.begin(), run.hosts.end());
  table.gpus = static_cast<int>(run.hosts.size());
  table.nodes = static_cast<int>(hosts.size());
  table.gpus_per_node = table.nodes > 0 ? table.gpus / table.nodes : 0;
  table.device_name = run.devices.empty() ? "" : run.devices.front();
  table.gpu = gpu_id(table.device_name);
  table.intra = table.gpus_per_node == 1 ? "none" : "";
  table.transport = table.nodes == 1 ? "none" : "";
}

}  // namespace

std::string gpu_id(const std::string& device_name) {
  for (const GpuName& name : gpu_names) {
    if (device_name.find(name.words) != std::string::npos) {
      return std::string(name.id);
    }
  }
  return device_name;
}

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
  const auto note = [&](const std::string& message, Effect effect, int line) {
    result.findings.push_back({file, line, 1, table.id, message, effect});
  };
  if (table.collective.empty()) {
    note(run.program.ends_with("_perf")
             ? run.program + " measures none of the collectives that are priced"
             : "neither the log nor the name of the file says which collective this is",
         Effect::noted, run.line);
  }
  if (!fills_nodes_evenly(run)) {
    note(fmt::format("the device list ({} ranks on {} hosts) does not say how many GPUs a node has",
                     table.gpus, table.nodes),
         Effect::noted, run.line);
  }
  for (const NcclRunRow& row : run.rows) {
    if (row.bytes && *row.bytes == 0.0) {
      ++table.empty_rows;
    } else if (check_row(row, table, result.findings)) {
      const auto& in_place = row.in_place.time_us;
      table.rows.push_back({Bytes{*row.bytes}, *row.out_of_place.time_us * 1_us,
                            in_place ? std::optional<Seconds>(*in_place * 1_us) : std::nullopt,
                            row.place.line});
    }
  }
  if (table.rows.empty()) {
    const bool is_told =
        std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& finding) {
          return finding.effect == Effect::rejected && finding.line >= run.line;
        });
    if (!is_told) {
      note("no usable row", Effect::rejected, run.line);
    }
    return;
  }
  result.tables.push_back(std::move(table));
}

}  // namespace import_detail

}  // namespace payoff
