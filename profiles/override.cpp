// SPDX-License-Identifier: Apache-2.0
#include "profiles/override.hpp"

#include <utility>
#include <vector>

#include "model/units_text.hpp"

namespace payoff {
namespace {

constexpr std::string_view option = "--set ";
constexpr std::size_t longest_path = 32;

// The `=` between path and value; a quoted key may hold one too.
std::size_t find_equals(std::string_view setting) {
  bool inside = false;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    if (setting[i] == '"') {
      inside = !inside;
    } else if (setting[i] == '=' && !inside) {
      return i;
    }
  }
  return std::string_view::npos;
}

Span part_span(Span key, const PathPart& part) {
  return {key.source, key.offset + part.offset, part.length};
}

// A scalar that turns out to be a section is the name of what the section starts from:
// `cluster: dgx-h100` with `cluster.nodes` set is `cluster: {base: dgx-h100, nodes: ...}`.
void make_map(Node& node, Span span) {
  Node map;
  map.kind = Node::Kind::map;
  map.span = span;
  if (node.kind == Node::Kind::scalar) {
    const Span name = node.span;
    map.entries.push_back({"base", name, std::move(node)});
  }
  node = std::move(map);
}

Node* list_item(Node& list, const PathPart& part, Span span, Diagnostics& diagnostics) {
  const std::size_t size = list.items.size();
  const Parsed<std::int64_t> index = parse_integer(part.key, {0, static_cast<std::int64_t>(size)});
  if (!index) {
    diagnostics.error(span,
                      "no item " + backquoted(part.key) + " in a list of " + std::to_string(size),
                      "a number from 0 to " + std::to_string(size),
                      "items count from 0; " + std::to_string(size) + " appends one");
    return nullptr;
  }
  const auto position = static_cast<std::size_t>(*index);
  if (position == size) {
    list.items.emplace_back();
    list.items.back().span = span;
  }
  return &list.items[position];
}

// The child of a node by one part of the path, made when it is not there.
Node* child(Node& node, const PathPart& part, Span span, Diagnostics& diagnostics) {
  if (node.kind == Node::Kind::list) {
    return list_item(node, part, span, diagnostics);
  }
  if (node.kind != Node::Kind::map) {
    make_map(node, span);
  }
  Entry* entry = node.find(part.key);
  if (entry == nullptr) {
    node.entries.push_back({part.key, span, Node{}});
    entry = &node.entries.back();
    entry->value.span = span;
  }
  return &entry->value;
}

}  // namespace

Node scalar_node(Span span, const SourceMap& sources) {
  Node node;
  node.text = std::string(sources.text(span));
  const bool none = node.text.empty() || node.text == "~" || node.text == "null";
  node.kind = none ? Node::Kind::null : Node::Kind::scalar;
  node.span = span;
  return node;
}

std::optional<Node> value_node(Span span, const SourceMap& sources, Diagnostics& diagnostics) {
  const std::string_view text = sources.text(span);
  const std::size_t invalid = find_invalid_utf8(text);
  if (invalid != std::string_view::npos) {
    diagnostics.error(Span{span.source, span.offset + invalid, 1}, "the text is not UTF-8");
    return std::nullopt;
  }
  if (!text.empty() && std::string_view("[{\"'").find(text[0]) != std::string_view::npos) {
    return parse_yaml(span, sources, diagnostics);
  }
  return scalar_node(span, sources);
}

bool set_value(Node& root, std::string_view path, Node value, Span key, Diagnostics& diagnostics) {
  const std::optional<std::vector<PathPart>> parts = split_path(path);
  if (!parts || parts->size() > longest_path) {
    diagnostics.error(key, backquoted(path) + " is not a path of keys",
                      parts ? "too many parts" : "an empty part or an open quote",
                      "for example `cluster.inter.bandwidth` or `compress.0.rank`");
    return false;
  }
  Node* node = &root;
  Span span = key;
  for (const PathPart& part : *parts) {
    span = key.length == path.size() ? part_span(key, part) : key;  // else an option is there
    node = child(*node, part, span, diagnostics);
    if (node == nullptr) {
      return false;
    }
  }
  if (value.kind == Node::Kind::null) {
    value.span = key;
  }
  *node = std::move(value);
  return true;
}

bool apply_override(Node& root, int argument, std::string_view setting, SourceMap& sources,
                    Diagnostics& diagnostics) {
  const std::size_t source =
      sources.add_argument(argument, std::string(option) + std::string(setting));
  const std::size_t equals = find_equals(setting);
  if (equals == std::string_view::npos || equals == 0) {
    diagnostics.error(Span{source, option.size(), setting.size()},
                      "`--set` needs a key and a value",
                      equals == 0 ? "no key before `=`" : "no `=` in it",
                      "for example `--set cluster.inter.bandwidth='200 Gb/s'`");
    return false;
  }
  std::size_t first = equals + 1;
  while (first < setting.size() && setting[first] == ' ') {
    ++first;
  }
  const Span value_span{source, option.size() + first, setting.size() - first};
  const std::size_t errors = diagnostics.error_count();
  std::optional<Node> value = value_node(value_span, sources, diagnostics);
  const Span key{source, option.size(), equals};
  return value && errors == diagnostics.error_count() &&
         set_value(root, setting.substr(0, equals), std::move(*value), key, diagnostics);
}

}  // namespace payoff
