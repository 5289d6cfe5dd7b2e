// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "profiles/import/finding.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/training_rows.hpp"

// Which published measurement may be fitted and which judges (tests/validation/split.csv; its rule
// is in tests/validation/README.md). The unit is a system of a source, whatever its number of
// nodes. A case of a source or system that the file does not list belongs to no half.

namespace payoff {

enum class Half { none, fit, judge, oracle, context };

[[nodiscard]] const char* to_text(Half half);

class Split {
 public:
  Split() = default;
  // Source stem and system, as in the file; every source may also have one system "all".
  explicit Split(std::map<std::pair<std::string, std::string>, Half> halves)
      : halves_(std::move(halves)) {}

  [[nodiscard]] Half half(const std::string& source, const std::string& system = "all") const;
  [[nodiscard]] Half half(const NcclTable& table) const;
  [[nodiscard]] Half half(const TrainingRow& row) const;

 private:
  std::map<std::pair<std::string, std::string>, Half> halves_;
};

[[nodiscard]] Split read_split(const std::filesystem::path& csv, Findings& findings);

// gpu/gpus_per_node/intra/transport/nics_per_node/nic_gbps, "-" where not stated
[[nodiscard]] std::string split_system(const NcclTable& table);
[[nodiscard]] std::string split_system(const TrainingCluster& cluster);

}  // namespace payoff
