// SPDX-License-Identifier: Apache-2.0
#include "profiles/positions.hpp"

namespace payoff {
namespace {

// `a[0].b` as `a.0.b`.
std::string with_dots(std::string_view path) {
  std::string result;
  for (const char c : path) {
    if (c == '[') {
      result += '.';
    } else if (c != ']') {
      result += c;
    }
  }
  return result;
}

}  // namespace

void PositionMap::add(std::string_view path, Span span) {
  spans_.try_emplace(std::string(path), span);
}

void PositionMap::add(std::string_view path, const Node& node) {
  if (node.kind == Node::Kind::scalar || node.kind == Node::Kind::null || path.empty()) {
    add(path, node.span);
  }
  for (const Entry& entry : node.entries) {
    const std::string below = join_path(path, entry.key);
    const bool is_section =
        entry.value.kind == Node::Kind::map || entry.value.kind == Node::Kind::list;
    if (is_section) {
      add(below, entry.key_span);  // the name of a section says more than its first line
    }
    add(below, entry.value);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string below = join_path(path, std::to_string(i));
    add(below, node.items[i].span);
    add(below, node.items[i]);
  }
}

std::optional<Span> PositionMap::at(std::string_view path) const {
  const auto found = spans_.find(with_dots(path));
  return found == spans_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Span> PositionMap::find(std::string_view path) const {
  std::string key = with_dots(path);
  for (;;) {
    if (const auto found = at(key)) {
      return found;
    }
    if (key.empty()) {
      return std::nullopt;
    }
    const std::size_t dot = key.rfind('.');
    key.resize(dot == std::string::npos ? 0 : dot);
  }
}

void report(const Problems& problems, const PositionMap& positions, Diagnostics& diagnostics) {
  for (const Problem& problem : problems) {
    const std::string subject = problem.path.empty() ? std::string() : "`" + problem.path + "`: ";
    diagnostics.error(positions.find(problem.path), subject + problem.message, {}, problem.help);
  }
}

}  // namespace payoff
