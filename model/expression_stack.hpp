// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "model/expression.hpp"

// What the reader and the evaluator of formulas agree on: how many values an operation takes, and
// how deep the stack may get. A program that needs more is refused when it is read, so evaluation
// needs no check.

namespace payoff::detail {

inline constexpr std::size_t expression_stack_limit = 24;

[[nodiscard]] constexpr int operands(Expression::Operation operation) {
  switch (operation) {
    case Expression::Operation::constant:
    case Expression::Operation::variable:
      return 0;
    case Expression::Operation::negate:
    case Expression::Operation::ceiling:
    case Expression::Operation::floor:
    case Expression::Operation::absolute:
    case Expression::Operation::log2:
    case Expression::Operation::square_root:
      return 1;
    case Expression::Operation::choose:
      return 3;
    default:
      return 2;
  }
}

}  // namespace payoff::detail
