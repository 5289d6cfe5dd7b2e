// SPDX-License-Identifier: Apache-2.0
#include "model/expression.hpp"

#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_expression(std::string_view input) {
  const std::array<std::string, 3> names = {"rank", "n", "ratio"};
  const Expression::Result result = Expression::parse(input, names);
  if (!result.errors.empty() && !result.expression.empty()) {
    broken("there is a formula, or there are errors");
  }
  std::string told;
  for (const Expression::Error& error : result.errors) {
    if (error.message.empty() || error.offset > input.size()) {
      broken("an error says something, at a place of the formula");
    }
    told += error.message + std::to_string(error.offset);
  }
  if (result.errors.empty()) {
    const std::array<double, 3> values = {4.0, 1e6, 0.01};
    told += std::to_string(result.expression.evaluate(values));
  }
  return told;
}

}  // namespace payoff::fuzz
