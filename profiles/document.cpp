// SPDX-License-Identifier: Apache-2.0
#include "profiles/document.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

namespace payoff {
namespace {

template <class NodeType>
auto* find_in(NodeType& node, std::string_view key) {
  const auto found = std::find_if(node.entries.begin(), node.entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == node.entries.end() ? nullptr : &*found;
}

}  // namespace

const Entry* Node::find(std::string_view key) const { return find_in(*this, key); }
Entry* Node::find(std::string_view key) { return find_in(*this, key); }

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return backquoted(node.text);
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a mapping";
  }
  return {};
}

std::optional<Document> load_yaml_text(std::string name, std::string text, SourceMap& sources,
                                       Diagnostics& diagnostics) {
  if (text.starts_with(byte_order_mark)) {
    text.erase(0, byte_order_mark.size());
  }
  const std::size_t length = text.size();
  if (length > largest_file) {
    const std::size_t source = sources.add_file(std::move(name), std::string());
    diagnostics.error(Span{source, 0, 0}, "the file is larger than 1 MiB",
                      std::to_string(length) + " bytes");
    return std::nullopt;
  }
  const std::size_t source = sources.add_file(std::move(name), std::move(text));
  if (const std::shared_ptr<const Node> before = sources.tree(source)) {
    return Document{*before, source};
  }
  const auto found = [&diagnostics] {
    return diagnostics.error_count() + diagnostics.count(Severity::warning);
  };
  const std::size_t found_before = found();
  std::optional<Node> root = parse_yaml({source, 0, length}, sources, diagnostics);
  if (!root) {
    return std::nullopt;
  }
  if (root->kind == Node::Kind::null) {
    root->span.source = source;  // of an empty text no event told a place
  }
  if (found() == found_before) {
    sources.keep_tree(source, std::make_shared<const Node>(*root));
  }
  return Document{std::move(*root), source};
}

std::string read_at_most(std::istream& stream, std::size_t largest) {
  std::string text;
  // Most files are small, and are not worth a whole buffer of the largest size.
  for (std::size_t room = std::size_t{16} * 1024; stream && text.size() <= largest; room *= 2) {
    const std::size_t had = text.size();
    text.resize(std::min(had + room, largest + 1));
    stream.read(text.data() + had, static_cast<std::streamsize>(text.size() - had));
    text.resize(had + static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

std::string read_text_file(const std::string& path, std::size_t largest) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text = read_at_most(file, largest);
  if (!file.is_open() || file.bad()) {
    const int code = errno;
    throw std::runtime_error("cannot read " + backquoted(path) +
                             (code != 0 ? ": " + std::string(std::strerror(code)) : ""));
  }
  return text;
}

std::optional<Document> load_yaml_file(const std::string& path, SourceMap& sources,
                                       Diagnostics& diagnostics) {
  if (const auto before = sources.file(path); before && sources.tree(*before)) {
    return Document{*sources.tree(*before), *before};
  }
  return load_yaml_text(path, read_text_file(path), sources, diagnostics);
}

std::string join_path(std::string_view path, std::string_view key) {
  std::string result(path);
  if (!result.empty()) {
    result += '.';
  }
  if (!key.empty() && key.find_first_of(".\"") == std::string_view::npos) {
    return result += key;
  }
  result += '"';
  for (const char c : key) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result += '"';
}

std::optional<std::vector<PathPart>> split_path(std::string_view path) {
  std::vector<PathPart> parts(1);
  bool inside = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '.' && !inside) {
      parts.push_back({{}, i + 1, 0});
      continue;
    }
    ++parts.back().length;
    if (inside && c == '\\' && i + 1 < path.size()) {
      parts.back().key += path[++i];
      ++parts.back().length;
    } else if (c == '"') {
      inside = !inside;
    } else {
      parts.back().key += c;
    }
  }
  const bool has_empty = std::any_of(parts.begin(), parts.end(),
                                     [](const PathPart& part) { return part.length == 0; });
  return inside || has_empty ? std::nullopt : std::optional(std::move(parts));
}

}  // namespace payoff
