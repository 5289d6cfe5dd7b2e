// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

#include "profiles/import/nccl_debug.hpp"
#include "tests/fuzz/target.hpp"

namespace payoff::fuzz {

std::string read_nccl_debug_log(std::string_view input) {
  std::istringstream lines{std::string(input)};
  NcclDebugReader reader;
  reader.read(lines, "input");
  const NcclDebugLog log = reader.finish();
  std::string text;
  for (const Finding& finding : log.findings) {
    if (finding.message.empty()) {
      broken("a finding says something");
    }
    text += to_text(finding) + "\n";
  }
  std::int64_t calls = 0;
  for (const LoggedMessages& message : log.messages) {
    if (message.groups >= log.groups.size()) {
      broken("a message is one of a group that is told");
    }
    const auto all = static_cast<double>(message.calls);
    const bool is_share = message.calls_a_rank > 0.0 && message.calls_a_rank <= all;
    if (!is_share || !std::isfinite(message.size.si) || message.size < Bytes{}) {
      broken("a rank makes some of the calls, of a size");
    }
    calls += message.calls;
    text += std::to_string(message.size.si) + " ";
  }
  if (calls > log.calls) {
    broken("no message is counted twice");
  }
  if (log.groups.empty() && log.findings.empty()) {
    broken("a log of nothing is told to be one");
  }
  return text;
}

}  // namespace payoff::fuzz
