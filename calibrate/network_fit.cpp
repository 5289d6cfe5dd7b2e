// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network_fit.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/launch_fit.hpp"
#include "calibrate/link_class_fit.hpp"
#include "calibrate/link_held_out.hpp"
#include "calibrate/link_quality.hpp"
#include "model/collective.hpp"
#include "model/group_paths.hpp"

namespace payoff {
namespace {

using Tables = std::vector<MeasuredCollective>;
using Side = LinkProblem::Side;

// Only the points that the model describes.
Tables comparable_tables(std::span<const MeasuredCollective> tables) {
  Tables result;
  for (const MeasuredCollective& table : tables) {
    MeasuredCollective copy = table;
    std::erase_if(copy.points,
                  [&](const CollectivePoint& point) { return !is_comparable(table, point); });
    const CollectiveModel model(copy.cluster, copy.group, copy.release);
    std::erase_if(copy.points, [&](const CollectivePoint& point) {
      return !model.price_pinned(copy.collective, point.size, copy.algorithm, copy.protocol);
    });
    if (!copy.points.empty()) {
      result.push_back(std::move(copy));
    }
  }
  return result;
}

template <class Part>
std::vector<Link> links_of(std::span<const Part> parts) {
  std::vector<Link> links;
  for (const Part& part : parts) {
    links.push_back(link_of(part));
  }
  return links;
}

// All links of one side: class by class, then one by one around the class.
std::vector<LinkFit> fit_side(Side side, const std::vector<Link>& links, const Tables& all) {
  const Tables tables = well_placed(all);
  std::vector<LinkFit> fits;
  std::map<LinkClass, LinkClassFit> classes;
  for (const Link& link : links) {
    if (!classes.contains(link.link_class)) {
      classes.emplace(link.link_class, LinkClassFit(side, link.link_class, tables));
    }
    fits.push_back(classes.at(link.link_class).fit(link, tables));
  }
  return fits;
}

std::map<std::string, LinkLaw> laws_by_name(const std::vector<LinkFit>& links) {
  std::map<std::string, LinkLaw> laws;
  for (const LinkFit& link : links) {
    laws[link.name] = link.law;
  }
  return laws;
}

}  // namespace

std::vector<MeasuredCollective> well_placed(std::vector<MeasuredCollective> tables) {
  std::erase_if(tables, [](const MeasuredCollective& table) { return table.misplaced; });
  return tables;
}

bool is_comparable(const MeasuredCollective& table, const CollectivePoint& point) {
  if (table.graph || table.irregular) {
    return false;
  }
  if (table.launch != Launch::single_process) {
    return true;
  }
  Seconds shortest = point.time;
  for (const CollectivePoint& other : table.points) {
    shortest = std::min(shortest, other.time);
  }
  return point.size >= 256_KiB && point.time > 1.6 * shortest;
}

NetworkFit fit_network(std::span<const MeasuredCollective> tables, std::span<const Fabric> fabrics,
                       std::span<const Network> networks) {
  Tables inside;
  Tables between;
  for (MeasuredCollective& table : comparable_tables(tables)) {
    const GroupPaths paths = paths_of(table.cluster, table.group);
    (paths.domains > 1 ? between : inside).push_back(std::move(table));
  }
  NetworkFit fit;
  fit.fabrics = fit_side(Side::fabric, links_of(fabrics), inside);
  fit.launches = fit_launches(tables, fit.fabrics);
  set_fabric_laws(laws_by_name(fit.fabrics), between);
  fit.networks = fit_side(Side::network, links_of(networks), between);
  const auto held_out = [&](HeldOutBy by) {
    return hold_out(by, inside, between, fit.launches.law);
  };
  fit.systems_held_out = held_out(HeldOutBy::system);
  fit.links_held_out = held_out(HeldOutBy::link);
  fit.scales_held_out = held_out(HeldOutBy::scale);
  fit.families_held_out = held_out(HeldOutBy::family);
  set_spreads(fit);
  return fit;
}

}  // namespace payoff
