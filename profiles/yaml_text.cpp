// SPDX-License-Identifier: Apache-2.0
#include "profiles/yaml_text.hpp"

#include <algorithm>
#include <string>

namespace payoff::detail {
namespace {

ScalarRange quoted_range(std::string_view text) {
  const char quote = text[0];
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '\'' && i + 1 < text.size() && text[i + 1] == quote) {
        ++i;
        continue;
      }
      return {i + 1, true};
    }
  }
  return {1, false};
}

}  // namespace

ScalarRange scalar_range(std::string_view text, std::string_view value) {
  if (text.empty()) {
    return {0, true};
  }
  if (text[0] == '"' || text[0] == '\'') {
    return quoted_range(text);
  }
  if (text[0] == '|' || text[0] == '>') {
    return {1, true};
  }
  if (text.starts_with(value)) {
    return {value.size(), true};
  }
  const std::size_t end = text.find_first_of("\r\n");  // it goes on in the next line
  return {std::min(end, text.size()), true};
}

bool check_characters(Span region, std::string_view text, Diagnostics& diagnostics) {
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    diagnostics.error(Span{region.source, region.offset + invalid, 1}, "the text is not UTF-8",
                      "this byte does not belong to a character");
    return false;
  }
  const auto steering = std::find_if(text.begin(), text.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\t' && c != '\n' && c != '\r') || code == 0x7f;
  });
  if (steering != text.end()) {
    const auto offset = static_cast<std::size_t>(steering - text.begin());
    diagnostics.error(Span{region.source, region.offset + offset, 1},
                      "the text holds a control character", "not allowed in YAML");
    return false;
  }
  return true;
}

}  // namespace payoff::detail
