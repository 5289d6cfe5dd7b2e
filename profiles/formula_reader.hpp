// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/compression.hpp"
#include "profiles/section.hpp"

// Formulas of a compression profile: the names they may use grow with the method's parameters and
// its `where`. Mistakes are reported inside the formula.

namespace payoff {

class FormulaReader {
 public:
  explicit FormulaReader(std::vector<std::string> names) : names_(std::move(names)) {}

  [[nodiscard]] Expression read(const Value& value) const;
  [[nodiscard]] PassFormula pass(const Section& section) const;
  // One that may run on the host (`runs_on: host`).
  [[nodiscard]] PassFormula pass_of_gradients(const Section& section) const;
  // A name of `where`, for the formulas after it.
  void define(const std::string& name, const Value& value);

 private:
  void report(const Value& value, const Expression::Error& error) const;

  std::vector<std::string> names_;
  std::vector<Expression::Definition> definitions_;
};

// Whether a parameter or a part of a formula can be called so; if not, that is reported.
void check_name(const std::string& name, const Value& value);

}  // namespace payoff
