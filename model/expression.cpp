// SPDX-License-Identifier: Apache-2.0
#include "model/expression.hpp"

#include <algorithm>
#include <cmath>

#include "model/expression_stack.hpp"

namespace payoff {
namespace {

using Opcode = Expression::Operation;
using detail::operands;

// Calls `visit` with the function of an operation of one or two values, so that evaluation of one
// value and of many lanes do the same arithmetic and the latter is one loop an operation.
template <typename Visit>
void with_function(Opcode operation, Visit visit) {
  const auto truth = [](bool holds) { return holds ? 1.0 : 0.0; };
  switch (operation) {
    case Opcode::add:
      return visit([](double a, double b) { return a + b; });
    case Opcode::subtract:
      return visit([](double a, double b) { return a - b; });
    case Opcode::multiply:
      return visit([](double a, double b) { return a * b; });
    case Opcode::divide:
      return visit([](double a, double b) { return a / b; });
    case Opcode::power:
      return visit([](double a, double b) { return std::pow(a, b); });
    case Opcode::less:
      return visit([&](double a, double b) { return truth(a < b); });
    case Opcode::less_equal:
      return visit([&](double a, double b) { return truth(a <= b); });
    case Opcode::greater:
      return visit([&](double a, double b) { return truth(a > b); });
    case Opcode::greater_equal:
      return visit([&](double a, double b) { return truth(a >= b); });
    case Opcode::equal:
      return visit([&](double a, double b) { return truth(a == b); });
    case Opcode::not_equal:
      return visit([&](double a, double b) { return truth(a != b); });
    case Opcode::minimum:
      return visit([](double a, double b) { return std::min(a, b); });
    case Opcode::maximum:
      return visit([](double a, double b) { return std::max(a, b); });
    case Opcode::negate:
      return visit([](double a, double) { return -a; });
    case Opcode::ceiling:
      return visit([](double a, double) { return std::ceil(a); });
    case Opcode::floor:
      return visit([](double a, double) { return std::floor(a); });
    case Opcode::absolute:
      return visit([](double a, double) { return std::abs(a); });
    case Opcode::log2:
      return visit([](double a, double) { return std::log2(a); });
    case Opcode::square_root:
      return visit([](double a, double) { return std::sqrt(a); });
    case Opcode::constant:
    case Opcode::variable:
    case Opcode::choose:
      return;  // the evaluators do these themselves
  }
}

}  // namespace

double Expression::evaluate(std::span<const double> values) const {
  std::array<double, detail::expression_stack_limit + 1> stack;
  std::size_t top = 0;  // stack[top - 1] is the last value
  stack[0] = 0.0;
  for (const Instruction& step : program_) {
    if (step.operation == Opcode::constant) {
      stack[top++] = step.constant;
    } else if (step.operation == Opcode::variable) {
      stack[top++] = values[step.variable];
    } else if (step.operation == Opcode::choose) {
      top -= 2;
      stack[top - 1] = stack[top - 1] != 0.0 ? stack[top] : stack[top + 1];
    } else {
      top -= operands(step.operation) == 2 ? 1U : 0U;
      with_function(step.operation,
                    [&](auto function) { stack[top - 1] = function(stack[top - 1], stack[top]); });
    }
  }
  return stack[0];
}

namespace {

// `out` is none of the operands, so that the loop may work on many lanes at once.
template <typename Function>
void each_lane(double* __restrict out, const double* a, const double* b, Function function) {
  for (std::size_t i = 0; i < Expression::lanes; ++i) {
    out[i] = function(a[i], b[i]);
  }
}

}  // namespace

// A variable is not copied to the stack: `at` says where each value of the stack lies. What is
// computed lies in `own`, two places for each depth, of which an operation takes the one that its
// first operand does not have.
Expression::Lanes Expression::evaluate_lanes(std::span<const Lanes> values) const {
  constexpr std::size_t depth = detail::expression_stack_limit + 3;
  std::array<Lanes, 2 * depth> own;
  std::array<const Lanes*, depth> at;
  own[0].fill(0.0);
  at.fill(own.data());
  std::size_t top = 0;
  for (const Instruction& step : program_) {
    if (step.operation == Opcode::variable) {
      at[top++] = &values[step.variable];
      continue;
    }
    if (step.operation != Opcode::constant) {
      top -= static_cast<std::size_t>(operands(step.operation));
    }
    const Lanes& a = *at[top];
    const Lanes& b = *at[top + 1];
    const Lanes& c = *at[top + 2];
    Lanes& out = own[&a == &own[2 * top] ? 2 * top + 1 : 2 * top];
    if (step.operation == Opcode::constant) {
      out.fill(step.constant);
    } else if (step.operation == Opcode::choose) {
      for (std::size_t i = 0; i < lanes; ++i) {
        out[i] = a[i] != 0.0 ? b[i] : c[i];
      }
    } else {
      with_function(step.operation,
                    [&](auto function) { each_lane(out.data(), a.data(), b.data(), function); });
    }
    at[top++] = &out;
  }
  return *at[0];
}

}  // namespace payoff
