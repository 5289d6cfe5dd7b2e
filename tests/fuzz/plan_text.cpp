// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/read_method.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_plan_text(std::string_view input) {
  Reading reading;
  const Span span = reading.argument(input);
  const bool understood = read_plan(span, reading.context()).has_value();
  return reading.verdict(understood);
}

}  // namespace payoff::fuzz
