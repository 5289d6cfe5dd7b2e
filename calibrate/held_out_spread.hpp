// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "calibrate/link_held_out.hpp"
#include "model/collective_kind.hpp"
#include "model/spread_band.hpp"

// How far a law may be off, from what was held out of its fit (calibrate/link_held_out.hpp).

namespace payoff {

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

// Of links with all-reduces to know them from. What an algorithm makes of a link is the same inside
// nodes and between them, so both count. Less than two links do not tell families apart: there all
// families together, a link being one member.
[[nodiscard]] BandSpreads family_spreads(const std::vector<HeldOut>& families,
                                         CollectiveFamily family);

// Of groups of more ranks than the tables have that the law of their link was fitted to: not of the
// two nodes or GPUs that larger groups were to tell about.
[[nodiscard]] BandSpreads more_ranks_spreads(const std::vector<HeldOut>& scales,
                                             LinkProblem::Side side);

using HeldOutFilter = std::function<bool(const HeldOut&)>;  // which of them count

// The share of errors inside an interval of 90 % whose spread comes from the other members that
// count, by band; nothing where there are no two members. `rows` counts errors alike.
struct HeldOutCoverage {
  std::size_t rows{};
  double share{};
};
[[nodiscard]] std::array<HeldOutCoverage, spread_band_count> coverage_where(
    const std::vector<HeldOut>& held_out, const HeldOutFilter& counts);

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
