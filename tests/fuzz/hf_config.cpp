// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_config.hpp"

#include <string>

#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_hf(std::string_view input) {
  Reading reading;
  const Span text = reading.file(input);
  const auto shape = read_hf_config(text, reading.sources(), reading.diagnostics());
  if (shape && !(parameter_count(*shape) > 0)) {
    broken("a model has parameters");
  }
  return reading.verdict(shape.has_value());
}

}  // namespace payoff::fuzz
