// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/finding.hpp"

#include <stdexcept>

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

void throw_if_any(const Findings& findings, const std::string& what) {
  if (findings.empty()) {
    return;
  }
  std::string text = what + ":";
  for (const Finding& finding : findings) {
    text += "\n  " + to_text(finding);
  }
  throw std::runtime_error(text);
}

}  // namespace payoff
