// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "calibrate/held_out_spread.hpp"

namespace payoff {
namespace {

using Side = LinkProblem::Side;

// Relative width of share_simple.
double share_of(const std::vector<Prior>& priors) {
  for (std::size_t j = 0; j < priors.size(); ++j) {
    if (link_parameters()[j].key == "share_simple") {
      return priors[j].sd / priors[j].mean;
    }
  }
  return 0;
}

// Relative, of what long messages achieve: how far a class may be from its prior, and a member of
// it from its class.
double class_width(LinkClass link_class) { return share_of(prior_of(link_class)); }
double member_width(LinkClass link_class) {
  return share_of(around(std::vector<double>(link_parameter_count, 1.0), link_class));
}

std::set<LinkClass> measured_classes(const std::vector<LinkFit>& links) {
  std::set<LinkClass> classes;
  for (const LinkFit& link : links) {
    if (!link.tables.empty()) {
      classes.insert(link.link_class);
    }
  }
  return classes;
}

// Links, to tell how far members of a class are apart.
constexpr std::size_t enough_held_out = 2;

struct BandSpread {
  double sd{};
  SpreadFrom from{SpreadFrom::priors};
};

BandSpread spread_of_measured(const BandError& error, const HeldOutSpread& known,
                              LinkClass link_class) {
  const double own = normal_mad * error.median;
  if (known.systems == 0) {
    return {std::hypot(own, member_width(link_class)), SpreadFrom::priors};
  }
  return own > known.log_sd ? BandSpread{own, SpreadFrom::own_scatter}
                            : BandSpread{known.log_sd, SpreadFrom::held_out};
}

BandSpread spread_of_unmeasured(const HeldOutSpread& unmeasured, bool class_is_measured,
                                LinkClass link_class) {
  if (class_is_measured && unmeasured.systems >= enough_held_out) {
    return {unmeasured.log_sd, SpreadFrom::held_out};
  }
  return {std::hypot(unmeasured.log_sd, class_width(link_class)), SpreadFrom::priors};
}

// What the link's own tables do not tell about a collective, and about more ranks than they have.
// Where they have no size of a band, it has the spread of links held out whole, with all that those
// were measured with.
void set_further_spreads(const NetworkFit& fit, LinkFit& link) {
  if (link.tables.empty()) {
    return;
  }
  const Side side = is_of_fabrics(link.link_class) ? Side::fabric : Side::network;
  const BandSpreads more_ranks = more_ranks_spreads(fit.scales_held_out, side);
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    if (link.errors.at(band).points == 0) {
      continue;
    }
    for (std::size_t f = 0; f < collective_family_count; ++f) {
      const auto family = static_cast<CollectiveFamily>(f);
      const bool told = family == CollectiveFamily::all_reduces || link.rows.at(f).at(band) > 0;
      link.law.relative_sd_family.at(f).at(band) =
          told ? 0 : family_spreads(fit.families_held_out, family).at(band).log_sd;
    }
    link.law.relative_sd_more_ranks.at(band) = more_ranks.at(band).log_sd;
  }
}

void set_spreads(const NetworkFit& fit, std::vector<LinkFit>& links) {
  const std::set<LinkClass> measured = measured_classes(links);
  for (LinkFit& link : links) {
    const ClassSpreads spreads =
        class_spreads(fit.systems_held_out, fit.links_held_out, link.link_class);
    std::array<double, spread_band_count> sd{};
    for (std::size_t band = 0; band < spread_band_count; ++band) {
      BandError& error = link.errors.at(band);
      const BandSpread spread =
          error.points > 0
              ? spread_of_measured(error, spreads.measured.at(band), link.link_class)
              : spread_of_unmeasured(spreads.unmeasured.at(band),
                                     measured.contains(link.link_class), link.link_class);
      sd.at(band) = spread.sd;
      error.spread_from = spread.from;
    }
    set_further_spreads(fit, link);
    link.law.relative_sd_small = sd[0];
    link.law.relative_sd_middle = sd[1];
    link.law.relative_sd_large = sd[2];
  }
}

}  // namespace

void describe_rows(std::span<const MeasuredCollective> tables, const RelativeFit& fit,
                   LinkFit& link) {
  std::set<std::string> ids;
  std::set<std::string> systems;
  std::array<std::vector<double>, spread_band_count> errors;
  std::size_t row = 0;
  for (const MeasuredCollective& table : tables) {
    ids.insert(table.id);
    systems.insert(table.source + "/" + table.system);
    link.fewest_ranks =
        link.fewest_ranks == 0 ? table.group.ranks : std::min(link.fewest_ranks, table.group.ranks);
    link.most_ranks = std::max(link.most_ranks, table.group.ranks);
    for (const CollectivePoint& point : table.points) {
      link.smallest = link.smallest <= 0_B ? point.size : std::min(link.smallest, point.size);
      link.largest = std::max(link.largest, point.size);
      ++link.rows.at(static_cast<std::size_t>(family_of(table.collective)))
            .at(spread_band(point.size));
      errors.at(spread_band(point.size)).push_back(fit.errors[row++]);
    }
  }
  link.tables = {ids.begin(), ids.end()};
  link.systems = systems.size();
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    std::vector<double>& of_band = errors.at(band);
    std::ranges::sort(of_band);
    link.errors.at(band) = {of_band.size(), median_magnitude(of_band),
                            of_band.empty() ? 0 : of_band[of_band.size() / 2], SpreadFrom::priors};
  }
}

void set_spreads(NetworkFit& fit) {
  set_spreads(fit, fit.fabrics);
  set_spreads(fit, fit.networks);
}

}  // namespace payoff
