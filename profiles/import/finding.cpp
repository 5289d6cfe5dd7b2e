// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/finding.hpp"

#include <fmt/format.h>

namespace payoff {

std::string to_text(const Finding& finding) {
  std::string place = finding.file;
  if (finding.line > 0) {
    place += fmt::format(":{}:{}", finding.line, finding.column);
  }
  const std::string entry = finding.entry.empty() ? "" : finding.entry + ": ";
  const char* note = finding.effect == Effect::noted ? "note: " : "";
  return fmt::format("{}: {}{}{}", place, note, entry, finding.message);
}

}  // namespace payoff
