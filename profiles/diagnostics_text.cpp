// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/diagnostics.hpp"

namespace payoff {
namespace {

constexpr std::size_t tab_width = 4;
constexpr std::size_t least_excerpt = 40;

// One character as it appears on a terminal.
struct Cell {
  std::string glyph;
  std::size_t width = 1;
  std::size_t offset = 0;  // of its first byte in the line
};

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Coarse blocks of the Unicode East Asian Width property: enough to keep carets in place.
constexpr CodeRange wide_ranges[] = {
    {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
};
constexpr CodeRange zero_ranges[] = {
    {0x0300, 0x036f}, {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x2069}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
};

char32_t decode(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(character[i]));
  };
  if (character.size() == 1) {
    return byte(0);
  }
  char32_t code = byte(0) & (0x7fU >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) {
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  return code;
}

template <std::size_t N>
bool in_any(char32_t code, const CodeRange (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

// What would move the cursor, change colours or reverse the reading direction is shown as "?".
Cell cell_of(std::string_view character, std::size_t offset) {
  const char32_t code = decode(character);
  if (character == "\t") {
    return {std::string(tab_width, ' '), tab_width, offset};
  }
  const bool stray = character.size() == 1 && code >= 0x80;
  const bool steering = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || stray || steering) {
    return {"?", 1, offset};
  }
  const std::size_t width = in_any(code, zero_ranges) ? 0 : in_any(code, wide_ranges) ? 2 : 1;
  return {std::string(character), width, offset};
}

std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> cells;
  for (std::size_t offset = 0; offset < line.size();) {
    const std::size_t length = character_length(line.substr(offset));
    cells.push_back(cell_of(line.substr(offset, length), offset));
    offset += length;
  }
  return cells;
}

std::string printable(std::string_view text) {
  std::string result;
  for (const Cell& cell : cells_of(text)) {
    result += cell.glyph;
  }
  return result;
}

// A source line cut to the terminal, and the caret's place under it.
struct Excerpt {
  std::string text;
  std::size_t caret_column = 0;  // from 0, in columns of the terminal
  std::size_t caret_width = 1;
};

// The columns before each cell, and after the last one.
std::vector<std::size_t> columns_of(const std::vector<Cell>& cells) {
  std::vector<std::size_t> columns{0};
  for (const Cell& cell : cells) {
    columns.push_back(columns.back() + cell.width);
  }
  return columns;
}

// The part of a line that can matter for what is shown; lines may be a megabyte long.
struct Neighbourhood {
  std::string_view text;
  std::size_t begin = 0;  // in the line
  bool cut_before = false;
  bool cut_after = false;
};

Neighbourhood neighbourhood(const Location& location, std::size_t room) {
  const std::string_view line = location.line_text;
  const std::size_t reach = 8 * room;  // bytes: characters have up to four, and some no width
  std::size_t begin = location.line_offset > reach ? location.line_offset - reach : 0;
  while (begin < location.line_offset && (static_cast<unsigned char>(line[begin]) >> 6U) == 2U) {
    ++begin;  // not into the middle of a character
  }
  const std::size_t end = std::min(line.size(), location.line_offset + reach);
  return {line.substr(begin, end - begin), begin, begin > 0, end < line.size()};
}

constexpr std::string_view dots = "...";

// The cells that are shown: from `first` up to `last`, without it.
struct ShownCells {
  std::size_t first = 0;
  std::size_t last = 0;
};

// Of cells whose columns these are: all, or as many around the caret as fit between dots.
ShownCells shown_cells(const std::vector<std::size_t>& column, std::size_t caret,
                       const Neighbourhood& near, std::size_t room) {
  ShownCells shown{0, column.size() - 1};
  const std::size_t all = shown.last;
  if (column[all] <= room && !near.cut_before && !near.cut_after) {
    return shown;
  }
  const std::size_t inner = room - 2 * dots.size();
  // A third of the room before the caret, when the line goes on that far after it.
  while (shown.first < caret && column[caret] - column[shown.first] > inner / 3 &&
         (near.cut_after || column[all] - column[shown.first] > inner)) {
    ++shown.first;
  }
  while (shown.last > shown.first && column[shown.last] - column[shown.first] > inner) {
    --shown.last;
  }
  return shown;
}

Excerpt excerpt(const Location& location, std::size_t room) {
  const Neighbourhood near = neighbourhood(location, room);
  const std::vector<Cell> cells = cells_of(near.text);
  const std::vector<std::size_t> column = columns_of(cells);
  const auto cell_at = [&](std::size_t offset) {
    const auto found =
        std::lower_bound(cells.begin(), cells.end(), offset - near.begin,
                         [](const Cell& cell, std::size_t wanted) { return cell.offset < wanted; });
    return static_cast<std::size_t>(found - cells.begin());
  };
  const std::size_t caret = cell_at(location.line_offset);
  const std::size_t caret_end = cell_at(location.line_offset + location.line_length);
  const auto [first, last] = shown_cells(column, caret, near, room);
  Excerpt result;
  const bool dots_before = first > 0 || near.cut_before;
  result.text = dots_before ? std::string(dots) : std::string();
  for (std::size_t i = first; i < last; ++i) {
    result.text += cells[i].glyph;
  }
  if (last < cells.size() || near.cut_after) {
    result.text += dots;
  }
  const std::size_t caret_shown = std::min(caret, last);
  const std::size_t end_shown = std::clamp(caret_end, caret_shown, last);
  result.caret_column = (dots_before ? dots.size() : 0) + column[caret_shown] - column[first];
  result.caret_width = std::max<std::size_t>(1, column[end_shown] - column[caret_shown]);
  return result;
}

class TextRenderer {
 public:
  TextRenderer(const SourceMap& sources, const RenderOptions& options)
      : sources_(sources), options_(options) {}

  std::string run(const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.sorted()) {
      add(diagnostic);
    }
    add_summary(diagnostics);
    return std::move(out_);
  }

 private:
  static constexpr std::string_view red = "\x1b[1;31m";
  static constexpr std::string_view yellow = "\x1b[1;33m";
  static constexpr std::string_view blue = "\x1b[1;34m";
  static constexpr std::string_view bold = "\x1b[1m";

  [[nodiscard]] std::string paint(std::string_view color, std::string_view text) const {
    return options_.color ? std::string(color) + std::string(text) + "\x1b[0m" : std::string(text);
  }

  void add(const Diagnostic& diagnostic) {
    const bool error = diagnostic.severity == Severity::error;
    const std::string_view color = error ? red : yellow;
    out_ += paint(color, error ? "error" : "warning") +
            paint(bold, ": " + printable(diagnostic.message)) + "\n";
    std::size_t gutter = 1;
    if (diagnostic.span && sources_.is_argument(*diagnostic.span)) {
      add_argument(*diagnostic.span, diagnostic.label, color);
    } else if (diagnostic.span) {
      gutter = add_line(*diagnostic.span, diagnostic.label, color);
    }
    const std::string indent(gutter + 1, ' ');
    for (const std::string& note : diagnostic.notes) {
      out_ += indent + paint(blue, "= ") + paint(bold, "note") + ": " + printable(note) + "\n";
    }
    if (!diagnostic.help.empty()) {
      out_ += indent + paint(blue, "= ") + paint(bold, "help") + ": " + printable(diagnostic.help) +
              "\n";
    }
    out_ += "\n";
  }

  [[nodiscard]] std::string caret(const Excerpt& shown, std::string_view label,
                                  std::string_view color) const {
    std::string mark(shown.caret_width, '^');
    if (!label.empty()) {
      mark += " " + printable(label);
    }
    return paint(color, mark);
  }

  // Returns the width of the column of line numbers.
  std::size_t add_line(Span span, std::string_view label, std::string_view color) {
    const Location location = sources_.locate(span);
    const std::string number = std::to_string(location.line);
    const std::string blank(number.size(), ' ');
    const std::size_t taken = number.size() + 3;
    const Excerpt shown = excerpt(
        location, std::max(least_excerpt, options_.width > taken ? options_.width - taken : 0));
    out_ += paint(blue, " --> ") + printable(location.name) + ":" + number + ":" +
            std::to_string(location.column) + "\n";
    out_ += paint(blue, blank + " |") + "\n";
    out_ += paint(blue, number + " |");
    out_ += shown.text.empty() ? "\n" : " " + shown.text + "\n";
    out_ += paint(blue, blank + " |") + " " + std::string(shown.caret_column, ' ') +
            caret(shown, label, color) + "\n";
    return number.size();
  }

  // An argument fits one line: it is printed once, with the caret below.
  void add_argument(Span span, std::string_view label, std::string_view color) {
    const Location location = sources_.locate(span);
    const std::string place = location.name + ": ";
    const std::size_t taken = 5 + place.size();
    const Excerpt shown = excerpt(
        location, std::max(least_excerpt, options_.width > taken ? options_.width - taken : 0));
    out_ += paint(blue, " --> ") + place + shown.text + "\n";
    out_ += paint(blue, "  |") + std::string(taken - 3 + shown.caret_column, ' ') +
            caret(shown, label, color) + "\n";
  }

  static std::string counted(std::size_t number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
  }

  void add_summary(const Diagnostics& diagnostics) {
    const std::size_t errors = diagnostics.count(Severity::error);
    const std::size_t warnings = diagnostics.count(Severity::warning);
    if (errors == 0) {
      return;
    }
    const std::size_t hidden = errors + warnings - diagnostics.sorted().size();
    if (hidden > 0) {
      out_ += "... and " + std::to_string(hidden) + " more\n\n";
    }
    out_ += counted(errors, "error");
    if (warnings > 0) {
      out_ += ", " + counted(warnings, "warning");
    }
    out_.append("; ").append(options_.outcome) += '\n';
  }

  const SourceMap& sources_;
  RenderOptions options_;
  std::string out_;
};

}  // namespace

std::string render_text(const Diagnostics& diagnostics, const SourceMap& sources,
                        const RenderOptions& options) {
  return TextRenderer(sources, options).run(diagnostics);
}

}  // namespace payoff
