// SPDX-License-Identifier: Apache-2.0
#include "profiles/source_map.hpp"

#include <algorithm>
#include <utility>

namespace payoff {
namespace {

unsigned byte_at(std::string_view text, std::size_t position) {
  return static_cast<unsigned char>(text[position]);
}

// The length of the valid character at the start of the text, or 0 when there is none: overlong
// forms, surrogates and numbers above U+10FFFF are not valid.
std::size_t valid_character_length(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  const unsigned second = byte_at(text, 1);
  const bool invalid = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                       (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return invalid ? 0 : length;
}

}  // namespace

std::size_t character_length(std::string_view text) {
  return std::max<std::size_t>(1, valid_character_length(text));
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(character_length(text));
    ++count;
  }
  return count;
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t length = valid_character_length(text.substr(position));
    if (length == 0) {
      return position;
    }
    position += length;
  }
  return std::string_view::npos;
}

std::optional<std::size_t> SourceMap::file(std::string_view name) const {
  const auto found = std::find_if(sources_.begin(), sources_.end(), [name](const Source& source) {
    return !source.argument && source.name == name;
  });
  return found == sources_.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - sources_.begin()));
}

std::size_t SourceMap::add_file(std::string name, std::string text) {
  const auto same = std::find_if(sources_.begin(), sources_.end(), [&](const Source& source) {
    return !source.argument && source.name == name && source.text == text;
  });
  if (same != sources_.end()) {
    return static_cast<std::size_t>(same - sources_.begin());
  }
  sources_.push_back({std::move(name), std::move(text), std::nullopt, false});
  return sources_.size() - 1;
}

std::size_t SourceMap::add_argument(int index, std::string text) {
  sources_.push_back({"argument " + std::to_string(index), std::move(text), index, true});
  return sources_.size() - 1;
}

Location SourceMap::locate(Span span) const {
  const Source& source = sources_[span.source];
  const std::string_view text = source.text;
  const std::size_t offset = std::min(span.offset, text.size());
  const std::size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t end = std::min(text.find('\n', offset), text.size());
  if (end > offset && text[end - 1] == '\r') {
    --end;
  }
  Location location;
  location.name = source.name;
  location.line = 1 + static_cast<std::size_t>(std::count(
                          text.begin(), text.begin() + static_cast<std::ptrdiff_t>(start), '\n'));
  location.line_text = text.substr(start, end - start);
  location.line_offset = offset - start;
  location.line_length = std::min(span.length, end - offset);
  location.column = 1 + count_characters(location.line_text.substr(0, location.line_offset));
  location.length =
      count_characters(location.line_text.substr(location.line_offset, location.line_length));
  return location;
}

std::string_view SourceMap::text(Span span) const {
  const std::string_view text = sources_[span.source].text;
  return text.substr(std::min(span.offset, text.size()), span.length);
}

std::string SourceMap::place(Span span) const {
  if (is_argument(span)) {
    return sources_[span.source].name;
  }
  const Location location = locate(span);
  return location.name + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column);
}

}  // namespace payoff
