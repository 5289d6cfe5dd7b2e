// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/link_parameters.hpp"
#include "calibrate/link_problem.hpp"
#include "model/hardware.hpp"
#include "model/measured_collective.hpp"
#include "model/spread_band.hpp"

// Cross-validation of the laws of links: everything that one machine, one link or one scale told is
// left out, the laws are fitted to the rest, and what was left out is predicted. How far such
// predictions are off is how far the law is off on a system that nobody has measured yet; the
// residuals of a fit do not show it.
//
// A machine is what one source ran on one kind of node, in whatever number and over whatever
// network, so that its tables inside a node are left out of the laws that price those between
// nodes, too. A scale is a class of numbers of nodes, or of ranks inside one.

namespace payoff {

enum class HeldOutBy { system, link, scale };

// Predictions for the tables of one link that were left out together.
struct HeldOut {
  std::string what;  // the machine, link or scale
  std::string link;
  LinkClass link_class{};
  LinkProblem::Side side{};
  bool known{};  // others of the tables that stayed have the link
  std::array<std::vector<double>, spread_band_count> log_errors;  // ln(predicted / measured)
};

// Comparable tables inside a domain, and between domains with the fabrics' laws of the whole fit.
// `host` prices launches of one process. In the order of the names.
[[nodiscard]] std::vector<HeldOut> hold_out(HeldOutBy by,
                                            const std::vector<MeasuredCollective>& inside,
                                            const std::vector<MeasuredCollective>& between,
                                            const HostLaw& host);

// What the law of a link is off by on a further system, one standard deviation of the logarithm:
// the half width that holds 90 % of the errors, systems counting equally whatever the number of
// their tables, over the normal quantile. Few systems that happen to be alike are no proof: widened
// by Student's quantile over the normal one, whatever their number (calibrate/between_hosts.hpp).
struct HeldOutSpread {
  std::size_t systems{};
  double log_sd{};        // 0: nothing to tell it from
  double median_error{};  // of |predicted / measured - 1|, systems counting equally
};

using BandSpreads = std::array<HeldOutSpread, spread_band_count>;

// Of the members that are `known` or not; without `of_class`, of all classes of the side.
[[nodiscard]] BandSpreads spreads_of(const std::vector<HeldOut>& held_out, LinkProblem::Side side,
                                     bool known, std::optional<LinkClass> of_class);

// For the links of a class: of those that were measured on another machine, and of those that
// nobody measured, which are no better known. A class of which less than two members could be held
// out has the spreads of its side.
struct ClassSpreads {
  BandSpreads measured;
  BandSpreads unmeasured;
};

[[nodiscard]] ClassSpreads class_spreads(const std::vector<HeldOut>& systems,
                                         const std::vector<HeldOut>& links, LinkClass link_class);

}  // namespace payoff
