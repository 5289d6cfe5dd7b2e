// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_held_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "calibrate/launch_fit.hpp"
#include "calibrate/link_class_fit.hpp"
#include "model/collective.hpp"
#include "model/group_paths.hpp"

namespace payoff {
namespace {

using Tables = std::vector<MeasuredCollective>;
using Side = LinkProblem::Side;

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
    case HeldOutBy::family:
      return std::string(family_name(family_of(table.collective)));
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
    const double error = std::log(price->time / point.time);
    result.log_errors.at(spread_band(point.size)).push_back(error);
    result.by_size_band.at(size_band(point.size)).push_back(error);
  }
}

struct Parted {
  Tables out;
  Tables rest;
};

// By family only all-reduces stay.
Parted part(HeldOutBy by, Side side, const std::string& group, const Tables& tables) {
  Parted parted;
  for (const MeasuredCollective& table : tables) {
    if (group_of(by, side, table) == group) {
      parted.out.push_back(table);
    } else if (by != HeldOutBy::family || table.collective == Collective::all_reduce) {
      parted.rest.push_back(table);
    }
  }
  parted.rest = well_placed(std::move(parted.rest));
  return parted;
}

// More than any group has where no table has the link.
int fewest_ranks(Side side, const Link& link, const Tables& tables) {
  int fewest = std::numeric_limits<int>::max();
  for (const MeasuredCollective& table : tables) {
    if (link_of(side, table).name == link.name) {
      fewest = std::min(fewest, table.group.ranks);
    }
  }
  return fewest;
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
      of_links[link.name] = {
          group,
          link.name,
          link.link_class,
          side,
          !fit.tables.empty(),
          fewest_ranks(side, link, parted.rest) < fewest_ranks(side, link, parted.out),
          {},
          {}};
    }
    law_of(side, table.cluster) = laws.at(link.name);
    add_errors(table, host, of_links.at(link.name));
  }
  for (auto& [name, of_link] : of_links) {
    results.push_back(std::move(of_link));
  }
  return laws;
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
  if (by == HeldOutBy::family) {
    groups.erase(std::string(family_name(CollectiveFamily::all_reduces)));
  }
  std::vector<HeldOut> results;
  for (const std::string& group : groups) {
    const auto fabrics =
        predict(Side::fabric, group, part(by, Side::fabric, group, inside), host, results);
    Parted outside = part(by, Side::network, group, between);
    set_fabric_laws(fabrics, outside.out);
    set_fabric_laws(fabrics, outside.rest);
    predict(Side::network, group, outside, host, results);
  }
  return results;
}

}  // namespace payoff
