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

Method from_size(const Method& method, Bytes smallest) {
  std::vector<Instruction> program{{Opcode::variable, formula::element_size, 0},
                                   {Opcode::variable, formula::elements, 0},
                                   {Opcode::multiply, 0, 0},
                                   {Opcode::constant, 0, smallest / 1_B},
                                   {Opcode::greater_equal, 0, 0}};
  if (method.worth.empty()) {
    program.push_back({Opcode::constant, 0, 1});
  } else {
    const auto worth = method.worth.program();
    program.insert(program.end(), worth.begin(), worth.end());
  }
  program.push_back({Opcode::constant, 0, 0});
  program.push_back({Opcode::choose, 0, 0});
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
