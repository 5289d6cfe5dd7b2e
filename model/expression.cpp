// SPDX-License-Identifier: Apache-2.0
#include "model/expression.hpp"

#include <algorithm>
#include <cmath>

#include "model/expression_stack.hpp"

namespace payoff {
namespace {

using Operation = Expression::Operation;
using detail::operands;

double apply(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::power:
      return std::pow(a, b);
    case Operation::less:
      return a < b ? 1.0 : 0.0;
    case Operation::less_equal:
      return a <= b ? 1.0 : 0.0;
    case Operation::greater:
      return a > b ? 1.0 : 0.0;
    case Operation::greater_equal:
      return a >= b ? 1.0 : 0.0;
    case Operation::equal:
      return a == b ? 1.0 : 0.0;
    case Operation::not_equal:
      return a != b ? 1.0 : 0.0;
    case Operation::minimum:
      return std::min(a, b);
    case Operation::maximum:
      return std::max(a, b);
    case Operation::negate:
      return -a;
    case Operation::ceiling:
      return std::ceil(a);
    case Operation::floor:
      return std::floor(a);
    case Operation::absolute:
      return std::abs(a);
    case Operation::log2:
      return std::log2(a);
    case Operation::square_root:
      return std::sqrt(a);
    default:
      return 0.0;  // constants, variables and choose are handled by the interpreters
  }
}

using Lanes = Expression::Lanes;

// One loop an operation, so that the compiler can vectorise the ones that dominate.
template <typename Function>
void each(Lanes& a, const Lanes& b, Function function) {
  for (std::size_t i = 0; i < Expression::lanes; ++i) {
    a[i] = function(a[i], b[i]);
  }
}

void apply(Operation operation, Lanes& a, const Lanes& b) {
  switch (operation) {
    case Operation::add:
      return each(a, b, [](double x, double y) { return x + y; });
    case Operation::subtract:
      return each(a, b, [](double x, double y) { return x - y; });
    case Operation::multiply:
      return each(a, b, [](double x, double y) { return x * y; });
    case Operation::divide:
      return each(a, b, [](double x, double y) { return x / y; });
    case Operation::minimum:
      return each(a, b, [](double x, double y) { return std::min(x, y); });
    case Operation::maximum:
      return each(a, b, [](double x, double y) { return std::max(x, y); });
    default:
      return each(a, b, [operation](double x, double y) { return apply(operation, x, y); });
  }
}

}  // namespace

double Expression::evaluate(std::span<const double> values) const {
  std::array<double, detail::expression_stack_limit + 1> stack;
  std::size_t top = 0;  // stack[top - 1] is the last value
  stack[0] = 0.0;
  for (const Instruction& step : program_) {
    if (step.operation == Operation::constant) {
      stack[top++] = step.constant;
    } else if (step.operation == Operation::variable) {
      stack[top++] = values[step.variable];
    } else if (step.operation == Operation::choose) {
      top -= 2;
      stack[top - 1] = stack[top - 1] != 0.0 ? stack[top] : stack[top + 1];
    } else {
      if (operands(step.operation) == 2) {
        --top;
      }
      stack[top - 1] = apply(step.operation, stack[top - 1], stack[top]);
    }
  }
  return stack[0];
}

Expression::Lanes Expression::evaluate_lanes(std::span<const Lanes> values) const {
  std::array<Lanes, detail::expression_stack_limit + 1> stack;
  std::size_t top = 0;
  stack[0].fill(0.0);
  for (const Instruction& step : program_) {
    if (step.operation == Operation::constant) {
      stack[top++].fill(step.constant);
    } else if (step.operation == Operation::variable) {
      stack[top++] = values[step.variable];
    } else if (step.operation == Operation::choose) {
      top -= 2;
      for (std::size_t i = 0; i < lanes; ++i) {
        if (stack[top - 1][i] == 0.0) {
          stack[top - 1][i] = stack[top + 1][i];
        } else {
          stack[top - 1][i] = stack[top][i];
        }
      }
    } else {
      if (operands(step.operation) == 2) {
        --top;
      }
      apply(step.operation, stack[top - 1], stack[top]);
    }
  }
  return stack[0];
}

}  // namespace payoff
