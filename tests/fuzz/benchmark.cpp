// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/import/foreign.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

// Each format by itself, and the one that the text looks like.
std::string read_benchmark(std::string_view input) {
  std::string told;
  for (const std::optional<MeasurementFormat> format : {std::optional<MeasurementFormat>{},
                                                        {MeasurementFormat::google_benchmark},
                                                        {MeasurementFormat::nvbench},
                                                        {MeasurementFormat::csv}}) {
    Reading reading;
    const Span file = reading.file(input);
    const auto measured = parse_foreign(file, format, reading.sources(), reading.diagnostics());
    if (measured && measured->points.empty()) {
      broken("what is imported has a point");
    }
    told += reading.verdict(measured.has_value());
  }
  return told;
}

}  // namespace payoff::fuzz
