// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/split.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "profiles/import/csv.hpp"

namespace payoff {

namespace {

constexpr std::array half_names{"none", "fit", "judge", "oracle", "context"};

std::string text_of(const std::optional<std::string>& value) { return value.value_or("-"); }

std::string text_of(const std::optional<int>& value) {
  return value ? std::to_string(*value) : "-";
}

// Shortest decimal, as the file writes it: 100, 0.1.
std::string text_of(const std::optional<Bandwidth>& value) {
  return value ? fmt::format("{:.6g}", *value / 1_Gbps) : "-";
}

}  // namespace

const char* to_text(Half half) { return half_names[static_cast<std::size_t>(half)]; }

std::string split_system(const NcclTable& table) {
  return fmt::format("{}/{}/{}/{}/{}/{}", table.gpu, table.gpus_per_node, table.intra,
                     table.transport, table.nics_per_node,
                     text_of(std::optional(table.nic_bandwidth)));
}

std::string split_system(const TrainingCluster& cluster) {
  return fmt::format("{}/{}/{}/{}/{}/{}", text_of(cluster.gpu), text_of(cluster.gpus_per_node),
                     text_of(cluster.intra), text_of(cluster.transport),
                     text_of(cluster.nics_per_node), text_of(cluster.nic_bandwidth));
}

Half Split::half(const std::string& source, const std::string& system) const {
  for (const std::string& key : {system, std::string("all")}) {
    const auto found = halves_.find({source, key});
    if (found != halves_.end()) {
      return found->second;
    }
  }
  return Half::none;
}

Half Split::half(const NcclTable& table) const { return half(table.source, split_system(table)); }

Half Split::half(const TrainingRow& row) const {
  return half(row.source, split_system(row.cluster));
}

Split read_split(const std::filesystem::path& csv, Findings& findings) {
  const CsvTable table = read_csv(csv, findings);
  std::map<std::pair<std::string, std::string>, Half> halves;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& name = table.text(row, "half");
    std::size_t index = 1;
    while (index < half_names.size() && name != half_names[index]) {
      ++index;
    }
    if (index == half_names.size()) {
      findings.push_back({csv.string(), 0, 0, table.text(row, "system"),
                          fmt::format("'{}' is no half", name), Effect::rejected});
      continue;
    }
    halves.insert(
        {{table.text(row, "source"), table.text(row, "system")}, static_cast<Half>(index)});
  }
  return Split(std::move(halves));
}

}  // namespace payoff
