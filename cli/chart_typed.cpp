// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_typed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/chart_braille.hpp"
#include "cli/chart_span.hpp"
#include "cli/chart_style.hpp"
#include "cli/chart_text.hpp"
#include "cli/table.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

// Without the blanks behind lines, the empty lines around the picture, and the form feed with which
// gnuplot 5.4 begins it, `nofeed` or not.
std::string trimmed(std::string drawing) {
  std::erase(drawing, '\f');
  std::string result;
  std::string empty;
  for (std::size_t at = 0; at < drawing.size();) {
    const std::size_t end = std::min(drawing.find('\n', at), drawing.size());
    std::string_view line = std::string_view(drawing).substr(at, end - at);
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    if (line.empty()) {
      empty += '\n';
    } else {
      result += (result.empty() ? "" : empty) + std::string(line) + "\n";
      empty.clear();
    }
    at = end + 1;
  }
  return result;
}

// The signs of a picture that its legend names.
struct LegendSigns {
  std::string_view base = "-";
  std::string_view rival = "=";
  std::string_view limit = "|";
  std::string_view between = " - ";  // of a label and its remark
};

std::string legend(const Chart& chart, const TypedForm& form) {
  const LegendSigns signs =
      form.unicode ? LegendSigns{base_sign, rival_sign, limit_sign, " · "} : LegendSigns{};
  std::string text;
  const auto add = [&](std::string_view sign, const std::string& entry) {
    text += wrapped(fmt::format("{} {}", sign, entry), form.columns, 2);
  };
  if (!chart.base_label.empty()) {
    add(signs.base, with_remark(chart.base_label, chart.base_remark, signs.between));
  }
  if (!chart.rival.points.empty()) {
    add(signs.rival, with_remark(chart.rival.label, chart.rival.remark, signs.between));
  }
  const std::vector<CurveStyle> styles = curve_styles(chart.curves);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const std::size_t begin = text.size();
    add(std::string(1, styles[i].letter),
        with_remark(chart.curves[i].label, chart.curves[i].remark, signs.between));
    if (form.unicode && form.color) {
      text.replace(begin, 1, painted(text.substr(begin, 1), styles[i].colour));
    }
  }
  for (const ChartLimit& limit : chart.limits) {
    add(signs.limit, limit.label);
  }
  for (const auto* lines : {&chart.captions, &chart.notes}) {
    for (const std::string& line : *lines) {
      text += wrapped(line, form.columns);
    }
  }
  if (const std::string note = cut_note(chart); !note.empty()) {
    text += wrapped(note, form.columns);
  }
  return text;
}

// What gnuplot draws between the axes.
std::string letters_picture(const Chart& chart, std::size_t columns) {
  constexpr std::size_t beside_the_axis = 14;
  Chart drawing = chart;
  drawing.x = with_room_between(chart.x, static_cast<double>(columns - beside_the_axis));
  return trimmed(drawn([&](const std::string& output) {
    return gnuplot_script(drawing, Picture::terminal, output, columns);
  }));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  std::string line;
  std::size_t used = 0;
  const auto finish = [&] {
    result += line + "\n";
    line = std::string(indent, ' ');
    used = indent;
  };
  bool empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!empty && used + 1 + count_characters(word) > columns) {
      finish();
      empty = true;
    }
    line += empty ? "" : " ";
    used += empty ? 0 : 1;
    while (used + count_characters(word) > columns) {
      const std::string_view start = first_characters(word, columns - used);
      line += start;
      word.remove_prefix(start.size());
      finish();
    }
    line += word;
    used += count_characters(word);
    empty = false;
  }
  return result + line + "\n";
}

std::string typed_axis(const std::vector<TypedTick>& ticks, std::size_t width,
                       const std::string& before, const TypedForm& form) {
  constexpr std::size_t between = 2;
  const TypedTick& first = ticks.front();
  const TypedTick& last = ticks.back();
  const bool crowded = first.column + first.label.size() + between + last.label.size() > width;
  std::vector<bool> is_tick(width);
  std::string labels(width, ' ');
  const std::size_t begin_of_last = crowded ? 0 : last.column + 1 - last.label.size();
  std::size_t free_from = 0;
  for (const TypedTick& tick : ticks) {
    const bool is_last = &tick == &last;
    const std::size_t at = is_last ? begin_of_last : tick.column;
    const bool has_room =
        is_last || (at >= free_from && at + tick.label.size() + between <= begin_of_last);
    if (!crowded && has_room) {
      is_tick[tick.column] = true;
      labels.replace(at, tick.label.size(), tick.label);
      free_from = at + tick.label.size() + between;
    }
  }
  const BoxSigns signs = box_signs(form);
  std::string line(signs.corner);
  for (const bool tick : is_tick) {
    line += tick ? signs.tick : signs.horizontal;
  }
  labels = crowded ? first.label + " to " + last.label : labels;
  labels.resize(labels.find_last_not_of(' ') + 1);
  return before + line + "\n" + before + " " + labels + "\n";
}

std::string typed(const Chart& chart, const TypedForm& form) {
  Chart drawn = chart;
  for (ChartCurve& curve : drawn.curves) {
    curve.band.clear();  // it is not drawn, and would take room on the axis
  }
  const std::size_t columns = form.columns;
  const std::size_t label = count_characters(drawn.x_label);
  return wrapped(drawn.title, columns) + wrapped(drawn.y_label, columns) +
         (form.unicode ? braille_picture(drawn, form) : letters_picture(drawn, columns)) +
         wrapped(std::string(label < columns ? (columns - label) / 2 : 0, ' ') + drawn.x_label,
                 columns) +
         legend(drawn, form);
}

}  // namespace payoff
