// SPDX-License-Identifier: Apache-2.0
#include "cli/chart_typed.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/chart_style.hpp"
#include "cli/chart_text.hpp"
#include "profiles/source_map.hpp"

namespace payoff {
namespace {

bool goes_on(char c) {
  constexpr unsigned mask = 0xc0;
  constexpr unsigned within_character = 0x80;
  return (static_cast<unsigned char>(c) & mask) == within_character;
}

// So many characters, however many bytes they take.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (at < text.size() && characters > 0) {
    ++at;
    while (at < text.size() && goes_on(text[at])) {
      ++at;
    }
    --characters;
  }
  return at;
}

// No label of the axis touches the next, and the ends keep theirs.
ChartAxis with_room_between(const ChartAxis& axis, std::size_t columns) {
  constexpr double beside_the_axis = 14.0;
  const double width = static_cast<double>(columns) - beside_the_axis;
  const auto label = [&](std::size_t i) {
    return axis.labels.empty() ? tick_text(axis.ticks[i] / axis.unit) : axis.labels[i];
  };
  const auto half = [&](std::size_t i) {
    return static_cast<double>(count_characters(label(i))) / 2.0;
  };
  const auto place = [&](std::size_t i) {
    const double tick = axis.ticks[i];
    return width * (axis.logarithmic ? std::log(tick / axis.low) / std::log(axis.high / axis.low)
                                     : (tick - axis.low) / (axis.high - axis.low));
  };
  ChartAxis result = axis;
  result.ticks.clear();
  result.labels.clear();
  const std::size_t last = axis.ticks.size() - 1;  // wraps where there is none: no round
  double end = -width;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const bool clear = place(i) - half(i) > end + 1.0;
    const bool before_last = place(i) + half(i) + 1.0 < place(last) - half(last);
    if (i == 0 || i == last || (clear && before_last)) {
      result.ticks.push_back(axis.ticks[i]);
      result.labels.push_back(label(i));
      end = place(i) + half(i);
    }
  }
  return result;
}

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

std::string legend(const Chart& chart, std::size_t columns) {
  std::string text;
  const auto add = [&](char letter, const std::string& label, const std::string& remark) {
    text += wrapped(fmt::format("{} {}", letter, with_remark(label, remark)), columns, 2);
  };
  if (!chart.base_label.empty()) {
    add('-', chart.base_label, chart.base_remark);
  }
  if (!chart.rival.points.empty()) {
    add('=', chart.rival.label, chart.rival.remark);
  }
  const std::vector<CurveStyle> styles = curve_styles(chart.curves);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    add(styles[i].letter, chart.curves[i].label, chart.curves[i].remark);
  }
  for (const ChartLimit& limit : chart.limits) {
    add('|', limit.label, "");
  }
  for (const std::string& note : chart.notes) {
    text += wrapped(note, columns);
  }
  return text;
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
      const std::size_t cut = bytes_of(word, columns - used);
      line += word.substr(0, cut);
      word.remove_prefix(cut);
      finish();
    }
    line += word;
    used += count_characters(word);
    empty = false;
  }
  return result + line + "\n";
}

std::string typed_axis(const std::vector<TypedTick>& ticks, std::size_t width,
                       const std::string& before_line, const std::string& before_labels) {
  constexpr std::size_t between = 2;
  const TypedTick& first = ticks.front();
  const TypedTick& last = ticks.back();
  std::string line(width, '-');
  if (first.column + first.label.size() + between + last.label.size() > width) {
    return before_line + line + "\n" + before_labels + first.label + " to " + last.label + "\n";
  }
  std::string labels(width, ' ');
  const std::size_t begin_of_last = last.column + 1 - last.label.size();
  std::size_t free_from = 0;
  for (const TypedTick& tick : ticks) {
    const bool is_last = &tick == &last;
    const std::size_t at = is_last ? begin_of_last : tick.column;
    if (!is_last && (at < free_from || at + tick.label.size() + between > begin_of_last)) {
      continue;
    }
    line[tick.column] = '+';
    labels.replace(at, tick.label.size(), tick.label);
    free_from = at + tick.label.size() + between;
  }
  labels.resize(labels.find_last_not_of(' ') + 1);
  return before_line + line + "\n" + before_labels + labels + "\n";
}

std::string typed(const Chart& chart, std::size_t columns) {
  Chart drawing = chart;
  drawing.x = with_room_between(chart.x, columns);
  const std::string picture = drawn([&](const std::string& output) {
    return gnuplot_script(drawing, Picture::terminal, output, columns);
  });
  const std::size_t label = count_characters(chart.x_label);
  return wrapped(chart.title, columns) + wrapped(chart.y_label, columns) + trimmed(picture) +
         wrapped(std::string(label < columns ? (columns - label) / 2 : 0, ' ') + chart.x_label,
                 columns) +
         legend(chart, columns);
}

}  // namespace payoff
