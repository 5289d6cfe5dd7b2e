// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "calibrate/link_parameters.hpp"
#include "calibrate/link_problem.hpp"
#include "calibrate/size_band.hpp"
#include "model/collective.hpp"
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
// nodes, too. A scale is a class of numbers of nodes, or of ranks inside one. By family, the laws
// are fitted to all-reduces alone, of all machines, because between nodes most links were measured
// with nothing else: what is off then is what an algorithm makes of a link, and not the link.

namespace payoff {

enum class HeldOutBy { system, link, scale, family };

// Predictions for the tables of one link that were left out together.
struct HeldOut {
  std::string what;  // the machine, link, scale or family of collectives
  std::string link;
  LinkClass link_class{};
  LinkProblem::Side side{};
  bool known{};             // others of the tables that stayed have the link
  bool from_fewer_ranks{};  // and one of them fewer ranks than any that was left out
  std::array<std::vector<double>, spread_band_count> log_errors;  // ln(predicted / measured)
  std::array<std::vector<double>, size_band_count> by_size_band;  // the same ones (size_band)
};

// Comparable tables inside a domain, and between domains with the fabrics' laws of the whole fit.
// `host` prices launches of one process. In the order of the names.
[[nodiscard]] std::vector<HeldOut> hold_out(HeldOutBy by,
                                            const std::vector<MeasuredCollective>& inside,
                                            const std::vector<MeasuredCollective>& between,
                                            const HostLaw& host);

}  // namespace payoff
