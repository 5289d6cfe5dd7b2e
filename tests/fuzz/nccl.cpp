// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/import/foreign.hpp"
#include "profiles/import/nccl_log.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

std::string told(const NcclImport& import) {
  std::string text;
  for (const Finding& finding : import.findings) {
    if (finding.message.empty()) {
      broken("a finding says something");
    }
    text += finding.message + "\n";
  }
  for (const NcclTable& table : import.tables) {
    for (const NcclRow& row : table.rows) {
      text += std::to_string(row.size.si) + " ";
    }
  }
  return text;
}

}  // namespace

// Both importers: of calibrate fit and import, and of samples.
std::string read_nccl(std::string_view input) {
  const std::string text(input);
  Reading reading;
  const Span file = reading.file(input);
  const auto measured =
      parse_foreign(file, MeasurementFormat::nccl_tests, reading.sources(), reading.diagnostics());
  return reading.verdict(measured.has_value()) + told(parse_nccl_log(text, "input")) +
         told(parse_nccl_json(text, "input"));
}

}  // namespace payoff::fuzz
