// SPDX-License-Identifier: Apache-2.0
#include "cli/network_fit_text.hpp"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/held_out_spread.hpp"
#include "calibrate/relative_fit.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

using Side = LinkProblem::Side;

std::vector<Column> with_bands(std::vector<Column> columns) {
  for (const char* band : {"to 64 KiB", "to 4 MiB", "beyond"}) {
    columns.push_back({band, Align::right});
  }
  return columns;
}

std::string fit_table(const NetworkFit& fit) {
  Table table(with_bands({{"link", Align::left}, {"tables", Align::right}}));
  for (const auto* links : {&fit.fabrics, &fit.networks}) {
    for (const LinkFit& link : *links) {
      std::vector<std::string> row{link.name, std::to_string(link.tables.size())};
      for (const BandError& band : link.errors) {
        row.push_back(band.points == 0 ? "" : percent_text(band.median));
      }
      table.add(std::move(row));
    }
  }
  return table.markdown();
}

std::string held_out_table(const char* what, const std::vector<HeldOut>& held_out) {
  Table table(
      with_bands({{what, Align::left}, {"link", Align::left}, {"known from", Align::left}}));
  for (const HeldOut& each : held_out) {
    std::vector<std::string> row{each.what, each.link, each.known ? "others" : "its class"};
    for (std::vector<double> errors : each.log_errors) {
      for (double& error : errors) {
        error = std::expm1(error);
      }
      row.push_back(errors.empty() ? "" : percent_text(median_magnitude(std::move(errors))));
    }
    table.add(std::move(row));
  }
  return table.markdown();
}

// By the bands of the targets, to 64 KiB, to 256 MiB and beyond: all errors alike, or every member
// that was held out.
std::vector<std::string> median_cells(const std::vector<HeldOut>& held_out, bool known,
                                      bool members_alike) {
  std::vector<std::string> cells;
  for (std::size_t band = 0; band < size_band_count; ++band) {
    std::vector<double> errors;
    for (const HeldOut& each : held_out) {
      std::vector<double> own;
      for (const double error : each.by_size_band.at(band)) {
        own.push_back(std::expm1(error));
      }
      if (own.empty() || (known && !each.known)) {
        continue;
      }
      if (members_alike) {
        own = {median_magnitude(std::move(own))};
      }
      errors.insert(errors.end(), own.begin(), own.end());
    }
    cells.push_back(errors.empty() ? "" : percent_text(median_magnitude(std::move(errors))));
  }
  return cells;
}

std::string summary_table(const NetworkFit& fit) {
  Table table({{"held out", Align::left},
               {"of", Align::left},
               {"counted", Align::left},
               {"to 64 KiB", Align::right},
               {"to 256 MiB", Align::right},
               {"beyond", Align::right}});
  for (const auto& [what, held_out] :
       {std::pair{"machines", &fit.systems_held_out}, std::pair{"scales", &fit.scales_held_out},
        std::pair{"all but all-reduces", &fit.families_held_out}}) {
    for (const bool known : {false, true}) {
      for (const bool alike : {false, true}) {
        std::vector<std::string> row{what, known ? "links that others have" : "all links",
                                     alike ? "each alike" : "by rows"};
        const std::vector<std::string> cells = median_cells(*held_out, known, alike);
        row.insert(row.end(), cells.begin(), cells.end());
        table.add(std::move(row));
      }
    }
  }
  return table.markdown();
}

void add_coverage(const char* what, const std::vector<HeldOut>& held_out,
                  const HeldOutFilter& counts, Table& table) {
  std::vector<std::string> row{what};
  for (const HeldOutCoverage& band : coverage_where(held_out, counts)) {
    row.push_back(band.rows == 0 ? "" : percent_text(band.share));
  }
  table.add(std::move(row));
}

// Spreads of all but one, on that one.
std::string coverage_table(const NetworkFit& fit) {
  Table table(with_bands({{"held out", Align::left}}));
  const auto of = [](Side side, bool known) {
    return [side, known](const HeldOut& each) { return each.side == side && each.known == known; };
  };
  add_coverage("machines, fabrics that others have", fit.systems_held_out, of(Side::fabric, true),
               table);
  add_coverage("machines, networks that others have", fit.systems_held_out, of(Side::network, true),
               table);
  add_coverage("fabrics, whole", fit.links_held_out, of(Side::fabric, false), table);
  add_coverage("networks, whole", fit.links_held_out, of(Side::network, false), table);
  add_coverage("scales of networks", fit.scales_held_out, of(Side::network, true), table);
  add_coverage(
      "all but all-reduces", fit.families_held_out, [](const HeldOut& each) { return each.known; },
      table);
  return table.markdown();
}

std::string family_spread_table(const NetworkFit& fit) {
  Table table(with_bands({{"besides", Align::left}}));
  const auto add = [&](std::string what, const BandSpreads& spreads) {
    std::vector<std::string> row{std::move(what)};
    for (const HeldOutSpread& spread : spreads) {
      row.push_back(spread.systems == 0 ? "" : percent_text(spread.log_sd));
    }
    table.add(std::move(row));
  };
  for (const CollectiveFamily family :
       {CollectiveFamily::gathers, CollectiveFamily::rooted, CollectiveFamily::exchanges}) {
    add(std::string(family_name(family)), family_spreads(fit.families_held_out, family));
  }
  add("more ranks, fabrics", more_ranks_spreads(fit.scales_held_out, Side::fabric));
  add("more ranks, networks", more_ranks_spreads(fit.scales_held_out, Side::network));
  return table.markdown();
}

std::string spread_table(const NetworkFit& fit) {
  Table table(
      with_bands({{"class", Align::left}, {"link", Align::left}, {"held out", Align::right}}));
  for (const LinkClass link_class : link_classes) {
    const ClassSpreads of_class =
        class_spreads(fit.systems_held_out, fit.links_held_out, link_class);
    for (const auto& [known, spreads] : {std::pair{"measured elsewhere", of_class.measured},
                                         std::pair{"never measured", of_class.unmeasured}}) {
      std::string counts;
      std::vector<std::string> row{std::string(name(link_class)), known};
      std::vector<std::string> cells;
      for (const HeldOutSpread& spread : spreads) {
        counts += (counts.empty() ? "" : ", ") + std::to_string(spread.systems);
        cells.push_back(spread.systems == 0 ? "" : percent_text(spread.log_sd));
      }
      row.push_back(std::move(counts));
      row.insert(row.end(), cells.begin(), cells.end());
      table.add(std::move(row));
    }
  }
  return table.markdown();
}

}  // namespace

std::string network_fit_text(const NetworkFit& fit) {
  return "Median errors of the fit\n\n" + fit_table(fit) +
         "\nMedian errors on machines, each held out of the fit\n\n" +
         held_out_table("machine", fit.systems_held_out) +
         "\nMedian errors on scales, each held out of the fit\n\n" +
         held_out_table("scale", fit.scales_held_out) +
         "\nMedian errors on collectives that no table of the fit has, all-reduces alone being "
         "left\n\n" +
         held_out_table("family", fit.families_held_out) +
         "\nMedian errors on what was held out\n\n" + summary_table(fit) +
         "\nSpread that follows, one standard deviation; held out: by size\n\n" +
         spread_table(fit) + "\nSpread of what a link's own tables do not have\n\n" +
         family_spread_table(fit) +
         "\nErrors held out that an interval of 90 % covers, its spread from the others alone\n\n" +
         coverage_table(fit);
}

}  // namespace payoff
