// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Arithmetic formulas of compression methods, as written in YAML: + - * / ^, parentheses,
// comparisons (1 or 0), min and max of two or more, ceil, floor, abs, log2, sqrt, if(c, a, b).
// Parsed once into a stack program over numbered variables; evaluation does not allocate. Both
// branches of if() are evaluated, and a division by zero in the one that is not taken does no harm.
// An empty expression is zero.

namespace payoff {

class Expression {
 public:
  // Several sets of values at once, one a lane: a bucket holds many tensors of few variables.
  static constexpr std::size_t lanes = 16;
  using Lanes = std::array<double, lanes>;

  Expression() = default;

  // Position (0-based offset into the text) and message of what is wrong. `name` is the word that
  // was not understood, for a suggestion; empty where the structure is wrong.
  struct Error {
    std::string message;
    std::size_t offset{};
    std::size_t length{1};
    std::string name{};
  };
  struct Result;
  // Names for parts of formulas ("where: {r: min(rank, rows, columns)}"), put in where they are
  // used.
  using Definition = std::pair<std::string, Expression>;

  // `variables` are the names a formula may use; their order is the order of evaluate()'s values.
  // Unknown names are all reported; a structural error ends the reading.
  [[nodiscard]] static Result parse(std::string_view text, std::span<const std::string> variables,
                                    std::span<const Definition> definitions = {});

  [[nodiscard]] static std::span<const std::string_view> functions();

  [[nodiscard]] double evaluate(std::span<const double> values) const;
  [[nodiscard]] Lanes evaluate_lanes(std::span<const Lanes> values) const;
  // One more than the number of the last variable it uses: the values it needs.
  [[nodiscard]] std::size_t values_needed() const { return values_needed_; }
  [[nodiscard]] bool empty() const { return program_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

  enum class Operation : std::uint8_t {
    constant,
    variable,
    negate,
    add,
    subtract,
    multiply,
    divide,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    minimum,
    maximum,
    ceiling,
    floor,
    absolute,
    log2,
    square_root,
    choose
  };
  struct Instruction {
    Operation operation{};
    std::uint16_t variable{};
    double constant{};
  };

  // For whoever stores expressions: what evaluation runs, and an expression of a stored one.
  // nullopt where a program does not leave one value on a stack of the size that there is.
  [[nodiscard]] std::span<const Instruction> program() const { return program_; }
  [[nodiscard]] static std::optional<Expression> assemble(std::string text,
                                                          std::vector<Instruction> program);

 private:
  std::vector<Instruction> program_;
  std::size_t values_needed_{};
  std::string text_;
};

struct Expression::Result {
  Expression expression;
  std::vector<Error> errors;  // empty when the text was understood
};

}  // namespace payoff
