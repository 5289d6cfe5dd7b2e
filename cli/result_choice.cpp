// SPDX-License-Identifier: Apache-2.0
#include "cli/result_choice.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_values.hpp"
#include "model/units_text.hpp"

namespace payoff {
namespace {

// Of what may be chosen: job and reason tell results apart, and say nothing of them.
std::vector<std::string> column_names(const SweepResults& results) {
  std::vector<std::string> names;
  for (const ResultColumn& column : results.columns) {
    if (column.name != "job" && column.name != "reason") {
      names.push_back(column.name);
    }
  }
  return names;
}

// A value of --where, as the column has its numbers.
Parsed<double> number_of(std::string_view column, std::string_view text) {
  const auto si = [](const auto& parsed) {
    return parsed ? Parsed<double>::success(parsed->si) : Parsed<double>::failure(parsed.error);
  };
  const std::string_view unit = unit_suffix(column);
  return unit == "_bytes_per_second" ? si(parse_quantity<Bandwidth>(text))
         : unit == "_bytes"          ? si(parse_quantity<Bytes>(text))
         : unit == "_seconds"        ? si(parse_quantity<Seconds>(text))
                                     : parse_number(text);
}

class ResultChoiceReader {
 public:
  ResultChoiceReader(const SweepResults& results, Session& session)
      : results_(results), session_(session) {}

  void read(const Argument& given) {
    const std::size_t equals = given.text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      session_.diagnostics().error(given.span,
                                   fmt::format("{} is no choice", backquoted(given.text)), {},
                                   "COLUMN=VALUE, for example `--where nodes=8`");
      return;
    }
    Argument name{given.text.substr(0, equals), given.index, given.span};
    name.span.length = equals;
    if (const auto column = named_column(results_, name, session_)) {
      read_value(*column, given, equals + 1);
    }
  }

  [[nodiscard]] std::vector<bool> kept() const {
    std::vector<bool> all(results_.rows, true);
    for (const auto& [column, rows] : kept_) {
      for (std::size_t row = 0; row < results_.rows; ++row) {
        all[row] = all[row] && (rows.empty() || rows[row]);
      }
    }
    return all;
  }

 private:
  void read_value(std::size_t column, const Argument& given, std::size_t offset) {
    const ResultColumn& of = results_.columns[column];
    const std::string text = given.text.substr(offset);
    double number = 0.0;
    if (!of.is_text()) {
      const Parsed<double> parsed = number_of(of.name, text);
      if (!parsed) {
        TextError error = parsed.error;
        error.offset += offset;
        report_text_error(where_option.name, given, error, session_);
        return;
      }
      number = *parsed;
    }
    std::vector<bool>& kept = kept_[column];
    kept.resize(results_.rows);
    bool found = false;
    constexpr double rounding = 1e-9;
    for (std::size_t row = 0; row < results_.rows; ++row) {
      const bool same = of.is_text()
                            ? of.texts[row] == text
                            : std::abs(of.numbers[row] - number) <= rounding * std::abs(number);
      kept[row] = kept[row] || same;
      found = found || same;
    }
    if (!found) {
      Span span = given.span;
      span.offset += offset;
      span.length -= offset;
      session_.diagnostics().error(
          span, fmt::format("no result has {} {}", backquoted(of.name), backquoted(text)),
          did_you_mean(closest(text, values_of(column))),
          fmt::format("values: {}", listed(values_of(column))));
    }
  }

  std::vector<std::string> values_of(std::size_t column) const {
    std::vector<std::string> values;
    std::set<std::string> seen;
    for (std::size_t row = 0; row < results_.rows; ++row) {
      std::string text = results_.value_text(column, row);
      if (seen.insert(text).second) {
        values.push_back(std::move(text));
      }
    }
    return values;
  }

  static std::string listed(std::vector<std::string> values) {
    constexpr std::size_t most_listed = 12;
    const std::size_t all = values.size();
    if (all > most_listed) {
      values.resize(most_listed);
    }
    return fmt::format("{}{}", fmt::join(values, ", "),
                       all > most_listed ? fmt::format(" and {} more", all - most_listed) : "");
  }

  const SweepResults& results_;
  Session& session_;
  std::map<std::size_t, std::vector<bool>> kept_;  // of each column that is asked about
};

}  // namespace

std::optional<std::size_t> named_column(const SweepResults& results, const Argument& word,
                                        Session& session) {
  const auto found = find_column(results, word.text);
  if (!found) {
    report_unknown_name("a column of these results", word, column_names(results), session);
  }
  return found;
}

std::vector<bool> read_choices(const SweepResults& results, const Arguments& arguments,
                               Session& session) {
  ResultChoiceReader reader(results, session);
  for (const Argument& given : arguments.values(where_option.name)) {
    reader.read(given);
  }
  return reader.kept();
}

}  // namespace payoff
