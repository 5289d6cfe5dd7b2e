// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_class_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "calibrate/link_quality.hpp"

namespace payoff {
namespace {

using Tables = std::vector<MeasuredCollective>;
using Side = LinkProblem::Side;

LinkFit link_fit(std::string name, LinkClass link_class, const std::vector<Prior>& priors,
                 const RelativeFit& fit) {
  LinkFit link;
  link.name = std::move(name);
  link.link_class = link_class;
  link.law = law_from(all_coefficients(priors, fit.values));
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

std::vector<Prior> without(const std::vector<std::string_view>& lacks, std::vector<Prior> priors) {
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (std::ranges::find(lacks, link_parameters()[j].key) != lacks.end()) {
      priors[j] = {};
    }
  }
  return priors;
}

// A link that is another one but for its path to memory.
struct Twin {
  LinkClass link_class{};
  bool (*shares)(std::string_view key){};
};

// LL passes through host memory between nodes, with GPUDirect and without (NVIDIA/nccl,
// src/transport/net.cc). Across sockets what long messages achieve, and how they begin, is another.
std::optional<Twin> twin_of(LinkClass link_class) {
  if (link_class == LinkClass::rdma_staged) {
    return Twin{LinkClass::rdma, [](std::string_view key) {
                  return key == "launch" || key == "step_ll" || key == "share_ll";
                }};
  }
  if (link_class == LinkClass::pcie_sockets) {
    return Twin{LinkClass::pcie,
                [](std::string_view key) { return key != "share_simple" && key != "ramp"; }};
  }
  return std::nullopt;
}

// Normal distributions of the mean of a class, parameter by parameter.
class PopulationMean {
 public:
  explicit PopulationMean(const std::vector<Prior>& wide) : wide_(wide) {
    for (const Prior& prior : wide) {
      weight_.push_back(prior.sd > 0 ? 1 / (prior.sd * prior.sd) : 1);
      sum_.push_back(weight_.back() * prior.mean);
    }
  }

  // `around` are the priors that the link was given: its distance from the mean.
  void add(const LinkFit& link, const std::vector<Prior>& around) {
    // Of the prior's precision: below, the tables narrow the prior by less than 2.5 %, and what is
    // left when the prior is taken out is a small difference of large numbers.
    constexpr double least_told = 0.05;
    for (const LinkCoefficient& coefficient : link.coefficients) {
      const std::size_t j = index_of(coefficient);
      const double given = 1 / (around[j].sd * around[j].sd);
      const double after = 1 / (coefficient.sd * coefficient.sd);
      const double told = after - given;
      if (told < least_told * given) {
        continue;
      }
      const double value = (coefficient.value * after - around[j].mean * given) / told;
      const double weight = 1 / (1 / told + around[j].sd * around[j].sd);
      weight_[j] += weight;
      sum_[j] += weight * std::max(value, around[j].lower);
    }
  }

  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> result;
    for (std::size_t j = 0; j < sum_.size(); ++j) {
      result.push_back(wide_[j].sd > 0 ? sum_[j] / weight_[j] : wide_[j].mean);
    }
    return result;
  }

 private:
  std::vector<Prior> wide_;
  std::vector<double> weight_;
  std::vector<double> sum_;
};

}  // namespace

Link link_of(const Fabric& fabric) {
  Link link{fabric.name, class_of(fabric), {}, fabric.twin};
  if (!fabric.nvls) {
    link.lacks = {"step_nvls", "share_nvls"};
  }
  return link;
}

Link link_of(const Network& network) {
  Link link{network.name, class_of(network), {}, network.twin};
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
  fit_mean(own);
  fit_hosts(own);
  if (const std::optional<Twin> twin = twin_of(link_class)) {
    twins_ = std::make_unique<LinkClassFit>(side, twin->link_class, tables);
  }
}

// Links of a class differ, by more than the noise of their tables: what they have in common is the
// mean of a population, of which every link tells one value (Gauss-Newton's normal distribution of
// it, less the prior that it was given) and which starts at the class's own prior.
void LinkClassFit::fit_mean(const Tables& tables) {
  // The mean moves the priors of the links, and they the mean. Three times as many passes move the
  // median parameter of the fit half by 0.1 %, none by half of its width (the ramp of RDMA, the
  // least certain, by 37 %), for three times the time of the fit.
  constexpr int passes = 4;
  const std::vector<Prior> wide = prior_of(link_class_);
  std::map<std::string, Tables> links;
  for (const MeasuredCollective& table : tables) {
    links[link_of(side_, table).name].push_back(table);
  }
  for (const Prior& prior : wide) {
    mean_.push_back(prior.mean);
  }
  for (int pass = 0; pass < passes; ++pass) {
    const std::vector<Prior> priors = around(mean_, link_class_);
    PopulationMean mean(wide);
    for (const auto& [name, own] : links) {
      const std::vector<Prior> having = without(link_of(side_, own.front()).lacks, priors);
      mean.add(link_fit(name, link_class_, having, LinkProblem(side_, own).solve(having)), priors);
    }
    mean_ = mean.values();
  }
}

// What a link has of its twin it has until its own tables say otherwise.
void LinkClassFit::set_twin(const Link& link, const Tables& tables,
                            std::vector<Prior>& priors) const {
  const std::optional<Twin> twin = twin_of(link_class_);
  if (!twin || link.twin.empty()) {
    return;
  }
  const LinkFit fit = twins_->fit({link.twin, twin->link_class, link.lacks, {}}, tables);
  std::vector<double> mean = mean_;
  for (const LinkCoefficient& coefficient : fit.coefficients) {
    if (twin->shares(coefficient.parameter->key)) {
      mean[index_of(coefficient)] = coefficient.value;
    }
  }
  priors = without(link.lacks, around(mean, link_class_));
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
  std::vector<Prior> priors = without(link.lacks, around(mean_, link_class_));
  set_twin(link, tables, priors);
  const LinkProblem problem(side_, std::move(own));
  const RelativeFit solved = problem.solve(priors);
  LinkFit result = link_fit(link.name, link_class_, priors, solved);
  set_hosts(priors, result);
  describe_rows(problem.tables(), solved, result);
  return result;
}

}  // namespace payoff
