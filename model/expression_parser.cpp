// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "model/expression.hpp"
#include "model/expression_stack.hpp"

// Reading of formulas; evaluation is in model/expression.cpp.

namespace payoff {
namespace {

using Operation = Expression::Operation;
using Instruction = Expression::Instruction;

constexpr int nesting_limit = 100;

struct Function {
  std::string_view name;
  Operation operation;
  int arguments;
};

constexpr std::array<Function, 8> function_table{{{"min", Operation::minimum, 2},
                                                  {"max", Operation::maximum, 2},
                                                  {"ceil", Operation::ceiling, 1},
                                                  {"floor", Operation::floor, 1},
                                                  {"abs", Operation::absolute, 1},
                                                  {"log2", Operation::log2, 1},
                                                  {"sqrt", Operation::square_root, 1},
                                                  {"if", Operation::choose, 3}}};

constexpr auto function_names = [] {
  std::array<std::string_view, function_table.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = function_table[i].name;
  }
  return names;
}();

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

// Recursive descent; every method leaves the code of what it read at the end of `program`.
class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string> variables)
      : text_(text), variables_(variables) {}

  void run() {
    skip_space();
    if (at_end()) {
      return;
    }
    comparison();
    if (!failed_ && !at_end()) {
      fail("unexpected '" + std::string(1, text_[at_]) + "'");
    }
  }

  std::vector<Instruction> program;
  std::vector<Expression::Error> errors;

 private:
  void comparison() {
    sum();
    static constexpr std::array<std::pair<std::string_view, Operation>, 6> table{
        {{"<=", Operation::less_equal},
         {">=", Operation::greater_equal},
         {"==", Operation::equal},
         {"!=", Operation::not_equal},
         {"<", Operation::less},
         {">", Operation::greater}}};
    for (const auto& [symbol, operation] : table) {
      if (failed_ || !accept(symbol)) {
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
      if (accept("+")) {
        product();
        emit(Operation::add);
      } else if (accept("-")) {
        product();
        emit(Operation::subtract);
      } else {
        return;
      }
    }
  }

  void product() {
    sign();
    while (!failed_) {
      if (accept("*")) {
        sign();
        emit(Operation::multiply);
      } else if (accept("/")) {
        sign();
        emit(Operation::divide);
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
    if (accept("-")) {
      sign();
      emit(Operation::negate);
    } else if (accept("+")) {
      sign();
    } else {
      primary();
      if (!failed_ && accept("^")) {
        sign();
        emit(Operation::power);
      }
    }
    --nesting_;
  }

  void primary() {
    if (failed_) {
      return;
    }
    if (at_end()) {
      return fail("ends where a value is expected");
    }
    const char c = text_[at_];
    if (is_digit(c) || c == '.') {
      return number();
    }
    if (is_word(c)) {
      return word();
    }
    if (!accept("(")) {
      return fail("unexpected '" + std::string(1, c) + "' where a value is expected");
    }
    comparison();
    close();
  }

  // "0x10" and "1_000" are read as far as they are decimal; what follows is then an error.
  void number() {
    const std::string rest(text_.substr(at_));
    const auto digits_end = [&](std::size_t from, const char* allowed) {
      return std::min(rest.find_first_not_of(allowed, from), rest.size());
    };
    std::size_t end = digits_end(0, "0123456789.");
    if (end < rest.size() && (rest[end] == 'e' || rest[end] == 'E')) {
      const bool sign = end + 1 < rest.size() && (rest[end + 1] == '+' || rest[end + 1] == '-');
      const std::size_t begin = end + (sign ? 2 : 1);
      if (digits_end(begin, "0123456789") > begin) {
        end = digits_end(begin, "0123456789");
      }
    }
    const std::string token = rest.substr(0, end);
    char* stop = nullptr;
    const double value = std::strtod(token.c_str(), &stop);
    const bool complete = stop == token.c_str() + token.size() && std::isfinite(value);
    if (!complete || (end < rest.size() && is_word(rest[end]))) {
      return fail("'" + token + "' does not end as a number", end);
    }
    at_ += end;
    skip_space();
    emit(Operation::constant, 0, value);
  }

  void word() {
    const std::size_t begin = at_;
    while (!at_end() && is_word(text_[at_])) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    skip_space();
    const bool called = accept("(");
    const auto function = std::find_if(function_table.begin(), function_table.end(),
                                       [&](const Function& f) { return f.name == name; });
    if (called) {
      const int given = arguments();
      if (failed_) {
        return;
      }
      if (function == function_table.end()) {
        errors.push_back({"unknown function '" + std::string(name) + "'", begin, name.size(),
                          std::string(name)});
      } else if (given != function->arguments) {
        errors.push_back({std::string(name) + " takes " + std::to_string(function->arguments) +
                              " values, not " + std::to_string(given),
                          begin,
                          name.size(),
                          {}});
      } else {
        emit(function->operation);
      }
      return;
    }
    const auto variable = std::find(variables_.begin(), variables_.end(), name);
    if (variable == variables_.end()) {
      const char* kind =
          function == function_table.end() ? "unknown name '" : "no values given to '";
      errors.push_back({kind + std::string(name) + "'", begin, name.size(), std::string(name)});
    }
    emit(Operation::variable, static_cast<std::uint16_t>(variable - variables_.begin()));
  }

  int arguments() {
    if (accept(")")) {
      return 0;
    }
    int count = 0;
    do {
      comparison();
      ++count;
    } while (!failed_ && accept(","));
    close();
    return count;
  }

  void close() {
    if (!failed_ && !accept(")")) {
      fail(at_end() ? "a ')' is missing" : "expected ')' or an operator");
    }
  }

  void emit(Operation operation, std::uint16_t variable = 0, double constant = 0) {
    if (failed_ || !errors.empty()) {
      return;  // only the errors matter now
    }
    program.push_back({operation, variable, constant});
    depth_ = depth_ + 1 - static_cast<std::size_t>(detail::operands(operation));
    if (depth_ > detail::expression_stack_limit) {
      fail("needs too many intermediate values");
    }
  }

  bool accept(std::string_view symbol) {
    if (text_.substr(at_, symbol.size()) != symbol) {
      return false;
    }
    at_ += symbol.size();
    skip_space();
    return true;
  }

  void skip_space() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  void fail(std::string message, std::size_t length = 1) {
    if (failed_) {
      return;
    }
    failed_ = true;
    errors.push_back({std::move(message), at_, length, {}});
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  std::string_view text_;
  std::span<const std::string> variables_;
  std::size_t at_{};
  std::size_t depth_{};
  int nesting_{};
  bool failed_{};
};

}  // namespace

std::span<const std::string_view> Expression::functions() { return function_names; }

Expression::Result Expression::parse(std::string_view text,
                                     std::span<const std::string> variables) {
  Parser parser(text, variables);
  parser.run();
  Result result;
  result.errors = std::move(parser.errors);
  result.expression.text_ = text;
  if (result.errors.empty()) {
    result.expression.program_ = std::move(parser.program);
  }
  return result;
}

}  // namespace payoff
