// SPDX-License-Identifier: Apache-2.0
#include "model/size_threshold.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace payoff {
namespace {

using Opcode = Expression::Operation;
using Instruction = Expression::Instruction;

}  // namespace

// The condition is the last factor: in front it would be one more value below those of `worth`,
// which may take all of the stack.
Method from_size(const Method& method, Bytes smallest) {
  const auto worth = method.worth.program();
  std::vector<Instruction> program(worth.begin(), worth.end());
  program.insert(program.end(), {{Opcode::variable, formula::element_size, 0},
                                 {Opcode::variable, formula::elements, 0},
                                 {Opcode::multiply, 0, 0},
                                 {Opcode::constant, 0, smallest / 1_B},
                                 {Opcode::greater_equal, 0, 0}});
  if (!method.worth.empty()) {
    program.push_back({Opcode::multiply, 0, 0});
  }
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
