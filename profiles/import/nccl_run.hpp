// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/import/nccl_tables.hpp"

// One run of nccl-tests as its text or JSON gives it, before it is a table (internal to the
// importers).

namespace payoff::import_detail {

struct NcclRunRow {
  int line{};
  std::optional<double> bytes, time_us, in_place_us, algbw_gbps, busbw_gbps;
  std::optional<double> in_place_algbw_gbps = std::nullopt, in_place_busbw_gbps = std::nullopt;
  double wrong = 0.0;  // values that failed the check, out of place and in place
};

struct NcclRun {
  int line{};
  std::string program;  // "all_reduce_perf", maybe with a path
  std::string nccl_version;
  std::string dtype;
  std::vector<std::string> hosts, devices;  // one of each for every rank
  int threads{}, gpus_per_thread{};         // 0: not stated
  bool graph{};
  std::vector<NcclRunRow> rows;
};

// What contradicts itself in a row of nccl-tests, out of place or in place: bandwidths against
// bytes and time, busbw also against the number of ranks, with the number that would explain it.
// Empty when nothing does. Bandwidths may be 1 % off, and 0.01 GB/s, to which they are printed.
// `ranks` 0: not known.
[[nodiscard]] std::string nccl_contradiction(const std::string& collective, int ranks,
                                             const NcclRunRow& row);

// The run as a table of `result`, or findings that say what it lacks. The id is the stem of the
// file, numbered from the second table on.
void append_table(const NcclRun& run, const std::string& file, NcclImport& result);

}  // namespace payoff::import_detail
