// SPDX-License-Identifier: Apache-2.0
#include "cli/result_question.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "cli/result_choice.hpp"

namespace payoff {
namespace {

class QuestionReader {
 public:
  QuestionReader(const SweepResults& results, const Arguments& arguments, Session& session)
      : results_(results), arguments_(arguments), session_(session) {}

  ResultQuestion read() {
    select_rows();
    read_axes();
    read_by();
    read_plan();
    if (!session_.diagnostics().has_errors()) {
      check_numbers(question_.x, "--x");
      check_numbers(question_.y, "--y");
    }
    return std::move(question_);
  }

 private:
  void select_rows() {
    const std::vector<bool> chosen = read_choices(results_, arguments_, session_);
    const auto status = results_.column("status");
    for (std::size_t row = 0; row < results_.rows; ++row) {
      const bool kept = chosen[row];
      const bool refused = status && results_.columns[*status].is_text() &&
                           results_.columns[*status].texts[row] == "impossible";
      if (kept && !refused) {
        question_.rows.push_back(row);
      }
      question_.refused += kept && refused ? 1U : 0U;
    }
    if (question_.rows.empty() && !session_.diagnostics().has_errors()) {
      session_.diagnostics().error(
          std::nullopt, "there is nothing to draw", {},
          question_.refused > 0 ? "no result that is left has a prediction: `reason` says why"
                                : "no result has all values that `--where` asks for");
    }
  }

  [[nodiscard]] bool varies(std::size_t column) const {
    return std::any_of(question_.rows.begin(), question_.rows.end(), [&](std::size_t row) {
      const ResultColumn& of = results_.columns[column];
      const std::size_t first = question_.rows.front();
      return of.is_text() ? of.texts[row] != of.texts[first] : of.numbers[row] != of.numbers[first];
    });
  }

  // GPUs where their number varies, else the first axis with numbers that do.
  std::size_t usual_x() const {
    if (const auto gpus = results_.column("gpus"); gpus && varies(*gpus)) {
      return *gpus;
    }
    for (const ResultAxis& axis : results_.axes) {
      if (!results_.columns[axis.column].is_text() && varies(axis.column)) {
        return axis.column;
      }
    }
    return results_.axes.empty() ? 0 : results_.axes.front().column;
  }

  [[nodiscard]] bool is_axis(std::size_t column) const {
    return results_.columns[column].name == "gpus" ||
           std::any_of(results_.axes.begin(), results_.axes.end(),
                       [column](const ResultAxis& axis) { return axis.column == column; });
  }

  void read_axes() {
    if (results_.columns.empty()) {
      return;
    }
    const auto x = arguments_.value("--x");
    const auto y = arguments_.value("--y");
    question_.place = span_of(x);
    question_.y_place = span_of(y);
    question_.x = x ? named_column(results_, *x, session_).value_or(0) : usual_x();
    question_.y = y ? named_column(results_, *y, session_).value_or(0)
                    : results_.column("speedup").value_or(0);
    question_.is_map = y && is_axis(question_.y);
    if (y && question_.is_map && question_.x == question_.y) {
      session_.diagnostics().error(y->span, "both axes are the same");
    }
  }

  void read_by() {
    const auto given = arguments_.value(by_option.name);
    if (given && question_.is_map) {
      session_.diagnostics().error(given->span, "a map has no curves to tell apart", {},
                                   "--plan LABEL chooses its strategy, --where the rest");
      return;
    }
    if (!given) {
      if (const auto strategy = results_.column("strategy"); strategy && !question_.is_map) {
        question_.by.push_back(*strategy);
      }
      return;
    }
    for (std::size_t start = 0; start <= given->text.size();) {
      const std::size_t comma = std::min(given->text.find(',', start), given->text.size());
      Argument word{given->text.substr(start, comma - start), given->index, given->span};
      word.span.offset += start;
      word.span.length = comma - start;
      if (const auto column = named_column(results_, word, session_)) {
        question_.by.push_back(*column);
      }
      start = comma + 1;
    }
  }

  void read_plan() {
    const auto strategy = results_.column("strategy");
    const auto given = arguments_.value("--plan");
    const bool told_apart = strategy && std::find(question_.by.begin(), question_.by.end(),
                                                  *strategy) != question_.by.end();
    if (given && told_apart) {
      session_.diagnostics().error(given->span, "every strategy has a curve", {},
                                   "`--where strategy=LABEL` leaves the others out");
      return;
    }
    if (told_apart || results_.strategies.empty()) {
      return;
    }
    question_.plan = given ? given->text : best_plan();
    if (std::find(results_.strategies.begin(), results_.strategies.end(), question_.plan) ==
        results_.strategies.end()) {
      report_unknown_name("a strategy of these results", *given, results_.strategies, session_);
    }
    std::erase_if(question_.rows, [&](std::size_t row) {
      return !strategy || results_.columns[*strategy].texts[row] != question_.plan;
    });
  }

  // The one with the greatest speedup in the geometric mean of its results.
  [[nodiscard]] std::string best_plan() const {
    const auto strategy = results_.column("strategy");
    const auto speedup = results_.column("speedup");
    std::map<std::string, std::pair<double, double>> sums;
    for (const std::size_t row : question_.rows) {
      const double value = speedup ? results_.columns[*speedup].numbers[row] : 0.0;
      if (strategy && value > 0.0) {
        auto& [sum, count] = sums[results_.columns[*strategy].texts[row]];
        sum += std::log(value);
        ++count;
      }
    }
    std::string best = results_.strategies.front();
    for (std::size_t i = 1; i < results_.strategies.size(); ++i) {
      const auto mine = sums.find(results_.strategies[i]);
      const auto its = sums.find(best);
      const bool first = best == results_.strategies.front();
      if (mine != sums.end() &&
          (first || its == sums.end() ||
           mine->second.first / mine->second.second > its->second.first / its->second.second)) {
        best = results_.strategies[i];
      }
    }
    return best;
  }

  void check_numbers(std::size_t column, std::string_view option) {
    const std::optional<Span> place = span_of(arguments_.value(option));
    const ResultColumn& of = results_.columns[column];
    const bool is_place = option == "--x" || question_.is_map;
    if (of.is_text()) {
      session_.diagnostics().error(place, fmt::format("{} has no numbers", backquoted(of.name)), {},
                                   "`--by` draws a curve for each of its values");
      return;
    }
    if (!is_place) {
      return;
    }
    std::set<double> values;
    for (const std::size_t row : question_.rows) {
      if (std::isfinite(of.numbers[row])) {
        values.insert(of.numbers[row]);
      }
    }
    if (values.size() < 2) {
      session_.diagnostics().error(place,
                                   fmt::format("all results have the same {}", backquoted(of.name)),
                                   {}, "an axis needs two values at least");
    } else if (!(*values.begin() > 0.0)) {
      session_.diagnostics().error(
          place, fmt::format("{} is not always above zero", backquoted(of.name)), {},
          "axes are logarithmic; `--by` draws a curve for each of its values");
    }
  }

  const SweepResults& results_;
  const Arguments& arguments_;
  Session& session_;
  ResultQuestion question_;
};

}  // namespace

ResultQuestion read_result_question(const SweepResults& results, const Arguments& arguments,
                                    Session& session) {
  return QuestionReader(results, arguments, session).read();
}

void report_same_place(const SweepResults& results, const ResultQuestion& question, std::size_t one,
                       std::size_t other, Session& session) {
  for (const ResultAxis& axis : results.axes) {
    const std::string mine = results.value_text(axis.column, one);
    const std::string its = results.value_text(axis.column, other);
    if (mine != its) {
      const std::string& name = results.columns[axis.column].name;
      std::string_view word = name;
      word.remove_suffix(unit_suffix(name).size());
      session.diagnostics().error(
          question.place,
          fmt::format("results with the same {} differ in {}: {} and {}",
                      backquoted(results.columns[question.x].name), backquoted(word), mine, its),
          {},
          fmt::format("`--where {0}='{1}'` chooses{2}", word, mine,
                      question.is_map || !question.plan.empty()
                          ? ""
                          : fmt::format(", `--by strategy,{}` draws a curve for each", word)));
      return;
    }
  }
  // Files that were put together by hand: line 1 is the header.
  session.diagnostics().error(
      question.place,
      fmt::format("lines {} and {} are results of the same job", one + 2, other + 2), {},
      "`payoff merge` puts the shards of a sweep together");
}

}  // namespace payoff
