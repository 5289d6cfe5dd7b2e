// SPDX-License-Identifier: Apache-2.0
#include "calibrate/launch_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "calibrate/relative_fit.hpp"
#include "model/collective.hpp"
#include "model/group_paths.hpp"

namespace payoff {
namespace {

constexpr double rows_per_system = 3.0;  // that all rows of a system are worth
constexpr Prior wide{5.0, 5.0, 0.0};     // us; a launch of a kernel takes some
constexpr Bytes largest = 64_KiB;        // launches take longer than such a message

// A message without its launches, and what was measured with them.
struct LaunchRow {
  Seconds alone;
  Seconds measured;
  int gpus{};
  std::string system;
};

void add_rows(const MeasuredCollective& table, const CollectiveModel& model,
              std::vector<LaunchRow>& rows) {
  for (const CollectivePoint& point : table.points) {
    const auto alone =
        model.price_pinned(table.collective, point.size, table.algorithm, table.protocol);
    if (alone && point.size <= largest) {
      rows.push_back(
          {alone->time, point.time, table.group.ranks_per_node, table.source + "/" + table.system});
    }
  }
}

// Of small messages inside nodes whose fabric has a law; `ids` are those of the tables.
std::vector<LaunchRow> launch_rows(std::span<const MeasuredCollective> tables,
                                   std::span<const LinkFit> laws, std::set<std::string>& ids) {
  std::vector<LaunchRow> rows;
  for (const MeasuredCollective& table : tables) {
    const auto law = std::find_if(laws.begin(), laws.end(), [&](const LinkFit& link) {
      return link.name == table.cluster.fabric.name;
    });
    if (!launches_are_priced(table) || law == laws.end() ||
        paths_of(table.cluster, table.group).domains > 1) {
      continue;
    }
    Cluster cluster = table.cluster;
    cluster.fabric.law = law->law;
    const std::size_t before = rows.size();
    add_rows(table, CollectiveModel(cluster, table.group, table.release), rows);
    if (rows.size() > before) {
      ids.insert(table.id);
    }
  }
  return rows;
}

// What one launch takes, in us. `counts` are the rows of each system.
RelativeFit fit_one_launch(const std::vector<LaunchRow>& rows,
                           const std::map<std::string, double>& counts) {
  RelativeRows relative;
  for (const LaunchRow& row : rows) {
    relative.measured.push_back(row.measured / 1_us);
    relative.weight.push_back(std::min(1.0, rows_per_system / counts.at(row.system)));
  }
  const auto model = [&](std::span<const double> x) {
    std::vector<double> times;
    for (const LaunchRow& row : rows) {
      CollectivePrice alone;
      alone.time = row.alone;
      times.push_back(launched_by_one_process(alone, row.gpus, {x[0] * 1_us, 0}).time / 1_us);
    }
    return times;
  };
  return fit_relative(relative, std::span(&wide, 1), model, measurement_noise);
}

// Of systems that had no part in the fit: the spread of the mean errors of those that had.
double between_systems(const std::vector<LaunchRow>& rows, const RelativeFit& fit) {
  std::map<std::string, std::pair<double, double>> sums;  // of the errors, of the rows
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sums[rows[i].system].first += std::log1p(fit.errors[i]);
    sums[rows[i].system].second += 1;
  }
  double squares = 0;
  for (const auto& [system, sum] : sums) {
    squares += (sum.first / sum.second) * (sum.first / sum.second);
  }
  return std::sqrt(squares / std::max(1.0, static_cast<double>(sums.size()) - 1));
}

}  // namespace

bool launches_are_priced(const MeasuredCollective& table) {
  return table.launch == Launch::single_process && !table.graph && !table.irregular &&
         is_one_kernel(table.collective);
}

LaunchFit fit_launches(std::span<const MeasuredCollective> tables, std::span<const LinkFit> laws) {
  LaunchFit result;
  std::set<std::string> ids;
  const std::vector<LaunchRow> rows = launch_rows(tables, laws, ids);
  if (rows.empty()) {
    return result;
  }
  std::map<std::string, double> counts;
  for (const LaunchRow& row : rows) {
    counts[row.system] += 1;
    result.fewest_gpus =
        result.fewest_gpus == 0 ? row.gpus : std::min(result.fewest_gpus, row.gpus);
    result.most_gpus = std::max(result.most_gpus, row.gpus);
  }
  const RelativeFit fit = fit_one_launch(rows, counts);
  result.law = {fit.values[0] * 1_us, between_systems(rows, fit)};
  result.relative_sd = std::sqrt(fit.covariance[0][0]) / fit.values[0];
  result.tables = {ids.begin(), ids.end()};
  result.systems = counts.size();
  return result;
}

}  // namespace payoff
