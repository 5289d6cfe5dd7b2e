// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/samples.hpp"

#include <string>

#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_samples_file(std::string_view input) {
  Reading reading;
  const Span file = reading.file(input);
  const auto samples = parse_samples(file, reading.sources(), reading.diagnostics());
  return reading.verdict(samples.has_value());
}

}  // namespace payoff::fuzz
