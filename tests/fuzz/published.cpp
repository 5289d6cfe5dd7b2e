// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "profiles/import/csv.hpp"
#include "profiles/import/nccl_tables.hpp"
#include "profiles/import/training_rows.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {
namespace {

std::string told(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.message.empty()) {
      broken("a finding says something");
    }
    text += finding.message + "\n";
  }
  return text;
}

}  // namespace

std::string read_published(std::string_view input) {
  const std::string text(input);
  Findings csv;
  const CsvTable table = parse_csv(text, "input", csv);
  return std::to_string(table.size()) + told(csv) +
         told(parse_training_rows(text, "input").findings) +
         told(parse_nccl_tables(text, "input").findings);
}

}  // namespace payoff::fuzz
