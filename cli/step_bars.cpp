// SPDX-License-Identifier: Apache-2.0
#include "cli/step_bars.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "cli/chart_style.hpp"
#include "cli/chart_text.hpp"
#include "cli/chart_typed.hpp"
#include "cli/table.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

constexpr double thickness = 0.36;  // half of a bar, of the distance of two

// Shares of the width of a picture: a letter where letters are widest beside it (PNG), one of a
// remark, the space around labels and remarks, the most that labels get, and where the axis ends.
constexpr double letter_share = 0.0103;
constexpr double remark_letter_share = 0.0075;
constexpr double most_label_share = 0.35;
constexpr double label_gap_share = 0.025;
constexpr double remark_gap_share = 0.015;
constexpr double end_of_axis = 0.98;
constexpr auto most_label_letters =
    static_cast<std::size_t>((most_label_share - label_gap_share) / letter_share);

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

// A part of a label without a place to break it, in pieces that have room.
std::vector<std::string> with_room(std::string_view part) {
  std::vector<std::string> pieces;
  while (!part.empty()) {
    pieces.emplace_back(first_characters(part, most_label_letters));
    part.remove_prefix(pieces.back().size());
  }
  return pieces;
}

// A label in lines that have room, broken behind `:` and `,` where it can be.
std::vector<std::string> lines_of(const std::string& label) {
  std::vector<std::string> lines{""};
  for (std::size_t start = 0; start < label.size();) {
    const std::size_t end = std::min(label.find_first_of(":,", start), label.size() - 1) + 1;
    for (const std::string& piece : with_room(label.substr(start, end - start))) {
      if (count_characters(lines.back()) + count_characters(piece) > most_label_letters &&
          !lines.back().empty()) {
        lines.emplace_back();
      }
      lines.back() += piece;
    }
    start = end;
  }
  return lines;
}

struct Room {
  std::size_t lines{1};  // of the tallest label
  double labels{};       // of the width, as are the others
  double remarks{};
  std::size_t legend_rows{};  // in two columns, which have room whatever the parts

  explicit Room(const StepBars& steps) : legend_rows((steps.parts.size() + 1) / 2) {
    std::size_t letters = 0;
    for (const StepBar& bar : steps.bars) {
      const std::vector<std::string> label = lines_of(bar.label);
      lines = std::max(lines, label.size());
      for (const std::string& line : label) {
        letters = std::max(letters, count_characters(line));
      }
    }
    labels = label_gap_share + letter_share * static_cast<double>(letters);
    remarks = remark_gap_share +
              remark_letter_share *
                  static_cast<double>(widest(steps, [](const StepBar& bar) { return bar.remark; }));
  }
  [[nodiscard]] double axis() const { return end_of_axis - labels; }
};

std::string terminal(const StepBars& steps, const Room& room, Picture picture) {
  const std::size_t bars = steps.bars.size();
  const std::size_t rows = room.legend_rows;
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         270 + std::max<std::size_t>(58, 30 * room.lines) * bars + 34 * rows);
    case Picture::pdf:
      return fmt::format(
          "pdfcairo size 17.5cm,{:.4g}cm font 'Sans,10' linewidth 1.2",
          3.4 + std::max(0.73, 0.32 * static_cast<double>(room.lines)) * static_cast<double>(bars) +
              0.42 * static_cast<double>(rows));
    default:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          200 + std::max<std::size_t>(44, 25 * room.lines) * bars + 26 * rows);
  }
}

std::string tick_label_in_lines(const std::string& text, Picture picture) {
  std::string label;
  for (const std::string& line : lines_of(text)) {
    label += (label.empty() ? "" : ".\"\\n\".") + tick_label(line, picture);
  }
  return label;
}

// The margins are given, not gnuplot's: it makes room for long labels by moving title and legend,
// which it centres on the axis, beyond the edge.
std::string axes(const StepBars& steps, const Room& room, double unit, Picture picture) {
  std::string tics;
  std::string remarks;
  for (std::size_t i = 0; i < steps.bars.size(); ++i) {
    const StepBar& bar = steps.bars[i];
    const std::size_t height = steps.bars.size() - i;
    tics +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", tick_label_in_lines(bar.label, picture), height);
    remarks += fmt::format("set label {} at {:.6g},{} left offset 0.7,0 font ',13'\n",
                           plain(bar.remark, picture), length_of(bar) / unit, height);
  }
  const double bars = std::max(room.axis() - room.remarks, 0.2 * room.axis());
  return fmt::format(
             "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset bmargin {:.4g}\n"
             "set xrange [0:{:.6g}]\nset yrange [0.4:{:.6g}]\nset ytics nomirror scale 0 ({})\n"
             "set xtics nomirror\nset xlabel {} offset 0,0.4\n",
             room.labels, end_of_axis, 4.0 + 1.1 * static_cast<double>(room.legend_rows),
             room.axis() / bars * longest(steps) / unit,
             static_cast<double>(steps.bars.size()) + 0.6, tics,
             plain(unit < 1.0 ? "time of a step [ms]" : "time of a step [s]", picture)) +
         remarks;
}

// Centred on the picture.
std::string title(const StepBars& steps, const Room& room, Picture picture) {
  std::string text = title_command(steps.title, steps.captions, picture);
  text.pop_back();
  return text + fmt::format(" offset screen {:.4f},0\n", 0.5 - (room.labels + end_of_axis) / 2.0);
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

std::string in_colour(const StepPart& part, const std::string& text, const TypedForm& form) {
  return form.color && !text.empty() ? painted(text, part.colour) : text;
}

// A letter for `each` so many seconds.
std::string typed_bar(const StepBars& steps, const StepBar& bar, double each,
                      const TypedForm& form) {
  std::string text;
  double end = 0.0;
  for (std::size_t part = 0; part < steps.parts.size(); ++part) {
    const std::int64_t begin = std::lround(end / each);
    end += bar.times[part];
    const auto length = static_cast<std::size_t>(std::lround(end / each) - begin);
    text += in_colour(steps.parts[part], std::string(length, steps.parts[part].letter), form);
  }
  return text;
}

}  // namespace

std::string gnuplot_script(const StepBars& steps, Picture picture, const std::string& output) {
  const double unit = longest(steps) < 1.0 ? 1e-3 : 1.0;
  const Room room(steps);
  std::string text = "set encoding utf8\nset terminal " + terminal(steps, room, picture) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title(steps, room, picture) + axes(steps, room, unit, picture) + data(steps, unit);
  text.append("set border 1\nset grid xtics ").append(grid_look);
  text += fmt::format(
      "set key at screen 0.5,screen 0.02 center bottom vertical maxrows {} Left reverse samplen "
      "1.5 "
      "font ',15'\n\nplot ",
      room.legend_rows);
  for (std::size_t part = 0; part < steps.parts.size(); ++part) {
    text += fmt::format(
        "{0}$part{1} using 1:3:1:2:($3-{2}):($3+{2}) with boxxyerror fc rgb '{3}' fs solid 1.0 "
        "border lc rgb '#ffffff' lw 0.8 title {4}",
        part == 0 ? "" : ", \\\n  ", part, thickness, steps.parts[part].colour,
        plain(steps.parts[part].label, picture));
  }
  return text + "\n";
}

std::string typed(const StepBars& steps, const TypedForm& form) {
  const std::size_t columns = form.columns;
  constexpr std::size_t shortest = 20;  // else the label stands above its bar
  const std::size_t label = widest(steps, [](const StepBar& bar) { return bar.label; });
  const std::size_t right = widest(steps, [](const StepBar& bar) { return bar.remark; });
  const bool beside = columns > label + right + shortest + 4;
  const std::size_t left = beside ? label : 0;
  const std::size_t taken = left + right + 4;
  const std::size_t room = columns > taken + shortest ? columns - taken : shortest;
  const double each = longest(steps) / static_cast<double>(room);
  std::string text = wrapped(steps.title, columns);
  for (const StepBar& bar : steps.bars) {
    text += beside ? bar.label + std::string(left - count_characters(bar.label), ' ')
                   : wrapped(bar.label, columns);
    text += fmt::format(" {}{} {}\n", box_signs(form).vertical, typed_bar(steps, bar, each, form),
                        bar.remark);
  }
  for (const StepPart& part : steps.parts) {
    text += in_colour(part, std::string(1, part.letter), form) +
            wrapped(fmt::format("{}: {}", part.letter, part.label), columns, 3).substr(1);
  }
  for (const std::string& caption : steps.captions) {
    text += wrapped(caption, columns);
  }
  return text;
}

}  // namespace payoff
