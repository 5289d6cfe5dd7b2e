// SPDX-License-Identifier: Apache-2.0
#include "calibrate/held_out_profile.hpp"

#include <utility>

#include "calibrate/held_out_spread.hpp"
#include "calibrate/profile_digits.hpp"

namespace payoff {
namespace {

std::string band_lines(const BandSpreads& bands) {
  std::string text;
  for (std::size_t band = 0; band < spread_band_count; ++band) {
    const HeldOutSpread& spread = bands.at(band);
    if (spread.systems > 0) {
      text += "      " + std::string(spread_band_names.at(band)) +
              ": {held_out: " + std::to_string(spread.systems) +
              ", median_error: " + digits(spread.median_error) +
              ", relative_sd: " + digits(spread.log_sd) + "}\n";
    }
  }
  return text;
}

// Of a class: what was held out, and the spread that follows.
std::string spreads_lines(const NetworkFit& fit, LinkClass link_class) {
  const ClassSpreads spreads = class_spreads(fit.systems_held_out, fit.links_held_out, link_class);
  std::string text = "  " + std::string(name(link_class)) + ":\n";
  for (const auto& [key, bands] : {std::pair{"measured_elsewhere", spreads.measured},
                                   std::pair{"never_measured", spreads.unmeasured}}) {
    text += "    " + std::string(key) + ":\n" + band_lines(bands);
  }
  return text;
}

// Of the families of collectives and of more ranks, whatever the class.
std::string further_spreads_lines(const NetworkFit& fit) {
  std::string text = "  families:\n";
  for (std::size_t f = 1; f < collective_family_count; ++f) {
    text += "    " + std::string(collective_family_names.at(f)) + ":\n" +
            band_lines(family_spreads(fit.families_held_out, static_cast<CollectiveFamily>(f)));
  }
  text += "  more_ranks:\n";
  for (const auto& [key, side] : {std::pair{"fabrics", LinkProblem::Side::fabric},
                                  std::pair{"networks", LinkProblem::Side::network}}) {
    text += "    " + std::string(key) + ":\n" +
            band_lines(more_ranks_spreads(fit.scales_held_out, side));
  }
  return text;
}

}  // namespace

std::string held_out_lines(const NetworkFit& fit) {
  std::string text = "held_out:\n";
  for (const LinkClass link_class : link_classes) {
    text += spreads_lines(fit, link_class);
  }
  return text + further_spreads_lines(fit);
}

}  // namespace payoff
