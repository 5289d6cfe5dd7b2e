// SPDX-License-Identifier: Apache-2.0
#include "calibrate/link_quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

namespace payoff {
namespace {

// How far the law of a link is off on systems that had no part in its fit, one standard deviation
// by size band: the 90th percentile of |ln(predicted / measured)| when one system of the fit half
// is left out, over 1.645. First where other systems have the link, then where only its class is
// known (never narrower). Set by hand from such a run; no command repeats it yet.
constexpr std::array<double, size_band_count> between_systems{0.58, 0.24, 0.23};
constexpr std::array<double, size_band_count> between_links{0.58, 0.45, 0.23};

}  // namespace

void describe_rows(std::span<const MeasuredCollective> tables, const RelativeFit& fit,
                   LinkFit& link) {
  std::set<std::string> ids;
  std::set<std::string> systems;
  std::array<std::vector<double>, size_band_count> errors;
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
      errors.at(size_band(point.size)).push_back(fit.errors[row++]);
    }
  }
  link.tables = {ids.begin(), ids.end()};
  link.systems = systems.size();
  for (std::size_t band = 0; band < size_band_count; ++band) {
    std::vector<double>& of_band = errors.at(band);
    std::ranges::sort(of_band);
    link.errors.at(band) = {of_band.size(), median_magnitude(of_band),
                            of_band.empty() ? 0 : of_band[of_band.size() / 2]};
  }
}

void set_spread(LinkFit& link, double class_sd) {
  std::array<double, size_band_count> sd{};
  for (std::size_t band = 0; band < size_band_count; ++band) {
    const BandError& error = link.errors.at(band);
    const double own = 1.4826 * error.median;
    sd.at(band) = error.points > 0 ? std::hypot(own, between_systems.at(band))
                                   : std::hypot(class_sd, between_links.at(band));
  }
  link.law.relative_sd_small = sd[0];
  link.law.relative_sd_middle = sd[1];
  link.law.relative_sd_large = sd[2];
}

}  // namespace payoff
