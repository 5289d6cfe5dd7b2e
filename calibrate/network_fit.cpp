// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "calibrate/between_hosts.hpp"
#include "calibrate/launch_fit.hpp"
#include "calibrate/link_problem.hpp"
#include "calibrate/link_quality.hpp"

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

std::vector<double> full(const std::vector<Prior>& priors, const RelativeFit& fit) {
  std::vector<double> all(priors.size());
  std::size_t next = 0;
  for (std::size_t j = 0; j < priors.size(); ++j) {
    all[j] = priors[j].sd > 0 ? fit.values[next++] : priors[j].mean;
  }
  return all;
}

LinkFit link_fit(std::string name, LinkClass link_class, const std::vector<Prior>& priors,
                 const RelativeFit& fit) {
  LinkFit link;
  link.name = std::move(name);
  link.link_class = link_class;
  link.law = law_from(full(priors, fit));
  std::size_t next = 0;
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (priors[j].sd <= 0) {
      continue;
    }
    const double sd = std::sqrt(fit.covariance[next][next]);
    link.coefficients.push_back(
        {&link_parameters()[j], fit.values[next], sd, sd < 0.7 * priors[j].sd});
    ++next;
  }
  for (std::size_t i = 0; i < next; ++i) {
    link.covariance.emplace_back(fit.covariance[i].begin(),
                                 fit.covariance[i].begin() + static_cast<std::ptrdiff_t>(next));
  }
  return link;
}

// Parameters of hardware that a link does not have.
void leave_out(const Fabric& fabric, std::vector<Prior>& priors) {
  for (std::size_t j = 0; j < priors.size(); ++j) {
    const std::string_view key = link_parameters()[j].key;
    if (!fabric.nvls && (key == "step_nvls" || key == "share_nvls")) {
      priors[j] = {};
    }
  }
}

void leave_out(const Network& network, std::vector<Prior>& priors) {
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (!network.eager && link_parameters()[j].key == "rendezvous") {
      priors[j] = {};
    }
  }
}

Tables of_class(const Tables& tables, LinkClass link_class, const auto& part_of) {
  Tables result;
  for (const MeasuredCollective& table : tables) {
    if (!part_of(table).name.empty() && class_of(part_of(table)) == link_class) {
      result.push_back(table);
    }
  }
  return result;
}

// What is known of a class before a link of it is looked at.
struct ClassFit {
  std::vector<double> mean;
  std::size_t tables{};
  std::map<std::size_t, BetweenHosts> hosts;  // by parameter; where two systems or more tell
};

// How the parameters of hosts differ, from each system that says more about its own than the class
// does.
void fit_hosts(Side side, LinkClass link_class, const Tables& tables, ClassFit& fit) {
  std::map<std::string, Tables> systems;
  for (const MeasuredCollective& table : tables) {
    systems[table.source + "/" + table.system].push_back(table);
  }
  const std::vector<Prior> priors = around(fit.mean, link_class);
  std::map<std::size_t, std::vector<double>> values;
  for (auto& [name, own] : systems) {
    const LinkFit system =
        link_fit(name, link_class, priors, LinkProblem(side, std::move(own)).solve(priors));
    for (const LinkCoefficient& coefficient : system.coefficients) {
      if (coefficient.parameter->of_hosts && coefficient.fitted) {
        values[static_cast<std::size_t>(coefficient.parameter - link_parameters().data())]
            .push_back(coefficient.value);
      }
    }
  }
  for (const auto& [parameter, of_systems] : values) {
    if (of_systems.size() > 1) {
      fit.hosts[parameter] = between_hosts(of_systems);
    }
  }
}

ClassFit fit_class(Side side, LinkClass link_class, const Tables& tables) {
  const std::vector<Prior> wide = prior_of(link_class);
  ClassFit fit{full(wide, LinkProblem(side, tables).solve(wide)), tables.size(), {}};
  fit_hosts(side, link_class, tables, fit);
  return fit;
}

// The hosts of a link's own tables give way to those of the class.
void set_hosts(const ClassFit& of_class, const std::vector<Prior>& priors, LinkFit& link) {
  for (LinkCoefficient& coefficient : link.coefficients) {
    if (!coefficient.parameter->of_hosts) {
      continue;
    }
    if (coefficient.fitted) {
      link.of_hosts.push_back(coefficient);
    }
    const auto j = static_cast<std::size_t>(coefficient.parameter - link_parameters().data());
    const auto hosts = of_class.hosts.find(j);
    const bool told = hosts != of_class.hosts.end();
    const double value = told ? hosts->second.median : of_class.mean[j];
    const double sd = told ? value * hosts->second.log_sd : priors[j].sd;
    coefficient = {coefficient.parameter, value, sd, false};
    link.law.*coefficient.parameter->rate = Bandwidth{value_of(*coefficient.parameter, value)};
    link.law.relative_sd_node_limit = relative_sd_of(*coefficient.parameter, value, sd);
  }
}

// Relative, of the share that long messages achieve.
double share_sd(LinkClass link_class) {
  const std::vector<Prior> priors = prior_of(link_class);
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (link_parameters()[j].key == "share_simple") {
      return priors[j].sd / priors[j].mean;
    }
  }
  return 0;
}

// All links of one side: class by class, then one by one around the class.
template <class Part>
std::vector<LinkFit> fit_side(Side side, std::span<const Part> parts, const Tables& tables,
                              const auto& part_of) {
  std::vector<LinkFit> links;
  std::map<LinkClass, ClassFit> classes;
  for (const Part& part : parts) {
    const LinkClass link_class = class_of(part);
    if (!classes.contains(link_class)) {
      classes[link_class] = fit_class(side, link_class, of_class(tables, link_class, part_of));
    }
    const ClassFit& known = classes[link_class];
    Tables own;
    for (const MeasuredCollective& table : tables) {
      if (part_of(table).name == part.name) {
        own.push_back(table);
      }
    }
    std::vector<Prior> priors = around(known.mean, link_class);
    leave_out(part, priors);
    const LinkProblem problem(side, std::move(own));
    const RelativeFit fit = problem.solve(priors);
    LinkFit& link = links.emplace_back(link_fit(part.name, link_class, priors, fit));
    set_hosts(known, priors, link);
    describe_rows(problem.tables(), fit, link);
    set_spread(link, known.tables > 0 ? 0 : share_sd(link_class));
  }
  return links;
}

}  // namespace

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
  fit.fabrics = fit_side<Fabric>(
      Side::fabric, fabrics, inside,
      [](const MeasuredCollective& t) -> const Fabric& { return t.cluster.fabric; });
  fit.launches = fit_launches(tables, fit.fabrics);
  for (MeasuredCollective& table : between) {
    for (const LinkFit& fabric : fit.fabrics) {
      if (fabric.name == table.cluster.fabric.name) {
        table.cluster.fabric.law = fabric.law;
      }
    }
  }
  fit.networks = fit_side<Network>(
      Side::network, networks, between,
      [](const MeasuredCollective& t) -> const Network& { return t.cluster.network; });
  return fit;
}

}  // namespace payoff
