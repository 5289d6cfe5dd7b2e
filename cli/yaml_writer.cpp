// SPDX-License-Identifier: Apache-2.0
#include "cli/yaml_writer.hpp"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace payoff {
namespace {

// Texts that YAML takes for itself, or for something else, without quotes.
bool is_plain(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL" ||
      text == "---" || text == "...") {
    return false;
  }
  constexpr std::string_view indicators = "-?:,[]{}#&*!|>'\"%@` \t";
  const bool negative_number =
      text[0] == '-' && text.size() > 1 && text[1] >= '0' && text[1] <= '9';
  if ((indicators.find(text[0]) != std::string_view::npos && !negative_number) ||
      text.back() == ' ' || text.back() == ':' || text.back() == '\t') {
    return false;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      return false;
    }
  }
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

std::string scalar(std::string_view text) {
  if (is_plain(text)) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

bool is_block(const Node& node) {
  return (node.kind == Node::Kind::map && !node.entries.empty()) ||
         (node.kind == Node::Kind::list && !node.items.empty());
}

void write(const Node& node, std::size_t indent, std::string& text);

// What follows `key:` or `-`, with the line break.
void write_value(const Node& node, std::size_t indent, std::string& text) {
  if (is_block(node)) {
    text += "\n";
    write(node, indent, text);
    return;
  }
  switch (node.kind) {
    case Node::Kind::null:
      text += "\n";
      return;
    case Node::Kind::scalar:
      text += " " + scalar(node.text) + "\n";
      return;
    case Node::Kind::list:
      text += " []\n";
      return;
    case Node::Kind::map:
      text += " {}\n";
      return;
  }
}

void write(const Node& node, std::size_t indent, std::string& text) {
  const std::string margin(indent, ' ');
  for (const Entry& entry : node.entries) {
    text += margin + scalar(entry.key) + ":";
    write_value(entry.value, indent + 2, text);
  }
  for (const Node& item : node.items) {
    if (item.kind == Node::Kind::map && !item.entries.empty()) {
      std::string inner;
      write(item, indent + 2, inner);
      inner.replace(indent, 1, "-");  // the first key stands beside the dash
      text += inner;
    } else {
      text += margin + "-";
      write_value(item, indent + 2, text);
    }
  }
}

}  // namespace

std::string written_yaml(const Node& root) {
  std::string text;
  if (is_block(root)) {
    write(root, 0, text);
  } else if (root.kind == Node::Kind::scalar) {
    text = scalar(root.text) + "\n";
  } else {
    text = root.kind == Node::Kind::list ? "[]\n" : "{}\n";
  }
  return text;
}

}  // namespace payoff
