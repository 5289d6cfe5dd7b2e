// SPDX-License-Identifier: Apache-2.0
#include "cli/finding_places.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "cli/file_text.hpp"

namespace payoff {
namespace {

std::optional<std::size_t> source_of(const std::string& file, Session& session) {
  if (const auto known = session.sources().file(file)) {
    return known;
  }
  try {
    return session.sources().add_file(file, contents_of(file));
  } catch (const std::runtime_error&) {  // no longer readable: the finding is told without its line
    return std::nullopt;
  }
}

// Where line `line`, counted from 1, begins.
std::size_t offset_of(std::string_view text, int line) {
  std::size_t offset = 0;
  for (int l = 1; l < line && offset < text.size(); ++l) {
    const std::size_t end = text.find('\n', offset);
    offset = end == std::string_view::npos ? text.size() : end + 1;
  }
  return offset;
}

// Of what begins the text: a list or a mapping whole, another value up to what follows it.
std::size_t length_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const bool is_group = line.starts_with('[') || line.starts_with('{');
  const std::size_t end =
      is_group ? line.find(line.front() == '[' ? ']' : '}') : line.find_first_of(",]}");
  if (end == std::string_view::npos) {
    return line.size();
  }
  return is_group ? end + 1 : end;
}

}  // namespace

void report_finding(const Finding& finding, Severity severity, const std::string& help,
                    Session& session) {
  const auto source = finding.line > 0 ? source_of(finding.file, session) : std::nullopt;
  if (!source) {
    session.diagnostics().add({severity, to_text(finding), std::nullopt, "", help, {}});
    return;
  }
  const std::string_view text = session.sources()[*source].text;
  const std::size_t column = static_cast<std::size_t>(std::max(finding.column, 1) - 1);
  const std::size_t offset = std::min(offset_of(text, finding.line) + column, text.size());
  const std::string entry = finding.entry.empty() ? "" : finding.entry + ": ";
  session.diagnostics().add({severity,
                             entry + finding.message,
                             Span{*source, offset, length_of(text.substr(offset))},
                             "",
                             help,
                             {}});
}

}  // namespace payoff
