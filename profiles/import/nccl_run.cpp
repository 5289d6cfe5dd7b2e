// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/nccl_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "profiles/import/nccl_log.hpp"

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
constexpr std::array<std::string_view, 7> collectives{
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "sendrecv", "reduce"};

// nccl-tests rounds bandwidths to 0.01 GB/s, so that small ones say nothing.
constexpr double least_checked_gbps = 5.0;
constexpr double tolerance = 0.01;

std::string collective_of(const std::string& program, const std::string& file_stem) {
  for (const std::string& text : {program, file_stem}) {
    for (const std::string_view name : collectives) {
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
  if (!row.algbw_gbps || *row.algbw_gbps <= least_checked_gbps || !row.bytes || !row.time_us) {
    return "";
  }
  const double rate = *row.bytes / *row.time_us / 1e3;
  if (std::abs(rate / *row.algbw_gbps - 1.0) > tolerance) {
    return fmt::format("algbw {} GB/s contradicts bytes / time = {:.2f} GB/s", *row.algbw_gbps,
                       rate);
  }
  const std::optional<double> ratio = ranks > 0 ? bus_ratio(collective, ranks) : std::nullopt;
  if (ratio && row.busbw_gbps &&
      std::abs(*row.busbw_gbps / *row.algbw_gbps - *ratio) > tolerance * *ratio) {
    return fmt::format("busbw / algbw = {:.3f} contradicts {} ranks: {} gives {:.3f}",
                       *row.busbw_gbps / *row.algbw_gbps, ranks, collective, *ratio);
  }
  return "";
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
    note("neither the log nor the name of the file says which collective this is", Effect::noted,
         run.line);
  }
  if (table.gpus == 0 || table.gpus_per_node * table.nodes != table.gpus) {
    note(fmt::format("the device list ({} ranks on {} hosts) does not say how many GPUs a node has",
                     table.gpus, table.nodes),
         Effect::noted, run.line);
  }
  for (const NcclRunRow& row : run.rows) {
    if (row.bytes && *row.bytes == 0.0) {
      ++table.empty_rows;
    } else if (!row.bytes || !row.time_us || *row.time_us <= 0.0) {
      note("no size or time can be read", Effect::rejected, row.line);
    } else if (const std::string problem = nccl_contradiction(table.collective, table.gpus, row);
               !problem.empty()) {
      note(problem, Effect::rejected, row.line);
    } else {
      table.rows.push_back(
          {Bytes{*row.bytes}, *row.time_us * 1_us,
           row.in_place_us ? std::optional<Seconds>(*row.in_place_us * 1_us) : std::nullopt,
           row.line});
    }
  }
  if (table.rows.empty()) {
    note("no usable row", Effect::rejected, run.line);
    return;
  }
  result.tables.push_back(std::move(table));
}

}  // namespace import_detail

}  // namespace payoff
