// SPDX-License-Identifier: Apache-2.0
#include "model/method.hpp"

namespace payoff {

Method with_formulas(const Method& method, const std::optional<OtherFormulas>& other) {
  Method result = method;
  if (other) {
    result.rounds = other->rounds;
    result.decode = other->decode;
  }
  return result;
}

std::vector<std::string> formula_names(const std::map<std::string, double>& parameters) {
  std::vector<std::string> names(formula_variables.begin(), formula_variables.end());
  for (const auto& [name, value] : parameters) {
    names.push_back(name);
  }
  return names;
}

}  // namespace payoff
