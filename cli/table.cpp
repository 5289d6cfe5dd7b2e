// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "profiles/source_map.hpp"

namespace payoff {
namespace {

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t missing = width - std::min(width, count_characters(text));
  switch (align) {
    case Align::left:
      return text + std::string(missing, ' ');
    case Align::right:
      return std::string(missing, ' ') + text;
    case Align::center:
      return std::string(missing / 2, ' ') + text + std::string(missing - missing / 2, ' ');
  }
  return text;
}

std::string rule(std::size_t width, Align align) {
  std::string dashes(width + 2, '-');
  if (align != Align::left) {
    dashes.back() = ':';
  }
  if (align == Align::center) {
    dashes.front() = ':';
  }
  return dashes;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::markdown() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = std::max<std::size_t>(count_characters(columns_[c].header), 1);
    for (const auto& row : rows_) {
      width = std::max(width, count_characters(row[c]));
    }
    widths.push_back(width);
  }
  std::string text = "|";
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    text += " " + padded(columns_[c].header, widths[c], columns_[c].align) + " |";
  }
  text += "\n|";
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    text += rule(widths[c], columns_[c].align) + "|";
  }
  text += "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      text += " " + padded(row[c], widths[c], columns_[c].align) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += &cell == &cells.front() ? "" : ",";
    if (cell.find_first_of(",\"\n\r") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) {
      line += c == '"' ? "\"\"" : std::string(1, c);
    }
    line += '"';
  }
  return line + "\n";
}

std::string exact_number(double number) { return fmt::format("{}", number); }

std::string_view first_characters(std::string_view text, std::size_t count) {
  const auto goes_on = [](char c) {
    constexpr unsigned mask = 0xc0;
    constexpr unsigned within_character = 0x80;
    return (static_cast<unsigned char>(c) & mask) == within_character;
  };
  std::size_t at = 0;
  for (; at < text.size() && count > 0; --count) {
    ++at;
    while (at < text.size() && goes_on(text[at])) {
      ++at;
    }
  }
  return text.substr(0, at);
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view cut = "...";
  return count_characters(text) <= most
             ? std::string(text)
             : std::string(first_characters(text, most - cut.size())) + std::string(cut);
}

std::string percent(double ratio) { return fixed(100.0 * ratio, 1) + " %"; }

std::string milliseconds(Seconds time) { return significant(time / 1_ms, 4); }

std::string fixed(double number, int digits) { return fmt::format("{:.{}f}", number, digits); }

std::string significant(double number, int digits) {
  if (number == 0.0 || !std::isfinite(number)) {
    return fmt::format("{}", number);
  }
  // The digits before the point of the *rounded* number: 99.96 has three of them.
  const std::string text = fmt::format("{:.{}e}", number, digits - 1);
  double rounded = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  const int before = static_cast<int>(std::floor(std::log10(std::abs(rounded)))) + 1;
  return fixed(rounded, std::max(0, digits - before));
}

std::string with_interval(double number, double low, double high, const std::string& unit) {
  const double size = std::abs(number);
  int digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  if (high <= low) {
    return fixed(number, digits) + (unit.empty() ? "" : " " + unit);
  }
  constexpr int most = 4;
  while (digits < most && high - low < 2.0 * std::pow(10.0, -digits)) {
    ++digits;
  }
  return fmt::format("{}{} ({} to {})", fixed(number, digits), unit.empty() ? "" : " " + unit,
                     fixed(low, digits), fixed(high, digits));
}

std::string with_spread(double number, double spread) {
  return fmt::format("{} ± {}", significant(number), significant(spread, 2));
}

}  // namespace payoff
