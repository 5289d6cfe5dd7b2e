// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/units.hpp"
#include "profiles/import/finding.hpp"

// Measured collectives: tables of nccl-tests in the published schema (a YAML file with a `tables:`
// list; see tests/validation/README.md). Sizes are counted as nccl-tests counts them: for an
// all-gather the gathered buffer, for a reduce-scatter and an all-to-all the send buffer of a rank.
// Rows of 0 bytes (fewer elements than ranks) measure the call only and are dropped. Tables and
// rows that contradict themselves (ranks, busbw against time and rank count) or name no source are
// left out with a finding.

namespace payoff {

struct NcclRow {
  Bytes size{};
  Seconds out_of_place{};
  std::optional<Seconds> in_place;
  int line{};  // in the file; 0: not known
};

// One of several ranks of a log on such a GPU: the first.
struct NcclDevice {
  std::string name;  // as the driver calls it
  int rank{};
  int line{}, column{};
};

struct NcclTable {
  std::string id;
  std::string source;  // stem of the file: the unit of the split and of summaries
  std::string file;
  int line{};
  std::string citation;  // what the file says of its source
  std::string provenance;
  std::string collective;  // as in the file: all_reduce, all_gather, reduce_scatter, alltoall,
                           // broadcast, reduce, sendrecv
  int gpus{};              // ranks
  int nodes{};
  std::string gpu;
  std::vector<NcclDevice> devices;  // of a log: every kind of GPU once
  int gpus_per_node{};              // in use
  std::string intra;
  int nics_per_node{};        // 0: no network or not known
  Bandwidth nic_bandwidth{};  // of one NIC, one direction; 0: no network or not known
  std::string transport;
  std::string launch;
  std::string nccl_version;           // "": not stated
  std::string dtype;                  // "": not stated
  std::vector<std::string> settings;  // "algorithm=ring", "symmetric-memory", ...
  std::vector<NcclRow> rows;          // ascending sizes
  std::size_t empty_rows{};           // dropped: 0 bytes
};

struct NcclImport {
  std::vector<NcclTable> tables;
  std::vector<std::string> skipped;  // files of a folder without `tables:`
  Findings findings;
  Findings doubts;  // whether a log is whole; its rows are kept
};

// A file, or every .yaml and .yml of a folder.
[[nodiscard]] NcclImport read_nccl_tables(const std::filesystem::path& path);
[[nodiscard]] NcclImport parse_nccl_tables(const std::string& yaml, const std::string& file);

// As nccl-tests names it: "alltoall", "sendrecv". Nothing for what has no price.
[[nodiscard]] std::optional<Collective> modelled_collective(const std::string& name);

// busbw / algbw (model/collective.hpp) of a collective by that name.
[[nodiscard]] std::optional<double> bus_factor(const std::string& collective, int ranks);

}  // namespace payoff
