// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include "profiles/read_experiment.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_experiment_file(std::string_view input) {
  Reading reading;
  auto document =
      load_yaml_text("input", std::string(input), reading.sources(), reading.diagnostics());
  if (!document) {
    return reading.verdict(false);
  }
  try {
    const auto read = read_experiment(std::move(*document), {}, reading.context());
    return reading.verdict(read.has_value());
  } catch (const std::runtime_error& missing) {  // a file that it names: the world's fault
    return reading.verdict() + missing.what();
  }
}

}  // namespace payoff::fuzz
