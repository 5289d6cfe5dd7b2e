// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_results.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "cli/experiment_input.hpp"
#include "cli/flat_line.hpp"
#include "cli/sweep_lines.hpp"
#include "cli/table.hpp"
#include "model/units_text.hpp"
#include "profiles/document.hpp"

namespace payoff {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// What people call a column that is called otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> other_names{
    {{"compress", "strategy"},
     {"compressor", "strategy"},
     {"step_time", "step_seconds"},
     {"exposed", "exposed_communication_seconds"},
     {"efficiency", "efficiency_ratio"}}};

[[noreturn]] void refuse_line(std::size_t line) { throw BrokenLine(line); }

// The name of the experiment; where it has none, its model and cluster.
std::string title_of(const ResultLine& experiment) {
  std::string name = experiment.value("name", std::string());
  if (!name.empty() && name != "experiment") {  // as it is called where nobody says
    return name;
  }
  SourceMap sources;
  Diagnostics ignored;
  const auto document =
      load_yaml_text("experiment", experiment.value("yaml", std::string()), sources, ignored);
  const auto profile = [&document](const char* section) {
    const Entry* of = document ? document->root.find(section) : nullptr;
    const Entry* found = of == nullptr ? nullptr : of->value.find("profile");
    return found == nullptr ? std::string(section) : found->value.text;
  };
  return profile("model") + " on " + profile("cluster");
}

class ResultReader : private FlatLine {
 public:
  explicit ResultReader(const std::string& log) : lines_(whole_lines(log)) {}

  SweepResults read_all(const ReadingProgress& progress) {
    results_.rows = lines_.empty() ? 0 : lines_.size() - 1;
    read_header();
    for (std::size_t row = 0; row < results_.rows; ++row) {
      add(lines_[row + 1], row);
      constexpr std::size_t now_and_then = 4096;
      if (progress && row % now_and_then == 0) {
        progress(row, results_.rows);
      }
    }
    check_columns();
    add_exposed();
    add_efficiency();
    return std::move(results_);
  }

 private:
  void read_header() {
    const ResultLine header = lines_.empty() ? ResultLine() : parsed_line(lines_.front());
    const auto is = [&header](const char* key, auto is_kind) {
      return header.is_object() && header.contains(key) && (header[key].*is_kind)();
    };
    if (!is("axes", &ResultLine::is_array) || !is("strategies", &ResultLine::is_array) ||
        !is("jobs", &ResultLine::is_number_unsigned) || !is("experiment", &ResultLine::is_object)) {
      refuse_line(1);
    }
    results_.experiment = title_of(header["experiment"]);
    results_.engine = header.value("engine", std::string());
    results_.jobs = header["jobs"].get<std::uint64_t>();
    results_.shards = is("shard", &ResultLine::is_object) ? header["shard"].value("of", 1U) : 1U;
    for (const ResultLine& strategy : header["strategies"]) {
      results_.strategies.push_back(strategy.is_string() ? strategy.get<std::string>() : "");
    }
    // The columns of axes follow the number of the job.
    for (const ResultLine& axis : header["axes"]) {
      results_.axes.push_back({axis.value("key", std::string()), results_.axes.size() + 1});
    }
  }

  void add(std::string_view line, std::size_t row) {
    row_ = row;
    column_ = no_column;
    if (!read(line) || keys() < results_.axes.size() + 2) {
      refuse_line(row + 2);
    }
  }

  // What is looked up in every result: each axis has its column, and which strategy it is of and
  // whether it can be are words.
  void check_columns() const {
    const auto is_text = [this](std::string_view name) {
      const auto column = results_.column(name);
      return column && results_.columns[*column].is_text();
    };
    const bool is_whole =
        results_.columns.size() > results_.axes.size() && is_text("strategy") && is_text("status");
    if (results_.rows > 0 && !is_whole) {
      refuse_line(2);
    }
  }

  void on_key(const std::string& name) override { column_ = column_of(name, column_ + 1); }
  void on_number(double value) override { results_.columns[column_].numbers[row_] = value; }
  void on_text(std::string& value) override {
    ResultColumn& column = results_.columns[column_];
    column.texts.resize(results_.rows);
    column.texts[row_] = std::move(value);
  }

  // Lines have the same keys in the same order, nearly: it is looked for at `likely` first.
  std::size_t column_of(const std::string& key, std::size_t likely) {
    if (likely < results_.columns.size() && results_.columns[likely].name == key) {
      return likely;
    }
    const auto [place, is_new] = places_.try_emplace(key, results_.columns.size());
    if (is_new) {
      if (results_.columns.size() == most_columns) {
        refuse_line(row_ + 2);
      }
      results_.columns.push_back({key, std::vector<double>(results_.rows, no_number), {}});
    }
    return place->second;
  }

  // Of every kind of message together, which no line has.
  void add_exposed() {
    ResultColumn sum{
        "exposed_communication_seconds", std::vector<double>(results_.rows, no_number), {}};
    bool found = false;
    for (const ResultColumn& column : results_.columns) {
      if (!column.name.starts_with("exposed_") || column.is_text()) {
        continue;
      }
      for (std::size_t row = 0; row < results_.rows; ++row) {
        sum.numbers[row] = sum.numbers[row] == sum.numbers[row]
                               ? sum.numbers[row] + column.numbers[row]
                               : column.numbers[row];
      }
      found = true;
    }
    if (found) {
      results_.columns.push_back(std::move(sum));
    }
  }

  // Samples that a GPU trains in a second, over those of the uncompressed job on the fewest GPUs
  // that is otherwise the same.
  void add_efficiency() {
    const auto strategy = results_.column("strategy");
    const auto gpus = results_.column("gpus");
    const auto samples = results_.column("samples_per_second");
    if (!strategy || !gpus || !samples || results_.strategies.empty()) {
      return;
    }
    const std::vector<double>& counts = results_.columns[*gpus].numbers;
    const std::vector<double>& rates = results_.columns[*samples].numbers;
    std::vector<std::string> groups(results_.rows);
    std::unordered_map<std::string, std::size_t> bases;  // of each group its row
    for (std::size_t row = 0; row < results_.rows; ++row) {
      for (const ResultAxis& axis : results_.axes) {
        groups[row] += adds_gpus(axis.key) ? "" : results_.value_text(axis.column, row) + "\n";
      }
      const bool uncompressed =
          results_.columns[*strategy].is_text() &&
          results_.columns[*strategy].texts[row] == results_.strategies.front();
      if (uncompressed && rates[row] > 0.0) {
        const auto base = bases.try_emplace(groups[row], row).first;
        base->second = counts[row] < counts[base->second] ? row : base->second;
      }
    }
    ResultColumn share{"efficiency_ratio", std::vector<double>(results_.rows, no_number), {}};
    for (std::size_t row = 0; row < results_.rows; ++row) {
      if (const auto base = bases.find(groups[row]); base != bases.end()) {
        share.numbers[row] =
            rates[row] / counts[row] / (rates[base->second] / counts[base->second]);
      }
    }
    results_.columns.push_back(std::move(share));
  }

  // One before the first column.
  static constexpr std::size_t no_column = static_cast<std::size_t>(-1);

  std::vector<std::string_view> lines_;
  std::size_t row_{};     // that is read
  std::size_t column_{};  // of its last key
  SweepResults results_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

bool adds_gpus(std::string_view key) {
  return key == "cluster.nodes" || key == "cluster.gpus_per_node" || key == "layout.dp";
}

std::optional<std::size_t> SweepResults::column(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [name](const ResultColumn& each) { return each.name == name; });
  return found == columns.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - columns.begin()));
}

std::string SweepResults::value_text(std::size_t column, std::size_t row) const {
  const ResultColumn& from = columns[column];
  if (from.is_text()) {
    return from.texts[row];
  }
  const double number = from.numbers[row];
  const std::string_view unit = unit_suffix(from.name);
  return unit == "_bytes_per_second" ? exact_link_rate_text({number})
         : unit == "_bytes"          ? exact_text(Bytes{number})
         : unit == "_seconds"        ? exact_text(Seconds{number})
                                     : exact_number(number);
}

SweepResults sweep_results(const std::string& log, const ReadingProgress& progress) {
  return ResultReader(log).read_all(progress);
}

std::optional<std::size_t> find_column(const SweepResults& results, std::string_view word) {
  if (const auto exact = results.column(word)) {
    return exact;
  }
  const std::string_view key = key_of_option(word);
  for (const ResultAxis& axis : results.axes) {
    if (axis.key == word || (!key.empty() && axis.key == key)) {
      return axis.column;
    }
  }
  for (const auto& [other, name] : other_names) {
    if (other == word) {
      return results.column(name);
    }
  }
  for (std::size_t i = 0; i < results.columns.size(); ++i) {
    const std::string_view name = results.columns[i].name;
    const std::string_view unit = unit_suffix(name);
    if (!unit.empty() && name.substr(0, name.size() - unit.size()) == word) {
      return i;
    }
  }
  return std::nullopt;
}

std::string_view unit_suffix(std::string_view column) {
  for (const std::string_view unit : {"_bytes_per_second", "_bytes", "_seconds"}) {
    if (column.ends_with(unit) && column.size() > unit.size()) {
      return column.substr(column.size() - unit.size());
    }
  }
  return {};
}

}  // namespace payoff
