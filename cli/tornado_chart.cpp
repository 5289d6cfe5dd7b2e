// SPDX-License-Identifier: Apache-2.0
#include "cli/tornado_chart.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/chart_text.hpp"

namespace payoff {
namespace {

std::string terminal(const Tornado& tornado, Picture picture, std::size_t columns) {
  const std::size_t bars = tornado.bars.size();
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         280 + 60 * bars);
    case Picture::svg:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          210 + 45 * bars);
    case Picture::pdf:
      return fmt::format("pdfcairo size 17.5cm,{:.4g}cm font 'Sans,10' linewidth 1.2",
                         3.5 + 0.75 * static_cast<double>(bars));
    case Picture::terminal:
      return fmt::format("dumb size {},{} noenhanced", columns, 8 + 3 * bars);
  }
  return {};
}

// Room for the widest bar, and a little beside it.
std::string axes(const Tornado& tornado, Picture picture) {
  double low = tornado.centre;
  double high = tornado.centre;
  std::string tics;
  for (std::size_t i = 0; i < tornado.bars.size(); ++i) {
    const TornadoBar& bar = tornado.bars[i];
    low = std::min(low, bar.low);
    high = std::max(high, bar.high);
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", tick_label(bar.label, picture),
                        tornado.bars.size() - i);
  }
  const double room = 0.06 * std::max(high - low, 1e-3);
  return fmt::format(
      "set xrange [{:.6g}:{:.6g}]\nset yrange [0.4:{:.6g}]\nset ytics nomirror ({})\n"
      "set xtics nomirror\nset key off\nset xlabel {}\n",
      low - room, high + room, static_cast<double>(tornado.bars.size()) + 0.6, tics,
      plain(tornado.x_label, picture));
}

// Lower than the centre in one colour, higher in another; 1 is where nothing is gained.
std::string data(const Tornado& tornado) {
  std::string text = "$bars << EOD\n";
  for (std::size_t i = 0; i < tornado.bars.size(); ++i) {
    const TornadoBar& bar = tornado.bars[i];
    text += fmt::format("{:.6g} {:.6g} {:.6g} {}\n", tornado.centre, bar.low, bar.high,
                        tornado.bars.size() - i);
  }
  return text + "EOD\n";
}

}  // namespace

std::string gnuplot_script(const Tornado& tornado, Picture picture, const std::string& output,
                           std::size_t columns) {
  const bool dumb = picture == Picture::terminal;
  std::string text =
      "set encoding utf8\nset terminal " + terminal(tornado, picture, columns) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title_command(tornado.title, tornado.captions, picture) + axes(tornado, picture);
  text +=
      fmt::format("set arrow from {0:.6g}, graph 0 to {0:.6g}, graph 1 nohead\n", tornado.centre);
  text += data(tornado);
  if (dumb) {
    return text + "plot $bars using 2:4 with points pt '<', $bars using 3:4 with points pt '>'\n";
  }
  text +=
      "set border 3\nset grid xtics lc rgb '#dddddd' lw 0.6\n"
      "set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#555555' dt (6,6)\n"
      "plot $bars using 1:4:2:1:($4-0.32):($4+0.32) with boxxyerror fc rgb '#d55e00' fs solid 0.85 "
      "noborder, \\\n"
      "  $bars using 1:4:1:3:($4-0.32):($4+0.32) with boxxyerror fc rgb '#0072b2' fs solid 0.85 "
      "noborder\n";
  return text;
}

}  // namespace payoff
