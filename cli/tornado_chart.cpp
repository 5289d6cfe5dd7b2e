// SPDX-License-Identifier: Apache-2.0
#include "cli/tornado_chart.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "cli/chart_text.hpp"
#include "cli/chart_typed.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

std::string terminal(const Tornado& tornado, Picture picture) {
  const std::size_t bars = tornado.bars.size();
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         280 + 60 * bars);
    case Picture::pdf:
      return fmt::format("pdfcairo size 17.5cm,{:.4g}cm font 'Sans,10' linewidth 1.2",
                         3.5 + 0.75 * static_cast<double>(bars));
    default:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          210 + 45 * bars);
  }
}

struct TornadoSpan {
  double low{};
  double high{};
};

// Room for the widest bar, and a little beside it.
TornadoSpan tornado_span(const Tornado& tornado) {
  TornadoSpan span{tornado.centre, tornado.centre};
  for (const TornadoBar& bar : tornado.bars) {
    span.low = std::min({span.low, bar.low, bar.high});
    span.high = std::max({span.high, bar.low, bar.high});
  }
  const double room = 0.06 * std::max(span.high - span.low, 1e-3);
  return {span.low - room, span.high + room};
}

std::string axes(const Tornado& tornado, Picture picture) {
  const TornadoSpan span = tornado_span(tornado);
  std::string tics;
  for (std::size_t i = 0; i < tornado.bars.size(); ++i) {
    const TornadoBar& bar = tornado.bars[i];
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", tick_label(bar.label, picture),
                        tornado.bars.size() - i);
  }
  return fmt::format(
      "set xrange [{:.6g}:{:.6g}]\nset yrange [0.4:{:.6g}]\nset ytics nomirror ({})\n"
      "set xtics nomirror\nset key off\nset xlabel {}\n",
      span.low, span.high, static_cast<double>(tornado.bars.size()) + 0.6, tics,
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

std::string in_boxes(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '-' ? "─" : c == '|' ? "┼" : std::string_view(&c, 1);
  }
  return result;
}

std::string typed_influence(const TornadoBar& bar, double centre, const TornadoSpan& span,
                            std::size_t width, const TypedForm& form) {
  const auto column = [&](double x) {
    const double share = (x - span.low) / (span.high - span.low);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(width - 1)));
  };
  std::string text(width, ' ');
  const std::size_t from = std::min(column(bar.low), column(bar.high));
  const std::size_t to = std::max(column(bar.low), column(bar.high));
  text.replace(from, to - from, to - from, '-');
  text[column(bar.low)] = '<';
  text[column(bar.high)] = '>';
  text[column(centre)] = '|';
  text.resize(text.find_last_not_of(' ') + 1);
  return form.unicode ? in_boxes(text) : text;
}

}  // namespace

std::string gnuplot_script(const Tornado& tornado, Picture picture, const std::string& output) {
  std::string text = "set encoding utf8\nset terminal " + terminal(tornado, picture) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title_command(tornado.title, tornado.captions, picture) + axes(tornado, picture);
  text +=
      fmt::format("set arrow from {0:.6g}, graph 0 to {0:.6g}, graph 1 nohead\n", tornado.centre);
  text += data(tornado);
  text.append("set border 3\nset grid xtics ").append(grid_look);
  text +=
      "set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#555555' dt (6,6)\n"
      "plot $bars using 1:4:2:1:($4-0.32):($4+0.32) with boxxyerror fc rgb '#d55e00' fs solid 0.85 "
      "noborder, \\\n"
      "  $bars using 1:4:1:3:($4-0.32):($4+0.32) with boxxyerror fc rgb '#0072b2' fs solid 0.85 "
      "noborder\n";
  return text;
}

std::string typed(const Tornado& tornado, const TypedForm& form) {
  const std::size_t columns = form.columns;
  constexpr std::size_t narrowest = 40;  // else the label stands above its bar
  std::size_t widest = 0;
  for (const TornadoBar& bar : tornado.bars) {
    widest = std::max(widest, count_characters(bar.label));
  }
  const bool beside = columns > widest + narrowest;
  const std::size_t left = beside ? widest + 1 : 0;
  const std::size_t width = columns - left - 1;
  const TornadoSpan span = tornado_span(tornado);
  std::string text = wrapped(tornado.title, columns);
  for (const TornadoBar& bar : tornado.bars) {
    text += beside ? std::string(widest - count_characters(bar.label), ' ') + bar.label + " "
                   : wrapped(bar.label, columns);
    text += fmt::format("{}{}\n", box_signs(form).vertical,
                        typed_influence(bar, tornado.centre, span, width, form));
  }
  const std::string before(left, ' ');
  std::vector<TypedTick> ticks;
  constexpr std::size_t count = 5;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = i * (width - 1) / (count - 1);
    const double share = static_cast<double>(column) / static_cast<double>(width - 1);
    ticks.push_back({column, fmt::format("{:.4g}", span.low + share * (span.high - span.low))});
  }
  text += typed_axis(ticks, width, before, form);
  text += wrapped(before + " " + tornado.x_label, columns);
  for (const std::string& caption : tornado.captions) {
    text += wrapped(caption, columns);
  }
  return text;
}

}  // namespace payoff
