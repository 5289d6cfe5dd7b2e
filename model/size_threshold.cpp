// SPDX-License-Identifier: Apache-2.0
#include "model/size_threshold.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace payoff {
namespace {

using Operation = Expression::Operation;
using Instruction = Expression::Instruction;

// Places in formula_variables.
constexpr std::uint16_t variable_n = 0;
constexpr std::uint16_t variable_v = 3;

}  // namespace

Method from_size(const Method& method, Bytes smallest) {
  std::vector<Instruction> program{{Operation::variable, variable_v, 0},
                                   {Operation::variable, variable_n, 0},
                                   {Operation::multiply, 0, 0},
                                   {Operation::constant, 0, smallest / 1_B},
                                   {Operation::greater_equal, 0, 0}};
  if (method.worth.empty()) {
    program.push_back({Operation::constant, 0, 1});
  } else {
    const auto worth = method.worth.program();
    program.insert(program.end(), worth.begin(), worth.end());
  }
  program.push_back({Operation::constant, 0, 0});
  program.push_back({Operation::choose, 0, 0});
  Method result = method;
  result.smallest = smallest;
  result.worth =
      Expression::assemble(
          "if(v * n >= smallest, " + (method.worth.empty() ? "1" : method.worth.text()) + ", 0)",
          std::move(program))
          .value_or(Expression());
  return result;
}

}  // namespace payoff
