// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/chart_span.hpp"
#include "cli/chart_typed.hpp"
#include "cli/typed_form.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

std::size_t longest_legend(const Chart& chart) {
  std::size_t longest = 0;
  for (const ChartCurve& curve : chart.curves) {
    const std::size_t between = curve.remark.empty() ? 0 : 3;
    longest =
        std::max(longest, count_characters(curve.label) + between + count_characters(curve.remark));
  }
  return longest;
}

// Half the width of a picture holds a sample and so many letters.
std::size_t legend_columns(const Chart& chart) {
  constexpr std::size_t widest = 54;
  return longest_legend(chart) <= widest ? 2 : 1;
}

// A line below the title has room for so many letters.
constexpr std::size_t caption_columns = 110;

std::vector<std::string> captions(const Chart& chart) {
  std::vector<std::string> lines = chart.captions;
  lines.insert(lines.end(), chart.picture_captions.begin(), chart.picture_captions.end());
  if (const std::string note = ribbon_note(chart); !note.empty()) {
    lines.push_back(note);
  }
  lines.insert(lines.end(), chart.notes.begin(), chart.notes.end());
  if (const std::string note = cut_note(chart); !note.empty()) {
    lines.push_back(note);
  }
  return in_lines(lines, caption_columns);
}

bool is_control(char c) {
  constexpr unsigned char first_printed = 0x20;
  constexpr unsigned char del = 0x7f;
  const auto code = static_cast<unsigned char>(c);
  return code < first_printed || code == del;
}

// gnuplot's enhanced text takes these for markup; a terminal of characters takes none.
std::string without_markup(std::string_view text, Picture picture) {
  std::string result;
  for (const char c : text) {
    if (picture != Picture::terminal &&
        std::string_view("_^{}@&\\~").find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result;
}

}  // namespace

// Between single quotes gnuplot runs nothing and knows no escapes; only the end of a line is left
// that could end a text early.
std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += is_control(c) ? std::string(" ") : c == '\'' ? std::string("''") : std::string(1, c);
  }
  return result + "'";
}

// A comment ends with its line, unless a backslash is the last of it.
std::string gnuplot_comment(std::string_view text) {
  std::string result = "# ";
  for (const char c : text) {
    result += is_control(c) || c == '`' || c == '\\' ? ' ' : c;
  }
  return result + "\n";
}

std::string tick_label(std::string_view text, Picture picture) {
  std::string label;
  for (const char c : plain(text, picture)) {
    label += c == '%' ? std::string("%%") : std::string(1, c);
  }
  return label;
}

std::string plain(std::string_view text, Picture picture) {
  return gnuplot_string(without_markup(text, picture));
}

std::string terminal(const Chart& chart, Picture picture, std::size_t columns) {
  const bool tall = legend_columns(chart) == 1;
  switch (picture) {
    case Picture::png:
      return fmt::format("pngcairo size 1400,{} font 'Sans,18' linewidth 1.6 background '#ffffff'",
                         tall ? 1240 : 1000);
    case Picture::svg:
      return fmt::format(
          "svg size 1050,{} font 'Sans,15' linewidth 1.2 background '#ffffff' enhanced",
          tall ? 930 : 750);
    case Picture::pdf:
      return fmt::format("pdfcairo size 17.5cm,{} font 'Sans,10' linewidth 1.2",
                         tall ? "15.5cm" : "12.5cm");
    case Picture::terminal:
      return fmt::format("dumb nofeed size {},{} noenhanced", columns, typed_rows(columns));
  }
  return {};
}

std::string with_remark(const std::string& label, const std::string& remark,
                        std::string_view between) {
  return remark.empty() ? label : label + std::string(between) + remark;
}

std::string title_of(const ChartCurve& curve, Picture picture) {
  return plain(with_remark(curve.label, curve.remark), picture);
}

std::vector<std::string> in_lines(const std::vector<std::string>& captions, std::size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& caption : captions) {
    const std::string text = wrapped(caption, columns);
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      lines.push_back(text.substr(at, text.find('\n', at) - at));
    }
  }
  return lines;
}

std::string title_command(std::string_view title, const std::vector<std::string>& lines,
                          Picture picture) {
  std::string text = "set title " + plain(title, picture);
  if (picture != Picture::terminal) {
    for (const std::string& line : lines) {
      text += ".\"\\n\"." + gnuplot_string("{/*0.8 " + without_markup(line, picture) + "}");
    }
  }
  return text + "\n";
}

std::string title_command(const Chart& chart, Picture picture) {
  return title_command(chart.title, captions(chart), picture);
}

std::string axis_commands(char name, const ChartAxis& axis) {
  std::string text = fmt::format("set {}range [{:.6g}:{:.6g}]\n", name, axis.low, axis.high);
  text += axis.logarithmic ? fmt::format("set logscale {} 2\n", name) : "";
  text += fmt::format("set {}tics nomirror (", name);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    text += fmt::format("{}{} {:.10g}", i == 0 ? "" : ", ", gnuplot_string(axis_label(axis, i)),
                        axis.ticks[i]);
  }
  return text + ")\n";
}

// Two columns below the axis where they fit, else one. gnuplot takes texts for wider than they are,
// and the more so the longer they are. The extra height is room below the label of the axis.
std::string key_commands(const Chart& chart, Picture picture) {
  const std::size_t longest = longest_legend(chart);
  const std::size_t entries = chart.curves.size() + (chart.base_label.empty() ? 0 : 1) +
                              (chart.rival.points.empty() ? 0 : 1);
  const std::size_t columns = legend_columns(chart);
  const std::size_t surplus = picture == Picture::png ? longest / 7 : longest / 10;
  return fmt::format(
      "set key below vertical maxrows {} Left reverse samplen 2.6 width -{} height 1.5 font "
      "',15'\n",
      (entries + columns - 1) / columns, surplus > 2 ? surplus - 2 : 0);
}

}  // namespace payoff
