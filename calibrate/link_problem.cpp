// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_problem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "calibrate/link_parameters.hpp"
#include "calibrate/size_band.hpp"
#include "model/collective.hpp"

namespace payoff {
namespace {

constexpr double rows_per_band = 3.0;        // that all rows of a table in a band are worth
constexpr double single_process_sd_us = 30;  // launches of other GPUs' kernels, a nuisance

}  // namespace

std::vector<double> all_coefficients(std::span<const Prior> priors,
                                     std::span<const double> solved) {
  std::vector<double> all;
  std::size_t next = 0;
  for (const Prior& prior : priors) {
    all.push_back(prior.sd > 0 ? solved[next++] : prior.mean);
  }
  return all;
}

void set_fabric_laws(const std::map<std::string, LinkLaw>& laws,
                     std::vector<MeasuredCollective>& tables) {
  for (MeasuredCollective& table : tables) {
    if (const auto law = laws.find(table.cluster.fabric.name); law != laws.end()) {
      table.cluster.fabric.law = law->second;
    }
  }
}

LinkProblem::LinkProblem(Side side, std::vector<MeasuredCollective> tables)
    : side_(side), tables_(std::move(tables)) {
  for (const MeasuredCollective& table : tables_) {
    std::array<double, size_band_count> count{};
    for (const CollectivePoint& point : table.points) {
      ++count.at(size_band(point.size));
    }
    for (const CollectivePoint& point : table.points) {
      rows_.measured.push_back(point.time / 1_us);
      rows_.weight.push_back(std::min(1.0, rows_per_band / count.at(size_band(point.size))));
    }
  }
}

RelativeFit LinkProblem::solve(const std::vector<Prior>& priors) const {
  std::vector<Prior> active;
  for (const Prior& prior : priors) {
    if (prior.sd > 0) {
      active.push_back(prior);
    }
  }
  active.push_back({0, single_process_sd_us, 0});
  return fit_relative(
      rows_, active, [&](std::span<const double> x) { return predict(priors, x); },
      measurement_noise);
}

std::vector<double> LinkProblem::predict(const std::vector<Prior>& priors,
                                         std::span<const double> x) const {
  const LinkLaw law = law_from(all_coefficients(priors, x));
  std::vector<double> times;
  for (const MeasuredCollective& table : tables_) {
    Cluster cluster = table.cluster;
    (side_ == Side::fabric ? cluster.fabric.law : cluster.network.law) = law;
    const CollectiveModel model(cluster, table.group, table.release);
    const double nuisance = table.launch == Launch::single_process ? x.back() : 0;
    for (const CollectivePoint& point : table.points) {
      times.push_back(
          model.price_pinned(table.collective, point.size, table.algorithm, table.protocol)
                  .value_or(CollectivePrice{})
                  .time /
              1_us +
          nuisance);
    }
  }
  return times;
}

}  // namespace payoff
