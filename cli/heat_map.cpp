// SPDX-License-Identifier: Apache-2.0
#include "cli/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "cli/chart_text.hpp"
#include "cli/chart_typed.hpp"
#include "cli/colour_scale.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

// A page of this width has room for so many of a caption's letters beside the colour scale.
constexpr std::size_t map_caption_columns = 96;

std::vector<std::string> map_captions(const HeatMap& map) {
  std::vector<std::string> all = map.captions;
  all.insert(all.end(), map.picture_captions.begin(), map.picture_captions.end());
  if (!map.gap_label.empty()) {
    all.push_back("Grey: " + map.gap_label + ".");
  }
  return in_lines(all, map_caption_columns);
}

std::string terminal(Picture picture) {
  switch (picture) {
    case Picture::png:
      return "pngcairo size 1400,1080 font 'Sans,18' linewidth 1.6 background '#ffffff'";
    case Picture::pdf:
      return "pdfcairo size 17.5cm,13.5cm font 'Sans,10' linewidth 1.2";
    default:
      return "svg size 1050,810 font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced";
  }
}

// A cell reaches half-way to its neighbours, those at the rim to themselves.
std::vector<double> rims(const std::vector<double>& values) {
  std::vector<double> result{values.front()};
  for (std::size_t i = 1; i < values.size(); ++i) {
    result.push_back(std::sqrt(values[i - 1] * values[i]));
  }
  result.push_back(values.back());
  return result;
}

std::string cell_data(const HeatMap& map) {
  const std::vector<double> x = rims(map.xs);
  const std::vector<double> y = rims(map.ys);
  std::string cells;
  std::string crosses;
  for (std::size_t row = 0; row < map.ys.size(); ++row) {
    for (std::size_t column = 0; column < map.xs.size(); ++column) {
      const std::optional<HeatCell>& cell = map.cells[row * map.xs.size() + column];
      if (!cell) {
        continue;
      }
      cells += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g}\n", map.xs[column],
                           map.ys[row], x[column], x[column + 1], y[row], y[row + 1], cell->value);
      if (cell->marked) {
        crosses += fmt::format("{:.6g} {:.6g}\n", map.xs[column], map.ys[row]);
      }
    }
  }
  std::string text = "$cells << EOD\n" + cells + "EOD\n";
  return crosses.empty() ? text : text + "$crosses << EOD\n" + crosses + "EOD\n";
}

std::string line_data(const HeatMap& map) {
  std::string text;
  for (std::size_t i = 0; i < map.lines.size(); ++i) {
    if (map.lines[i].paths.empty()) {
      continue;
    }
    text += fmt::format("$line{} << EOD\n", i);
    for (const std::vector<ChartPoint>& path : map.lines[i].paths) {
      for (const ChartPoint& point : path) {
        text += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
      }
      text += "\n";
    }
    text += "EOD\n";
  }
  return text;
}

ChartAxis colour_axis(const HeatMap& map) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const std::optional<HeatCell>& cell : map.cells) {
    if (cell) {
      low = std::min(low, cell->value);
      high = std::max(high, cell->value);
    }
  }
  return value_axis(low, high);
}

bool has_marks(const HeatMap& map) {
  return std::any_of(map.cells.begin(), map.cells.end(),
                     [](const auto& cell) { return cell && cell->marked; });
}

// Behind the lines wider white ones: they are seen on every colour. All of these first, for where
// two lines lie on one another.
std::string line_items(const HeatMap& map, Picture picture) {
  std::string text;
  for (std::size_t i = 0; i < map.lines.size(); ++i) {
    if (!map.lines[i].paths.empty()) {
      text +=
          fmt::format(", \\\n  $line{} using 1:2 with lines lc rgb '#ffffff' lw 5.5 notitle", i);
    }
  }
  for (std::size_t i = 0; i < map.lines.size(); ++i) {
    const HeatLine& line = map.lines[i];
    const std::string dash = line.dashed ? "(10,5)" : "1";
    if (!line.paths.empty()) {
      text += fmt::format(
          ", \\\n  $line{} using 1:2 with lines lc rgb '#000000' dt {} lw 2.6 notitle", i, dash);
    }
    text += fmt::format(", \\\n  keyentry with lines lc rgb '#000000' dt {} lw 2.6 title {}", dash,
                        plain(line.label, picture));
  }
  if (has_marks(map)) {
    text +=
        ", \\\n  $crosses using 1:2 with points pt 2 ps 1.0 lw 2.6 lc rgb '#ffffff' notitle"
        ", \\\n  $crosses using 1:2 with points pt 2 ps 0.9 lw 1.0 lc rgb '#000000' title " +
        plain(map.mark_label, picture);
  }
  return text;
}

std::string colour_commands(const HeatMap& map, Picture picture) {
  const ChartAxis axis = colour_axis(map);
  std::string text = palette_command();
  text += fmt::format("set cbrange [{:.6g}:{:.6g}]\n", axis.low, axis.high);
  text += axis.logarithmic ? "set logscale cb 2\n" : "";
  text += "set cbtics (";
  for (const double tick : axis.ticks) {
    text += fmt::format("{}'{}' {:.10g}", tick == axis.ticks.front() ? "" : ", ", tick_text(tick),
                        tick);
  }
  return text + ")\nset cblabel " + plain(map.value_label, picture) + " offset 1.2,0\n";
}

// Of two lines at most: the more of them lie below, the darker.
std::string shade_of(std::size_t line, const HeatMap& map, const TypedForm& form) {
  constexpr std::array<std::string_view, 2> shades = {"▒", "█"};
  return form.unicode && line < shades.size() ? std::string(shades[line])
                                              : std::string(1, map.lines[line].letter);
}

std::string_view cross(const TypedForm& form) { return form.unicode ? "×" : "x"; }

std::string sign_of(const HeatMap& map, const std::optional<HeatCell>& cell,
                    const TypedForm& form) {
  if (!cell) {
    return " ";
  }
  if (cell->marked) {
    return std::string(cross(form));
  }
  return cell->above == 0 ? form.unicode ? "·" : "." : shade_of(cell->above - 1, map, form);
}

// Without fractions from 100 on, and never in powers of ten.
std::string coordinate(double value) {
  constexpr double whole = 100.0;
  return value < whole ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

// At most so many of them, evenly, the first and the last among them.
std::vector<std::size_t> chosen(std::size_t count, std::size_t most) {
  const std::size_t shown = std::min(count, most);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < shown; ++i) {
    result.push_back(shown < 2 ? 0 : (i * (count - 1) + (shown - 1) / 2) / (shown - 1));
  }
  return result;
}

// A tick now and then; as many as tell where a column is.
std::vector<TypedTick> ticks_of(const HeatMap& map, const std::vector<std::size_t>& across) {
  constexpr std::size_t between = 10;
  std::vector<TypedTick> ticks;
  for (std::size_t i = 0; i < across.size(); ++i) {
    if (i % between == 0 || i + 1 == across.size()) {
      ticks.push_back({i, coordinate(map.xs[across[i]])});
    }
  }
  return ticks;
}

}  // namespace

std::string gnuplot_script(const HeatMap& map, Picture picture, const std::string& output) {
  std::string text = "set encoding utf8\nset terminal " + terminal(picture) + "\n";
  text += output.empty() ? "" : "set output " + gnuplot_string(output) + "\n";
  text += title_command(map.title, map_captions(map), picture);
  text += "set xlabel " + plain(map.x_label, picture) + " offset 0,0.3\n";
  text += "set ylabel " + plain(map.y_label, picture) + "\n";
  text += axis_commands('x', map.x) + axis_commands('y', map.y);
  text += colour_commands(map, picture);
  text +=
      "set border 3\nset tics out\nset key below vertical maxrows 3 Left reverse samplen 3 height "
      "1.5 height "
      "1.5\n";
  text +=
      "set object rectangle from graph 0, graph 0 to graph 1, graph 1 behind fc rgb '#e4e4e4' "
      "fs solid noborder\n";
  text += cell_data(map) + line_data(map);
  return text +
         "plot $cells using 1:2:3:4:5:6:7 with boxxyerror lc palette lw 0.4 fs solid 1.0 border "
         "notitle" +
         line_items(map, picture) + "\n";
}

std::string typed(const HeatMap& map, const TypedForm& form) {
  const std::size_t columns = form.columns;
  std::size_t width = 0;
  for (const double y : map.ys) {
    width = std::max(width, coordinate(y).size());
  }
  const std::size_t most_rows = std::clamp<std::size_t>(columns * 2 / 5, 20, 45);
  const std::vector<std::size_t> across = chosen(map.xs.size(), columns - width - 2);
  const std::vector<std::size_t> up = chosen(map.ys.size(), most_rows);
  std::string text = wrapped(map.title, columns) + wrapped(map.y_label, columns);
  for (std::size_t row = up.size(); row-- > 0;) {
    text += fmt::format("{:>{}} {}", coordinate(map.ys[up[row]]), width, box_signs(form).vertical);
    for (const std::size_t column : across) {
      text += sign_of(map, map.cells[up[row] * map.xs.size() + column], form);
    }
    text += "\n";
  }
  const std::string before(width, ' ');
  text += typed_axis(ticks_of(map, across), across.size(), before + " ", form);
  text += wrapped(before + "  " + map.x_label, columns);
  if (across.size() < map.xs.size() || up.size() < map.ys.size()) {
    text += wrapped(fmt::format("{} of {} columns and {} of {} rows are shown.", across.size(),
                                map.xs.size(), up.size(), map.ys.size()),
                    columns);
  }
  for (std::size_t i = 0; i < map.lines.size(); ++i) {
    text += wrapped(fmt::format("{}: {}", shade_of(i, map, form), map.lines[i].above), columns, 3);
  }
  if (has_marks(map)) {
    text += wrapped(fmt::format("{}: {}", cross(form), map.mark_label), columns, 3);
  }
  if (!map.gap_label.empty()) {
    text += wrapped("blank: " + map.gap_label, columns, 3);
  }
  for (const std::string& caption : map.captions) {
    text += wrapped(caption, columns);
  }
  return text;
}

}  // namespace payoff
