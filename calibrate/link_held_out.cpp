// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_held_out.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "calibrate/between_hosts.hpp"
#include "calibrate/launch_fit.hpp"
#include "calibrate/link_class_fit.hpp"
#include "calibrate/relative_fit.hpp"
#include "model/collective.hpp"
#include "model/group_paths.hpp"

namespace payoff {
namespace {

using Tables = std::vector<MeasuredCollective>;
using Side = LinkProblem::Side;

constexpr double normal_quantile_95 = 1.6448536269514722;

std::string scale_of(Side side, const MeasuredCollective& table) {
  const GroupPaths paths = paths_of(table.cluster, table.group);
  if (side == Side::fabric) {
    return paths.local <= 2   ? "2 GPUs"
           : paths.local <= 4 ? "3 to 4 GPUs"
           : paths.local <= 8 ? "5 to 8 GPUs"
                              : "from 9 GPUs";
  }
  return paths.domains == 2     ? "2 nodes"
         : paths.domains <= 16  ? "3 to 16 nodes"
         : paths.domains <= 128 ? "17 to 128 nodes"
                                : "from 129 nodes";
}

std::string group_of(HeldOutBy by, Side side, const MeasuredCollective& table) {
  switch (by) {
    case HeldOutBy::link:
      return link_of(side, table).name;
    case HeldOutBy::scale:
      return scale_of(side, table);
    case HeldOutBy::system:
      break;
  }
  const Cluster& cluster = table.cluster;
  return table.source + " " + cluster.gpu.name + " x " + std::to_string(cluster.gpus_per_node) +
         (cluster.fabric.name.empty() ? "" : " " + cluster.fabric.name);
}

LinkLaw& law_of(Side side, Cluster& cluster) {
  return side == Side::fabric ? cluster.fabric.law : cluster.network.law;
}

void add_errors(const MeasuredCollective& table, const HostLaw& host, HeldOut& result) {
  const CollectiveModel model(table.cluster, table.group, table.release);
  for (const CollectivePoint& point : table.points) {
    auto price = model.price_pinned(table.collective, point.size, table.algorithm, table.protocol);
    if (!price) {
      continue;
    }
    if (launches_are_priced(table)) {
      price = launched_by_one_process(*price, table.group.ranks_per_node, host);
    }
    result.log_errors.at(spread_band(point.size)).push_back(std::log(price->time / point.time));
  }
}

struct Parted {
  Tables out;
  Tables rest;
};

Parted part(HeldOutBy by, Side side, const std::string& group, const Tables& tables) {
  Parted parted;
  for (const MeasuredCollective& table : tables) {
    (group_of(by, side, table) == group ? parted.out : parted.rest).push_back(table);
  }
  return parted;
}

// Predicts what `parted` leaves out; the laws that it took, by link.
std::map<std::string, LinkLaw> predict(Side side, const std::string& group, const Parted& parted,
                                       const HostLaw& host, std::vector<HeldOut>& results) {
  std::map<std::string, LinkLaw> laws;
  std::map<std::string, HeldOut> of_links;
  for (MeasuredCollective table : parted.out) {
    const Link link = link_of(side, table);
    if (!laws.contains(link.name)) {
      const LinkFit fit = LinkClassFit(side, link.link_class, parted.rest).fit(link, parted.rest);
      laws[link.name] = fit.law;
      of_links[link.name] = {group, link.name, link.link_class, side, !fit.tables.empty(), {}};
    }
    law_of(side, table.cluster) = laws.at(link.name);
    add_errors(table, host, of_links.at(link.name));
  }
  for (auto& [name, of_link] : of_links) {
    results.push_back(std::move(of_link));
  }
  return laws;
}

void set_fabrics(const std::map<std::string, LinkLaw>& laws, Tables& tables) {
  for (MeasuredCollective& table : tables) {
    if (const auto law = laws.find(table.cluster.fabric.name); law != laws.end()) {
      table.cluster.fabric.law = law->second;
    }
  }
}

struct Weighted {
  double size{};
  double weight{};
};

// The smallest half width that holds 90 % of the weight.
double half_width(std::vector<Weighted> errors) {
  constexpr double share = 0.9 - 1e-12;  // sums of weights round
  std::ranges::sort(errors, {}, &Weighted::size);
  double all = 0;
  for (const Weighted& error : errors) {
    all += error.weight;
  }
  double held = 0;
  for (const Weighted& error : errors) {
    held += error.weight;
    if (held >= share * all) {
      return error.size;
    }
  }
  return 0;
}

double median_error(std::vector<double> log_errors) {
  for (double& log_error : log_errors) {
    log_error = std::expm1(log_error);
  }
  return median_magnitude(std::move(log_errors));
}

}  // namespace

std::vector<HeldOut> hold_out(HeldOutBy by, const Tables& inside, const Tables& between,
                              const HostLaw& host) {
  std::set<std::string> groups;
  for (const MeasuredCollective& table : inside) {
    groups.insert(group_of(by, Side::fabric, table));
  }
  for (const MeasuredCollective& table : between) {
    groups.insert(group_of(by, Side::network, table));
  }
  std::vector<HeldOut> results;
  for (const std::string& group : groups) {
    const auto fabrics =
        predict(Side::fabric, group, part(by, Side::fabric, group, inside), host, results);
    Parted outside = part(by, Side::network, group, between);
    set_fabrics(fabrics, outside.out);
    set_fabrics(fabrics, outside.rest);
    predict(Side::network, group, outside, host, results);
  }
  return results;
}

BandSpreads spreads_of(const std::vector<HeldOut>& held_out, Side side, bool known,
                       std::optional<LinkClass> of_class) {
  BandSpreads spreads;
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    std::vector<Weighted> sizes;
    std::vector<double> medians;
    for (const HeldOut& each : held_out) {
      const std::vector<double>& errors = each.log_errors.at(band);
      if (each.side != side || each.known != known || errors.empty() ||
          (of_class && each.link_class != *of_class)) {
        continue;
      }
      for (const double error : errors) {
        sizes.push_back({std::abs(error), 1 / static_cast<double>(errors.size())});
      }
      medians.push_back(median_error(errors));
    }
    if (const std::size_t systems = medians.size(); systems > 0) {
      const double student = student_quantile_95(systems) / normal_quantile_95;
      spreads.at(band) = {systems, student * half_width(std::move(sizes)) / normal_quantile_95,
                          median_magnitude(std::move(medians))};
    }
  }
  return spreads;
}

ClassSpreads class_spreads(const std::vector<HeldOut>& systems, const std::vector<HeldOut>& links,
                           LinkClass link_class) {
  constexpr std::size_t enough = 2;
  const Side side = is_of_fabrics(link_class) ? Side::fabric : Side::network;
  const BandSpreads side_measured = spreads_of(systems, side, true, std::nullopt);
  const BandSpreads side_unmeasured = spreads_of(links, side, false, std::nullopt);
  ClassSpreads spreads{spreads_of(systems, side, true, link_class),
                       spreads_of(links, side, false, link_class)};
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    HeldOutSpread& measured = spreads.measured.at(band);
    HeldOutSpread& unmeasured = spreads.unmeasured.at(band);
    measured = measured.systems >= enough ? measured : side_measured.at(band);
    unmeasured = unmeasured.systems >= enough ? unmeasured : side_unmeasured.at(band);
    unmeasured.log_sd = std::max(measured.log_sd, unmeasured.log_sd);
  }
  return spreads;
}

}  // namespace payoff
