// SPDX-License-Identifier: Apache-2.0
#include "cli/network_fit_text.hpp"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

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
         "\nSpread that follows, one standard deviation; held out: by size\n\n" + spread_table(fit);
}

}  // namespace payoff
