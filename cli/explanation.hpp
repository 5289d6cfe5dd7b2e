// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/trust.hpp"
#include "model/experiment.hpp"
#include "profiles/fact.hpp"

// Where a predicted step comes from: for every term of its waterfall the equation, the numbers that
// were put in and what they rest on. docs/model.md has the same equations with their sources.

namespace payoff {

struct InsertedNumber {
  std::string symbol;
  std::string value;
  std::string meaning;

  bool operator==(const InsertedNumber&) const = default;
};

// One thing that a term is a sum of.
struct ExplainedPart {
  std::string what;
  double count{};
  std::string numbers;  // its price with all numbers put in, in SI units: an expression
  Seconds each{};
};

struct TermExplanation {
  std::string term;  // as in the JSON, without its unit: "exposed_dp"
  std::string what;  // one line
  Seconds time{};    // of the explained plan
  Seconds uncompressed{};
  std::string equation;
  std::string section;  // of docs/model.md
  std::vector<InsertedNumber> numbers;
  std::string inserted;  // the equation with its numbers put in: an expression, in seconds
  std::vector<ExplainedPart> parts;
  std::string part_equation;  // of each, where all of them follow one
  std::string part_section;   // of docs/model.md
  Facts facts;                // of the profiles
  std::vector<MessageUse> messages;
  std::vector<KernelUse> kernels;
};

// Every term, in the order in which a step runs through them.
[[nodiscard]] std::vector<TermExplanation> explain(const PreparedExperiment& prepared,
                                                   const CompressionPlan& compression,
                                                   const Facts& facts);

}  // namespace payoff
