// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_layer_times.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/units_text.hpp"
#include "profiles/document.hpp"
#include "profiles/experiment_keys.hpp"
#include "profiles/suggest.hpp"
#include "profiles/table_cells.hpp"

namespace payoff {
namespace {

struct SizeColumn {
  std::string_view name;
  int LayerTime::*field;
};
constexpr std::array<SizeColumn, 5> size_columns{{{"micro_batch", &LayerTime::micro_batch},
                                                  {"tp", &LayerTime::tp},
                                                  {"cp", &LayerTime::cp},
                                                  {"ep", &LayerTime::ep},
                                                  {"etp", &LayerTime::etp}}};

struct TimeColumn {
  std::string_view name;
  Seconds LayerTime::*field;
};
constexpr std::array<TimeColumn, 2> time_columns{
    {{"forward_", &LayerTime::forward}, {"backward_", &LayerTime::backward}}};

constexpr std::array<std::pair<std::string_view, Seconds>, 4> units{
    {{"ns", 1_ns}, {"us", 1_us}, {"ms", 1_ms}, {"s", 1_s}}};

constexpr Seconds shortest_layer = 1_ns;
constexpr Seconds longest_layer = 3600_s;

// A column of times and its unit; null: it is none.
struct TimeOfColumn {
  const TimeColumn* column{};
  Seconds unit{};
};
TimeOfColumn time_of(std::string_view name) {
  for (const TimeColumn& column : time_columns) {
    for (const auto& [unit, time] : units) {
      if (name.starts_with(column.name) && name.substr(column.name.size()) == unit) {
        return {&column, time};
      }
    }
  }
  return {};
}

constexpr std::size_t most_columns = 64;

class LayerTimesReader {
 public:
  LayerTimesReader(const Workload& model, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    bool has_blocks = false;
    for (const Layer& layer : model.layers) {
      names_.push_back(layer.name);
      // Those of an encoder and of its decoder are not alike.
      has_blocks = has_blocks || layer.name.starts_with("block ");
    }
    if (has_blocks) {
      names_.emplace_back(every_block);
    }
  }

  LayerTimes read(Span place, std::string_view text) {
    if (text.starts_with(byte_order_mark)) {
      text.remove_prefix(byte_order_mark.size());
      place.offset += byte_order_mark.size();
    }
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      read_line(text.substr(begin, end - begin), {place.source, place.offset + begin, end - begin});
      begin = end + 1;
    }
    if (columns_.empty()) {
      diagnostics_.error(Span{place.source, place.offset, 0}, "the table is empty", "",
                         "its first line is `layer,micro_batch,forward_ms,backward_ms`");
    } else if (is_sound_ && times_.empty()) {
      diagnostics_.error(columns_.front().place, "the table has no layer");
    }
    return std::move(times_);
  }

 private:
  void read_line(std::string_view line, Span place) {
    if (has_no_cells(line)) {
      return;
    }
    std::vector<TableCell> cells = cells_of_line(line, place);
    if (columns_.empty()) {
      read_names(std::move(cells));
    } else if (cells.size() != columns_.size()) {
      diagnostics_.error(place, std::to_string(cells.size()) + " cells under " +
                                    std::to_string(columns_.size()) + " names");
    } else if (is_sound_) {
      read_row(cells);
    }
  }

  void read_names(std::vector<TableCell> cells) {
    const std::size_t before = diagnostics_.error_count();
    columns_ = std::move(cells);
    if (columns_.size() > most_columns) {
      diagnostics_.error(columns_.front().place,
                         "there are " + std::to_string(columns_.size()) + " columns",
                         "at most " + std::to_string(most_columns));
      return;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      read_name(i);
    }
    for (const std::string_view needed : {"layer", "micro_batch"}) {
      require(std::any_of(columns_.begin(), columns_.end(),
                          [&](const TableCell& column) { return column.text == needed; }),
              std::string(needed));
    }
    for (const TimeColumn& needed : time_columns) {
      require(std::any_of(
                  columns_.begin(), columns_.end(),
                  [&](const TableCell& column) { return time_of(column.text).column == &needed; }),
              std::string(needed.name) + "ms");
    }
    is_sound_ = diagnostics_.error_count() == before;
  }

  void require(bool there, const std::string& column) const {
    if (!there) {
      diagnostics_.error(
          columns_.front().place, "no column " + backquoted(column), "",
          column.ends_with("_ms") ? "times end in their unit: _ns, _us, _ms or _s" : "");
    }
  }

  void read_name(std::size_t i) const {
    const TableCell& cell = columns_[i];
    const auto* const size =
        std::find_if(size_columns.begin(), size_columns.end(),
                     [&](const SizeColumn& column) { return column.name == cell.text; });
    const TimeOfColumn time = time_of(cell.text);
    if (cell.text != "layer" && size == size_columns.end() && time.column == nullptr) {
      const std::vector<std::string> known{"layer", "micro_batch", "tp",         "cp",
                                           "ep",    "etp",         "forward_ms", "backward_ms"};
      diagnostics_.error(
          cell.place, "the column " + backquoted(cell.text) + " is not known",
          did_you_mean(closest(cell.text, known)),
          "columns: layer, micro_batch, forward_UNIT, backward_UNIT, tp, cp, ep, etp; "
          "UNIT is ns, us, ms or s");
    }
    for (std::size_t other = 0; other < i; ++other) {
      const bool same =
          columns_[other].text == cell.text ||
          (time.column != nullptr && time_of(columns_[other].text).column == time.column);
      if (same) {
        diagnostics_.error(cell.place, "the column " + backquoted(cell.text) + " is there twice");
      }
    }
  }

  void read_row(const std::vector<TableCell>& cells) {
    LayerTime time;
    Span place{};
    const std::size_t before = diagnostics_.error_count();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view name = columns_[i].text;
      const TimeOfColumn of = time_of(name);
      if (name == "layer") {
        place = cells[i].place;
        time.layer = layer_name(cells[i]);
      } else if (of.column != nullptr) {
        time.*of.column->field = duration(name, cells[i], of.unit);
      } else {
        const auto* const size =
            std::find_if(size_columns.begin(), size_columns.end(),
                         [&](const SizeColumn& column) { return column.name == name; });
        time.*size->field = count(name, cells[i]);
      }
    }
    if (diagnostics_.error_count() == before) {
      add(std::move(time), place);
    }
  }

  // Two times of one layer at equal sizes: neither is believed.
  void add(LayerTime time, Span place) {
    if (!seen_.emplace(time.layer, time.micro_batch, time.tp, time.cp, time.ep, time.etp).second) {
      diagnostics_.error(place, "a second time of " + backquoted(time.layer) + " at equal sizes");
    }
    times_.push_back(std::move(time));
  }

  std::string layer_name(const TableCell& cell) const {
    if (std::find(names_.begin(), names_.end(), cell.text) == names_.end()) {
      diagnostics_.error(cell.place, "the model has no layer " + backquoted(cell.text),
                         did_you_mean(closest(cell.text, names_)));
    }
    return std::string(cell.text);
  }

  Seconds duration(std::string_view column, const TableCell& cell, Seconds unit) const {
    const Parsed<double> parsed = parse_number(cell.text);
    if (!parsed) {
      diagnostics_.error(cell.place, backquoted(column) + " is not a number");
    } else if (*parsed * unit < shortest_layer || *parsed * unit > longest_layer) {
      diagnostics_.error(cell.place, backquoted(column) + " cannot be " + std::string(cell.text),
                         "from 1 ns to 1 h");
    } else {
      return *parsed * unit;
    }
    return shortest_layer;
  }

  int count(std::string_view column, const TableCell& cell) const {
    const Parsed<std::int64_t> parsed = parse_integer(cell.text, {1, most_ranks});
    if (!parsed) {
      diagnostics_.error(
          cell.place, backquoted(column) + " is no count from 1 to " + std::to_string(most_ranks));
    }
    return static_cast<int>(parsed.value.value_or(1));
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> names_;  // of layers
  std::vector<TableCell> columns_;
  bool is_sound_ = false;  // the names of columns
  LayerTimes times_;
  std::set<std::tuple<std::string, int, int, int, int, int>> seen_;  // layers at sizes
};

}  // namespace

std::optional<LayerTimes> parse_layer_times(Span text, const Workload& model,
                                            const SourceMap& sources, Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  LayerTimes times = LayerTimesReader(model, diagnostics).read(text, sources.text(text));
  return diagnostics.error_count() > errors ? std::nullopt : std::optional(std::move(times));
}

}  // namespace payoff
