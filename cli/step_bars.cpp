// SPDX-License-Identifier: Apache-2.0
#include "cli/step_bars.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "cli/chart_text.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

constexpr double thickness = 0.36;  // half of a bar, of the distance of two

double length_of(const StepBar& bar) {
  return std::accumulate(bar.times.begin(), bar.times.end(), 0.0);
}

double longest(const StepBars& steps) {
  double most = 0.0;
  for (const StepBar& bar : steps.bars) {
    most = std::max(most, length_of(bar));
  }
  return most;
}

// Room for labels to the left and remarks to the right, in letters.
template <typename Text>
std::size_t widest(const StepBars& steps, Text text) {
  std::size_t most = 0;
  for (const StepBar& bar : steps.bars) {
    most = std::max(most, count_characters(text(bar)));
  }
  return most;
}

std::string terminal(const StepBars& steps, Picture picture) {
  const std::size_t bars = steps.bars.size();
  const std::size_t rows = (steps.parts.size() + 2) / 3;
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         270 + 58 * bars + 34 * rows);
    case Picture::pdf:
      return fmt::format("pdfcairo size 17.5cm,{:.4g}cm font 'Sans,10' linewidth 1.2",
                         3.4 + 0.73 * static_cast<double>(bars) + 0.42 * static_cast<double>(rows));
    default:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          200 + 44 * bars + 26 * rows);
  }
}

std::string axes(const StepBars& steps, double unit, Picture picture) {
  std::string tics;
  std::string remarks;
  for (std::size_t i = 0; i < steps.bars.size(); ++i) {
    const StepBar& bar = steps.bars[i];
    const std::size_t height = steps.bars.size() - i;
    std::string label = plain(bar.label, picture);
    for (std::size_t at = label.find('%'); at != std::string::npos; at = label.find('%', at + 2)) {
      label.insert(at, "%");  // gnuplot takes labels of ticks for formats of numbers
    }
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", label, height);
    remarks += fmt::format("set label {} at {:.6g},{} left offset 0.7,0 font ',13'\n",
                           plain(bar.remark, picture), length_of(bar) / unit, height);
  }
  // The picture is about a hundred letters wide.
  const double right = 1.02 + 0.0125 * static_cast<double>(widest(
                                           steps, [](const StepBar& bar) { return bar.remark; }));
  return fmt::format(
             "set xrange [0:{:.6g}]\nset yrange [0.4:{:.6g}]\nset ytics nomirror scale 0 ({})\n"
             "set xtics nomirror\nset xlabel {} offset 0,0.4\n",
             right * longest(steps) / unit, static_cast<double>(steps.bars.size()) + 0.6, tics,
             plain(unit < 1.0 ? "time of a step [ms]" : "time of a step [s]", picture)) +
         remarks;
}

// Of every part the bars that have it: from, to, height.
std::string data(const StepBars& steps, double unit) {
  std::string text;
  for (std::size_t part = 0; part < steps.parts.size(); ++part) {
    text += "\n" + gnuplot_comment(steps.parts[part].label);
    text += fmt::format("$part{} << EOD\n", part);
    for (std::size_t i = 0; i < steps.bars.size(); ++i) {
      const std::vector<double>& times = steps.bars[i].times;
      const double from =
          std::accumulate(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(part), 0.0);
      text += fmt::format("{:.6g} {:.6g} {}\n", from / unit, (from + times[part]) / unit,
                          steps.bars.size() - i);
    }
    text += "EOD\n";
  }
  return text;
}

}  // namespace

std::string gnuplot_script(const StepBars& steps, Picture picture, const std::string& output) {
  const double unit = longest(steps) < 1.0 ? 1e-3 : 1.0;
  std::string text = "set encoding utf8\nset terminal " + terminal(steps, picture) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title_command(steps.title, steps.captions, picture) + axes(steps, unit, picture) +
          data(steps, unit);
  text += fmt::format(
      "set border 1\nset grid xtics lc rgb '#dddddd' lw 0.6\n"
      "set key below horizontal maxcols 3 Left reverse samplen 1.5 height 1.5 font ',15'\n\nplot ");
  for (std::size_t part = 0; part < steps.parts.size(); ++part) {
    text += fmt::format(
        "{0}$part{1} using 1:3:1:2:($3-{2}):($3+{2}) with boxxyerror fc rgb '{3}' fs solid 1.0 "
        "border lc rgb '#ffffff' lw 0.8 title {4}",
        part == 0 ? "" : ", \\\n  ", part, thickness, steps.parts[part].colour,
        plain(steps.parts[part].label, picture));
  }
  return text + "\n";
}

std::string typed(const StepBars& steps, std::size_t columns) {
  const std::size_t left = widest(steps, [](const StepBar& bar) { return bar.label; });
  const std::size_t right = widest(steps, [](const StepBar& bar) { return bar.remark; });
  const std::size_t room = columns > left + right + 24 ? columns - left - right - 4 : 20;
  const double each = longest(steps) / static_cast<double>(room);
  std::string text = steps.title + "\n";
  for (const StepBar& bar : steps.bars) {
    text += bar.label + std::string(left - count_characters(bar.label), ' ') + " |";
    double end = 0.0;
    std::size_t typed_so_far = 0;
    for (std::size_t part = 0; part < steps.parts.size(); ++part) {
      end += bar.times[part];
      const auto until = static_cast<std::size_t>(std::lround(end / each));
      text += std::string(until - typed_so_far, steps.parts[part].letter);
      typed_so_far = until;
    }
    text += " " + bar.remark + "\n";
  }
  for (const StepPart& part : steps.parts) {
    text += fmt::format("{}: {}\n", part.letter, part.label);
  }
  return text;
}

}  // namespace payoff
