// SPDX-License-Identifier: Apache-2.0
#include "cli/bridge_chart.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cli/chart_text.hpp"

namespace payoff {
namespace {

std::string terminal(const Bridge& bridge, Picture picture) {
  const std::size_t bars = bridge.bars.size();
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         300 + 60 * bars);
    case Picture::pdf:
      return fmt::format("pdfcairo size 17.5cm,{:.4g}cm font 'Sans,10' linewidth 1.2",
                         3.8 + 0.75 * static_cast<double>(bars));
    default:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          225 + 45 * bars);
  }
}

// Amounts in grey, what is slower in vermilion, what is faster in blue (Okabe and Ito).
std::string_view colour_of(const BridgeBar& bar) {
  return bar.is_total ? "#7f7f7f" : bar.to > bar.from ? "#d55e00" : "#0072b2";
}

}  // namespace

std::string gnuplot_script(const Bridge& bridge, Picture picture, const std::string& output) {
  constexpr double room = 1.18;  // for what stands beside the longest bar
  double high = 0.0;
  std::string tics;
  std::string labels;
  std::string bars;
  std::string links;
  const std::size_t count = bridge.bars.size();
  for (std::size_t i = 0; i < count; ++i) {
    const BridgeBar& bar = bridge.bars[i];
    const auto y = static_cast<double>(count - i);
    const double end = std::max(bar.from, bar.to);
    high = std::max(high, end);
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", tick_label(bar.label, picture), y);
    labels += fmt::format("set label {} at {:.6g}, {} left offset 0.7,0\n",
                          plain(bar.remark, picture), end, y);
    bars += fmt::format(
        "set object rectangle from {:.6g}, {} to {:.6g}, {} fc rgb '{}' fs solid "
        "0.85 noborder\n",
        bar.from, y - 0.32, bar.to, y + 0.32, colour_of(bar));
    if (i + 1 < count) {  // down to where the next one begins
      links += fmt::format(
          "set arrow from {0:.6g}, {1} to {0:.6g}, {2} nohead lc rgb '#555555' "
          "dt (3,3)\n",
          bar.to, y - 0.32, y - 0.68);
    }
  }
  std::string text = "set encoding utf8\nset terminal " + terminal(bridge, picture) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title_command(bridge.title, bridge.captions, picture);
  text += fmt::format("set xrange [0:{:.6g}]\nset yrange [0.4:{}]\nset ytics nomirror ({})\n",
                      high * room, static_cast<double>(count) + 0.6, tics);
  text += "set xtics nomirror\nset key off\nset xlabel " + plain(bridge.x_label, picture) + "\n";
  text += "set border 3\nset grid xtics ";
  text.append(grid_look) += bars + links + labels;
  return text + "plot NaN\n";
}

}  // namespace payoff
