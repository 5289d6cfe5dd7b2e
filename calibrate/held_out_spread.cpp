// SPDX-License-Identifier: Apache-2.0
#include "calibrate/held_out_spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "calibrate/between_hosts.hpp"
#include "calibrate/relative_fit.hpp"

namespace payoff {
namespace {

using Side = LinkProblem::Side;

// Members, to tell how far others of their kind are off.
constexpr std::size_t enough = 2;

// All that was held out of a link is one member.
std::vector<HeldOut> by_link(const std::vector<HeldOut>& held_out) {
  std::map<std::string, HeldOut> links;
  for (const HeldOut& each : held_out) {
    const auto [place, first] = links.try_emplace(each.link, each);
    for (std::size_t band = 0; !first && band < spread_band_count; ++band) {
      const std::vector<double>& errors = each.log_errors.at(band);
      std::vector<double>& of_link = place->second.log_errors.at(band);
      of_link.insert(of_link.end(), errors.begin(), errors.end());
    }
  }
  std::vector<HeldOut> result;
  result.reserve(links.size());
  for (auto& [name, link] : links) {
    result.push_back(std::move(link));
  }
  return result;
}

struct Weighted {
  double size{};
  double weight{};
};

// The smallest half width that holds 90 % of the weight.
double half_width(std::vector<Weighted> errors) {
  constexpr double share = 0.9 - 1e-12;  // sums of weights round
  std::ranges::sort(errors, {}, &Weighted::size);
  double all = 0;
  for (const Weighted& error : errors) {
    all += error.weight;
  }
  double held = 0;
  for (const Weighted& error : errors) {
    held += error.weight;
    if (held >= share * all) {
      return error.size;
    }
  }
  return 0;
}

double median_error(std::vector<double> log_errors) {
  for (double& log_error : log_errors) {
    log_error = std::expm1(log_error);
  }
  return median_magnitude(std::move(log_errors));
}

BandSpreads spreads_where(const std::vector<HeldOut>& held_out, const HeldOutFilter& counts) {
  BandSpreads spreads;
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    std::vector<Weighted> sizes;
    std::vector<double> medians;
    for (const HeldOut& each : held_out) {
      const std::vector<double>& errors = each.log_errors.at(band);
      if (errors.empty() || !counts(each)) {
        continue;
      }
      for (const double error : errors) {
        sizes.push_back({std::abs(error), 1 / static_cast<double>(errors.size())});
      }
      medians.push_back(median_error(errors));
    }
    if (const std::size_t systems = medians.size(); systems > 0) {
      const double student = student_quantile_95(systems) / normal_quantile_95;
      spreads.at(band) = {systems, student * half_width(std::move(sizes)) / normal_quantile_95,
                          median_magnitude(std::move(medians))};
    }
  }
  return spreads;
}

}  // namespace

BandSpreads spreads_of(const std::vector<HeldOut>& held_out, Side side, bool known,
                       std::optional<LinkClass> of_class) {
  return spreads_where(held_out, [&](const HeldOut& each) {
    return each.side == side && each.known == known && (!of_class || each.link_class == *of_class);
  });
}

BandSpreads family_spreads(const std::vector<HeldOut>& families, CollectiveFamily family) {
  BandSpreads spreads = spreads_where(families, [&](const HeldOut& each) {
    return each.known && each.what == family_name(family);
  });
  const BandSpreads of_all =
      spreads_where(by_link(families), [](const HeldOut& each) { return each.known; });
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    spreads.at(band) = spreads.at(band).systems >= enough ? spreads.at(band) : of_all.at(band);
  }
  return spreads;
}

BandSpreads more_ranks_spreads(const std::vector<HeldOut>& scales, Side side) {
  return spreads_where(
      scales, [side](const HeldOut& each) { return each.side == side && each.from_fewer_ranks; });
}

std::array<HeldOutCoverage, spread_band_count> coverage_where(const std::vector<HeldOut>& held_out,
                                                              const HeldOutFilter& counts) {
  std::array<HeldOutCoverage, spread_band_count> coverage;
  std::array<std::size_t, spread_band_count> inside{};
  for (const HeldOut& each : held_out) {
    if (!counts(each)) {
      continue;
    }
    const BandSpreads others = spreads_where(
        held_out, [&](const HeldOut& other) { return &other != &each && counts(other); });
    for (std::size_t band = 0; band < spread_band_count; ++band) {
      if (others.at(band).systems == 0) {
        continue;
      }
      const double half_width = normal_quantile_95 * others.at(band).log_sd;
      const std::vector<double>& errors = each.log_errors.at(band);
      coverage.at(band).rows += errors.size();
      inside.at(band) += static_cast<std::size_t>(std::ranges::count_if(
          errors, [&](double error) { return std::abs(error) <= half_width; }));
    }
  }
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    if (coverage.at(band).rows > 0) {
      coverage.at(band).share =
          static_cast<double>(inside.at(band)) / static_cast<double>(coverage.at(band).rows);
    }
  }
  return coverage;
}

ClassSpreads class_spreads(const std::vector<HeldOut>& systems, const std::vector<HeldOut>& links,
                           LinkClass link_class) {
  const Side side = is_of_fabrics(link_class) ? Side::fabric : Side::network;
  const BandSpreads side_measured = spreads_of(systems, side, true, std::nullopt);
  const BandSpreads side_unmeasured = spreads_of(links, side, false, std::nullopt);
  ClassSpreads spreads{spreads_of(systems, side, true, link_class),
                       spreads_of(links, side, false, link_class)};
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    HeldOutSpread& measured = spreads.measured.at(band);
    HeldOutSpread& unmeasured = spreads.unmeasured.at(band);
    measured = measured.systems >= enough ? measured : side_measured.at(band);
    unmeasured = unmeasured.systems >= enough ? unmeasured : side_unmeasured.at(band);
    unmeasured.log_sd = std::max(measured.log_sd, unmeasured.log_sd);
  }
  return spreads;
}

}  // namespace payoff
