// SPDX-License-Identifier: Apache-2.0
// Reading of formulas; evaluation is in model/expression.cpp.
#include <algorithm>
#include <array>
#include <utility>

#include "model/expression.hpp"
#include "model/expression_scanner.hpp"
#include "model/expression_stack.hpp"

namespace payoff {
namespace {

using Opcode = Expression::Operation;
using Instruction = Expression::Instruction;
using Program = std::vector<Instruction>;
using detail::quoted;

constexpr int nesting_limit = 100;

// min and max take two values or more, the others as many as their operation does.
struct Function {
  std::string_view name;
  Opcode operation;
  bool repeats{};
};

constexpr std::array<Function, 8> function_table{{{"min", Opcode::minimum, true},
                                                  {"max", Opcode::maximum, true},
                                                  {"ceil", Opcode::ceiling},
                                                  {"floor", Opcode::floor},
                                                  {"abs", Opcode::absolute},
                                                  {"log2", Opcode::log2},
                                                  {"sqrt", Opcode::square_root},
                                                  {"if", Opcode::choose}}};

constexpr auto function_names = [] {
  std::array<std::string_view, function_table.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = function_table[i].name;
  }
  return names;
}();

constexpr std::array<std::pair<std::string_view, Opcode>, 6> comparison_table{
    {{"<=", Opcode::less_equal},
     {">=", Opcode::greater_equal},
     {"==", Opcode::equal},
     {"!=", Opcode::not_equal},
     {"<", Opcode::less},
     {">", Opcode::greater}}};

// What a name may stand for.
struct Names {
  std::span<const std::string> variables;
  std::vector<std::pair<std::string_view, std::span<const Instruction>>> definitions;
};

// Recursive descent; every method leaves the code of what it read at the end of `program`.
// Far beyond any method's longest formula with its names written out.
constexpr std::size_t most_steps = 4096;

class Parser {
 public:
  Parser(std::string_view text, const Names& names) : scanner_(text), names_(names) {}

  void run() {
    if (scanner_.at_end()) {
      return;
    }
    comparison();
    if (!failed_ && !scanner_.at_end()) {
      fail("unexpected " + quoted(scanner_.next_character()));
    }
  }

  Program program;
  std::vector<Expression::Error> errors;

 private:
  void comparison() {
    sum();
    for (const auto& [symbol, operation] : comparison_table) {
      if (failed_ || !scanner_.accept(symbol)) {
        continue;
      }
      sum();
      emit(operation);
      return;
    }
  }

  void sum() {
    product();
    while (!failed_) {
      if (scanner_.accept("+")) {
        product();
        emit(Opcode::add);
      } else if (scanner_.accept("-")) {
        product();
        emit(Opcode::subtract);
      } else {
        return;
      }
    }
  }

  void product() {
    sign();
    while (!failed_) {
      if (scanner_.accept("*")) {
        sign();
        emit(Opcode::multiply);
      } else if (scanner_.accept("/")) {
        sign();
        emit(Opcode::divide);
      } else {
        return;
      }
    }
  }

  // -a^b is -(a^b) and a^-b is a^(-b), as on paper.
  void sign() {
    if (++nesting_ > nesting_limit) {
      return fail("nested too deeply");
    }
    if (scanner_.accept("-")) {
      sign();
      emit(Opcode::negate);
    } else if (scanner_.accept("+")) {
      sign();
    } else {
      primary();
      if (!failed_ && scanner_.accept("^")) {
        sign();
        emit(Opcode::power);
      }
    }
    --nesting_;
  }

  void primary() {
    if (failed_) {
      return;
    }
    if (scanner_.at_end()) {
      return fail("ends where a value is expected");
    }
    if (scanner_.at_number()) {
      return number();
    }
    if (scanner_.at_word()) {
      return name();
    }
    if (!scanner_.accept("(")) {
      return fail("unexpected " + quoted(scanner_.next_character()) + " where a value is expected");
    }
    comparison();
    close();
  }

  void number() {
    const std::string_view text = scanner_.number_text();
    const auto value = scanner_.number();
    if (!value) {
      const bool fits = detail::read_decimal(text).in_range;
      return fail(quoted(text) + (fits ? " does not end as a number" : " does not fit as a number"),
                  text.size());
    }
    emit(Opcode::constant, 0, *value);
  }

  void name() {
    const std::size_t begin = scanner_.position();
    const std::string_view word = scanner_.word();
    const auto function = std::find_if(function_table.begin(), function_table.end(),
                                       [&](const Function& f) { return f.name == word; });
    if (scanner_.accept("(")) {
      const int given = arguments();
      if (failed_) {
        return;
      }
      if (function == function_table.end()) {
        return report("unknown function " + quoted(word), begin, word);
      }
      return call(*function, given, begin);
    }
    const auto variable = std::find(names_.variables.begin(), names_.variables.end(), word);
    if (variable != names_.variables.end()) {
      return emit(Opcode::variable,
                  static_cast<std::uint16_t>(variable - names_.variables.begin()));
    }
    for (const auto& [defined, code] : names_.definitions) {
      if (defined == word) {
        return insert(code);
      }
    }
    const bool is_function = function != function_table.end();
    report((is_function ? "no values given to " : "unknown name ") + quoted(word), begin, word);
  }

  void call(const Function& function, int given, std::size_t begin) {
    const int taken = detail::operands(function.operation);
    if (given < taken || (given > taken && !function.repeats)) {
      errors.push_back({std::string(function.name) + " takes " + std::to_string(taken) +
                            (function.repeats ? " values or more, not " : " values, not ") +
                            std::to_string(given),
                        begin,
                        function.name.size(),
                        {}});
      return;
    }
    emit(function.operation);
    for (int i = taken; i < given; ++i) {
      emit(function.operation);
    }
  }

  int arguments() {
    if (scanner_.accept(")")) {
      return 0;
    }
    int count = 0;
    do {
      comparison();
      ++count;
    } while (!failed_ && scanner_.accept(","));
    close();
    return count;
  }

  void close() {
    if (!failed_ && !scanner_.accept(")")) {
      fail(scanner_.at_end() ? "a ')' is missing" : "expected ')' or an operator");
    }
  }

  void insert(std::span<const Instruction> code) {
    if (code.empty()) {
      return emit(Opcode::constant, 0, 0.0);
    }
    for (const Instruction& step : code) {
      if (failed_) {
        return;
      }
      emit(step.operation, step.variable, step.constant);
    }
  }

  void emit(Opcode operation, std::uint16_t variable = 0, double constant = 0) {
    if (failed_ || !errors.empty()) {
      return;  // only the errors matter now
    }
    if (program.size() == most_steps) {  // each name may stand for twice the one before it
      return fail("takes too many steps, with those of the names that it uses");
    }
    program.push_back({operation, variable, constant});
    depth_ = depth_ + 1 - static_cast<std::size_t>(detail::operands(operation));
    if (depth_ > detail::expression_stack_limit) {
      fail("needs too many intermediate values");
    }
  }

  void report(std::string message, std::size_t begin, std::string_view word) {
    errors.push_back({std::move(message), begin, word.size(), std::string(word)});
  }

  void fail(std::string message, std::size_t length = 1) {
    if (!failed_) {
      failed_ = true;
      errors.push_back({std::move(message), scanner_.position(), length, {}});
    }
  }

  detail::ExpressionScanner scanner_;
  const Names& names_;
  std::size_t depth_{};
  int nesting_{};
  bool failed_{};
};

// One more than the number of the last variable.
std::size_t count_values(std::span<const Instruction> program) {
  std::size_t needed = 0;
  for (const Instruction& step : program) {
    if (step.operation == Opcode::variable) {
      needed = std::max<std::size_t>(needed, step.variable + 1U);
    }
  }
  return needed;
}

}  // namespace

std::span<const std::string_view> Expression::functions() { return function_names; }

Expression::Result Expression::parse(std::string_view text, std::span<const std::string> variables,
                                     std::span<const Definition> definitions) {
  Names names{variables, {}};
  for (const auto& [name, expression] : definitions) {
    names.definitions.emplace_back(name, expression.program_);
  }
  Parser parser(text, names);
  parser.run();
  Result result;
  result.errors = std::move(parser.errors);
  result.expression.text_ = text;
  if (result.errors.empty()) {
    result.expression.values_needed_ = count_values(parser.program);
    result.expression.program_ = std::move(parser.program);
  }
  return result;
}

std::optional<Expression> Expression::assemble(std::string text, std::vector<Instruction> program) {
  std::size_t depth = 0;
  for (const Instruction& step : program) {
    if (step.operation > Opcode::choose) {
      return std::nullopt;
    }
    const auto taken = static_cast<std::size_t>(detail::operands(step.operation));
    if (depth < taken || depth - taken >= detail::expression_stack_limit) {
      return std::nullopt;
    }
    depth += 1 - taken;
  }
  if (depth != 1 && !program.empty()) {
    return std::nullopt;
  }
  Expression expression;
  expression.text_ = std::move(text);
  expression.values_needed_ = count_values(program);
  expression.program_ = std::move(program);
  return expression;
}

}  // namespace payoff
