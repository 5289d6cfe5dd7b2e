// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_class_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibrate/link_quality.hpp"

namespace payoff {
namespace {

using Tables = std::vector<MeasuredCollective>;
using Side = LinkProblem::Side;

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

std::size_t index_of(const LinkCoefficient& coefficient) {
  return static_cast<std::size_t>(coefficient.parameter - link_parameters().data());
}

}  // namespace

Link link_of(const Fabric& fabric) {
  Link link{fabric.name, class_of(fabric), {}};
  if (!fabric.nvls) {
    link.lacks = {"step_nvls", "share_nvls"};
  }
  return link;
}

Link link_of(const Network& network) {
  Link link{network.name, class_of(network), {}};
  if (!network.eager) {
    link.lacks = {"rendezvous"};
  }
  return link;
}

Link link_of(Side side, const MeasuredCollective& table) {
  return side == Side::fabric ? link_of(table.cluster.fabric) : link_of(table.cluster.network);
}

LinkClassFit::LinkClassFit(Side side, LinkClass link_class, const Tables& tables)
    : side_(side), link_class_(link_class) {
  Tables own;
  for (const MeasuredCollective& table : tables) {
    const Link link = link_of(side, table);
    if (!link.name.empty() && link.link_class == link_class) {
      own.push_back(table);
    }
  }
  tables_ = own.size();
  const std::vector<Prior> wide = prior_of(link_class);
  mean_ = full(wide, LinkProblem(side, own).solve(wide));
  fit_hosts(own);
}

// How the parameters of hosts differ, from each system that says more about its own than the class
// does.
void LinkClassFit::fit_hosts(const Tables& tables) {
  std::map<std::string, Tables> systems;
  for (const MeasuredCollective& table : tables) {
    systems[table.source + "/" + table.system].push_back(table);
  }
  const std::vector<Prior> priors = around(mean_, link_class_);
  std::map<std::size_t, std::vector<double>> values;
  for (auto& [name, own] : systems) {
    const LinkFit system =
        link_fit(name, link_class_, priors, LinkProblem(side_, std::move(own)).solve(priors));
    for (const LinkCoefficient& coefficient : system.coefficients) {
      if (coefficient.parameter->of_hosts && coefficient.fitted) {
        values[index_of(coefficient)].push_back(coefficient.value);
      }
    }
  }
  for (const auto& [parameter, of_systems] : values) {
    if (of_systems.size() > 1) {
      hosts_[parameter] = between_hosts(of_systems);
    }
  }
}

// The hosts of a link's own tables give way to those of the class.
void LinkClassFit::set_hosts(const std::vector<Prior>& priors, LinkFit& link) const {
  for (LinkCoefficient& coefficient : link.coefficients) {
    if (!coefficient.parameter->of_hosts) {
      continue;
    }
    if (coefficient.fitted) {
      link.of_hosts.push_back(coefficient);
    }
    const std::size_t j = index_of(coefficient);
    const auto hosts = hosts_.find(j);
    const bool told = hosts != hosts_.end();
    const double value = told ? hosts->second.median : mean_[j];
    const double sd = told ? value * hosts->second.log_sd : priors[j].sd;
    coefficient = {coefficient.parameter, value, sd, false};
    link.law.*coefficient.parameter->rate = Bandwidth{value_of(*coefficient.parameter, value)};
    link.law.relative_sd_node_limit = relative_sd_of(*coefficient.parameter, value, sd);
  }
}

LinkFit LinkClassFit::fit(const Link& link, const Tables& tables) const {
  Tables own;
  for (const MeasuredCollective& table : tables) {
    if (link_of(side_, table).name == link.name) {
      own.push_back(table);
    }
  }
  std::vector<Prior> priors = around(mean_, link_class_);
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (std::ranges::find(link.lacks, link_parameters()[j].key) != link.lacks.end()) {
      priors[j] = {};
    }
  }
  const LinkProblem problem(side_, std::move(own));
  const RelativeFit solved = problem.solve(priors);
  LinkFit result = link_fit(link.name, link_class_, priors, solved);
  set_hosts(priors, result);
  describe_rows(problem.tables(), solved, result);
  return result;
}

}  // namespace payoff
