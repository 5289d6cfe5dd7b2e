// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/import/by_cause.hpp"
#include "profiles/import/csv_columns.hpp"
#include "profiles/import/foreign_parts.hpp"
#include "profiles/import/samples_rules.hpp"
#include "profiles/suggest.hpp"
#include "profiles/table_cells.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::size_t most_columns = 256;

class CsvSamplesReader {
 public:
  explicit CsvSamplesReader(const SourceMap& sources) : causes_(sources) {}

  ForeignMeasurements read(Span text, std::string_view characters, Diagnostics& diagnostics) {
    std::size_t line_number = 0;
    for (std::size_t begin = 0; begin < characters.size();) {
      const std::size_t end = std::min(characters.find('\n', begin), characters.size());
      const std::string_view line = characters.substr(begin, end - begin);
      row_ = fmt::format("row {}", ++line_number);
      read_line(line, {text.source, text.offset + begin, end - begin});
      begin = end + 1;
    }
    ForeignMeasurements result;
    result.program = "CSV";
    causes_.tell(diagnostics);
    result.points = std::move(points_).points();
    return result;
  }

 private:
  void wrong(Span place, const std::string& message, std::string label = {}) {
    ++problems_;
    const std::string cause = message + '\n' + label;
    causes_.add(cause, {Severity::error, row_ + ": " + message, place, std::move(label), {}, {}},
                row_);
  }

  void read_line(std::string_view line, Span place) {
    if (has_no_cells(line)) {
      return;
    }
    std::vector<TableCell> cells = cells_of_line(line, place);
    if (names_.empty()) {
      read_names(std::move(cells));
    } else if (cells.size() != names_.size()) {
      wrong(place, fmt::format("{} cells under {} names", cells.size(), names_.size()));
    } else if (is_sound_) {
      read_row(cells, place);
    }
  }

  void read_names(std::vector<TableCell> names) {
    const auto is_there = [&](std::string_view wanted) {
      return std::any_of(names.begin(), names.end(),
                         [&](const TableCell& cell) { return cell.text == wanted; });
    };
    const std::size_t before = problems_;
    if (names.size() > most_columns) {
      wrong(names.front().place, fmt::format("there are {} columns", names.size()),
            fmt::format("at most {}", most_columns));
      names.resize(1);
    }
    if (!is_there("kernel")) {
      lacks("kernel", "", names);
    }
    const bool has_time = check_times(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto twin =
          std::find_if(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](const TableCell& each) { return each.text == names[i].text; });
      if (names[i].text.empty() || twin != names.begin() + static_cast<std::ptrdiff_t>(i)) {
        wrong(names[i].place, names[i].text.empty()
                                  ? "a column has no name"
                                  : "the column " + backquoted(names[i].text) + " is there twice");
      } else if (const std::string_view meant = meant_amount(names[i].text, has_time);
                 !meant.empty()) {
        wrong(names[i].place, "the column " + backquoted(names[i].text) + " would be a parameter",
              did_you_mean(meant));
      }
    }
    is_sound_ = problems_ == before;
    names_ = std::move(names);
  }

  // One row is one sample, in one unit. Whether there is a time.
  bool check_times(const std::vector<TableCell>& names) {
    const TableCell* first = nullptr;
    for (const TableCell& name : names) {
      if (time_column(name.text) == nullptr) {
        continue;
      }
      if (first != nullptr && first->text != name.text) {
        wrong(name.place,
              backquoted(name.text) + " and " + backquoted(first->text) + " are two times of a row",
              "one of them");
      }
      first = first == nullptr ? &name : first;
    }
    if (first == nullptr) {
      lacks("time_us", "or time_ns, time_ms, time_s", names);
    }
    return first != nullptr;
  }

  // At the name that is nearest, where one is near.
  void lacks(std::string_view column, std::string_view label, const std::vector<TableCell>& names) {
    std::vector<std::string_view> texts;
    texts.reserve(names.size());
    for (const TableCell& each : names) {
      texts.push_back(each.text);
    }
    const std::string_view nearest = closest(column, texts);
    const auto found = std::find_if(texts.begin(), texts.end(), [&](std::string_view each) {
      return nearest.empty() ? !each.empty() && column.starts_with(each) : each == nearest;
    });
    const bool is_near = found != texts.end();
    wrong(is_near ? names[static_cast<std::size_t>(found - texts.begin())].place
                  : names.front().place,
          fmt::format("no column `{}`", column),
          is_near ? did_you_mean(column) : std::string(label));
  }

  double number(const TableCell& cell, std::string_view column, double smallest,
                double largest = std::numeric_limits<double>::max()) {
    const Parsed<double> parsed = parse_number(cell.text);
    if (!parsed) {
      wrong(cell.place, fmt::format("{} is not a number", backquoted(column)));
    } else if (*parsed < smallest || *parsed > largest) {
      wrong(cell.place, fmt::format("{} cannot be {}", backquoted(column), cell.text),
            *parsed < smallest ? fmt::format("at least {}", smallest)
                               : fmt::format("at most {}", largest));
    } else {
      return *parsed;
    }
    return std::max(smallest, 0.0);
  }

  double width(const TableCell& cell) {
    const double bytes = number(cell, "bytes", 0.0);
    if (bytes > widest_element) {
      wrong(
          cell.place,
          fmt::format("`bytes` is the width of an element, and cannot be {}", cell.text),
          fmt::format("at most {:g}; traffic is `read_bytes` and `written_bytes`", widest_element));
    }
    return bytes;
  }

  void read_row(const std::vector<TableCell>& cells, Span place) {
    SamplesPoint point = plain_point(place);
    has_width_ = tells_width(cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      read_cell(names_[i].text, cells[i], point);
    }
    points_.add(std::move(point));
  }

  // Whether `bytes` of the row is the width of an element, as in samples files, and no traffic.
  [[nodiscard]] bool tells_width(const std::vector<TableCell>& cells) const {
    bool is_product = false;
    bool is_narrow = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (names_[i].text == "read_bytes" || names_[i].text == "written_bytes") {
        return true;
      }
      is_product = is_product || (!cells[i].text.empty() && tells_product(names_[i].text));
      if (names_[i].text == "bytes") {
        const Parsed<double> bytes = parse_number(cells[i].text);
        is_narrow = bytes && *bytes <= widest_element;
      }
    }
    return is_product && is_narrow;
  }

  void read_cell(std::string_view column, const TableCell& cell, SamplesPoint& point) {
    if (column == "kernel") {
      point.kernel = kernel_name(cell.text);
      if (point.kernel != cell.text || cell.text.empty()) {
        wrong(cell.place, "the name of a kernel is of a-z, 0-9 and _",
              point.kernel.empty() ? "" : "did you mean " + backquoted(point.kernel) + "?");
      }
    } else if (const auto* time = time_column(column)) {
      point.samples.push_back(time->unit * number(cell, column, shortest_sample / time->unit,
                                                  longest_sample / time->unit));
    } else if (cell.text.empty()) {
      return;  // not stated
    } else if (!read_choice(column, cell, point)) {
      read_amount(column, cell, point);
    }
  }

  bool read_choice(std::string_view column, const TableCell& cell, SamplesPoint& point) {
    const ChoiceColumn* choice = choice_column(column);
    if (choice == nullptr) {
      return false;
    }
    const auto& values = choice->values;
    if (!values.empty() && std::find(values.begin(), values.end(), cell.text) == values.end()) {
      wrong(cell.place, fmt::format("{} cannot be {}", backquoted(column), backquoted(cell.text)),
            nearest_of(cell.text, values));
    }
    point.*choice->field = cell.text;
    return true;
  }

  void read_amount(std::string_view column, const TableCell& cell, SamplesPoint& point) {
    if (column == "bytes" && has_width_) {
      point.parameters[std::string(column)] = width(cell);
    } else if (column == "bytes" || column == "read_bytes") {
      point.read += Bytes{number(cell, column, 0.0, most_traffic)};
    } else if (column == "written_bytes") {
      point.written = Bytes{number(cell, column, 0.0, most_traffic)};
    } else if (column == "flops") {
      point.flops = Flops{number(cell, column, 0.0, most_flops)};
    } else if (column == "random_accesses") {
      point.random_accesses = number(cell, column, 0.0, most_traffic);
    } else if (column == "launches") {
      point.launches = number(cell, column, 0.0, most_count);
    } else if (column == "host_syncs") {
      point.host_syncs = number(cell, column, 0.0, most_count);
    } else {
      point.parameters[std::string(column)] = number(cell, column, least_parameter(column));
    }
  }

  ByCause causes_;
  std::size_t problems_{};
  std::vector<TableCell> names_;
  bool is_sound_ = false;   // the names
  bool has_width_ = false;  // the row, in `bytes`
  std::string row_;
  PointCollector points_;
};

}  // namespace

ForeignMeasurements read_csv_samples(Span text, const SourceMap& sources,
                                     Diagnostics& diagnostics) {
  return CsvSamplesReader(sources).read(text, sources.text(text), diagnostics);
}

}  // namespace payoff::import_detail
