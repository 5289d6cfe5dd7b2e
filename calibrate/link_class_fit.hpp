// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/between_hosts.hpp"
#include "calibrate/link_problem.hpp"
#include "calibrate/network_fit.hpp"

// The law of a link from its own tables, around what the tables of its class say.

namespace payoff {

// A fabric or a network, as far as a fit tells them apart.
struct Link {
  std::string name;
  LinkClass link_class{};
  std::vector<std::string_view> lacks;  // keys of parameters of hardware that it does not have
  std::string twin;  // the link that shares part of its law (Fabric::twin, Network::twin); or empty
};

[[nodiscard]] Link link_of(const Fabric& fabric);
[[nodiscard]] Link link_of(const Network& network);
// The link of the table that the law of this side prices.
[[nodiscard]] Link link_of(LinkProblem::Side side, const MeasuredCollective& table);

class LinkClassFit {
 public:
  // `tables` of any link; those of the class count.
  LinkClassFit(LinkProblem::Side side, LinkClass link_class,
               const std::vector<MeasuredCollective>& tables);

  // From those of `tables` that are the link's; without any, its law is that of the class. The
  // spread is not set.
  [[nodiscard]] LinkFit fit(const Link& link, const std::vector<MeasuredCollective>& tables) const;
  // How many tables the class has.
  [[nodiscard]] std::size_t tables() const { return tables_; }

 private:
  void fit_mean(const std::vector<MeasuredCollective>& tables);
  void fit_hosts(const std::vector<MeasuredCollective>& tables);
  void set_twin(const Link& link, const std::vector<MeasuredCollective>& tables,
                std::vector<Prior>& priors) const;
  void set_hosts(const std::vector<Prior>& priors, LinkFit& link) const;

  LinkProblem::Side side_;
  LinkClass link_class_;
  std::vector<double> mean_;
  std::size_t tables_{};
  std::unique_ptr<LinkClassFit> twins_;        // the class of the links' twins
  std::map<std::size_t, BetweenHosts> hosts_;  // by parameter; where two systems or more tell
};

}  // namespace payoff
