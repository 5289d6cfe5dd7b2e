// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/document.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/source_map.hpp"

// One run of nccl-tests as its text or JSON gives it, before it is a table (internal to the
// importers).

namespace payoff::import_detail {

struct NcclPlace {
  int line{};
  int column{1};
};

// One of the two halves of a row.
struct NcclHalf {
  NcclPlace time_at{}, wrong_at{};
  std::optional<double> time_us{};
  std::optional<double> algbw_gbps{}, busbw_gbps{};
  double wrong{};  // values that failed the check
};

struct NcclRunRow {
  NcclPlace place{};
  std::optional<double> bytes{};
  NcclHalf out_of_place{}, in_place{};
  bool has_told{};  // of a number of it that it is none
};

struct NcclRank {
  std::string host, device;
  NcclPlace place{};
};

// The sizes that a run announces: from `least` by a factor or a step up to `most`.
struct NcclSizes {
  double least{}, most{};
  double factor{}, step{};  // one of them; 0: not stated
};

struct NcclRun {
  int line{};
  std::string program;  // "all_reduce_perf", maybe with a path
  std::string nccl_version;
  std::string dtype;
  std::vector<NcclRank> ranks;
  int threads{}, gpus_per_thread{};  // 0: not stated
  bool graph{};
  NcclSizes sizes;
  bool has_told{};    // why a row is not among `rows`
  bool is_whole{};    // what nccl-tests prints behind the last row is there
  bool has_failed{};  // and said so
  std::vector<NcclRunRow> rows;
};

// What contradicts itself in a row of nccl-tests, out of place or in place: bandwidths against
// bytes and time, busbw also against the number of ranks, with the number that would explain it.
// Empty when nothing does. Bandwidths may be 1 % off, and 0.01 GB/s, to which they are printed.
// `ranks` 0: not known.
[[nodiscard]] std::string nccl_contradiction(const std::string& collective, int ranks,
                                             const NcclRunRow& row);

// The run as a table of `result`, or findings that say what it lacks. A row of which anything is
// wrong is left out, and everything that is has its finding: a time that is none or is negative,
// values that failed their check, bandwidths that contradict the time. The id is the stem of the
// file, numbered from the second table on.
void append_table(const NcclRun& run, const std::string& file, NcclImport& result);

// The table of a JSON tree (parse_measured_tree); what is no number of JSON is reported already.
[[nodiscard]] NcclImport nccl_import_of(const Node& root, const SourceMap& sources,
                                        const std::string& file);

}  // namespace payoff::import_detail
