// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Arithmetic formulas of compression methods, as written in YAML: + - * / ^, parentheses,
// comparisons (1 or 0), min, max, ceil, floor, log2, sqrt, if(c, a, b). Parsed once into a stack
// program over numbered variables; evaluation does not allocate. An empty expression is zero.

namespace payoff {

class Expression {
 public:
  Expression() = default;

  // Message and position (0-based offset into the text) of what is wrong.
  struct Error {
    std::string message;
    std::size_t offset{};
    std::size_t length{1};
  };
  struct Result;

  // `variables` are the names a formula may use; their order is the order of evaluate()'s values.
  [[nodiscard]] static Result parse(std::string_view text, std::span<const std::string> variables);

  [[nodiscard]] double evaluate(std::span<const double> values) const;
  [[nodiscard]] bool empty() const { return program_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Instruction {
    std::uint8_t code{};
    std::uint16_t variable{};
    double constant{};
  };
  std::vector<Instruction> program_;
  std::string text_;
};

struct Expression::Result {
  Expression expression;
  std::vector<Error> errors;  // empty when the text was understood
};

}  // namespace payoff
