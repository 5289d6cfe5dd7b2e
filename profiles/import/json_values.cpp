// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/json_values.hpp"

#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/import/json_tree.hpp"

namespace payoff::import_detail {
namespace {

constexpr std::size_t largest_measurements = std::size_t{256} << 20U;

}  // namespace

std::string JsonValues::about(const std::string& message) const {
  return record_.empty() ? message : record_ + ": " + message;
}

void JsonValues::wrong(Span span, const std::string& message, std::string label) {
  diagnostics_.error(span, about(message), std::move(label));
}

void JsonValues::doubtful(Span span, const std::string& message, std::string label) {
  diagnostics_.warning(span, about(message), std::move(label));
}

const Node* JsonValues::find(const Node& map, std::string_view key, Node::Kind kind, bool needed) {
  const Entry* entry = map.kind == Node::Kind::map ? map.find(key) : nullptr;
  if (entry == nullptr) {
    if (needed) {
      wrong(map.span, fmt::format("missing key `{}`", key));
    }
    return nullptr;
  }
  if (is_told(entry->value)) {
    return nullptr;
  }
  if (entry->value.kind != kind) {
    wrong(entry->value.span, fmt::format("`{}` is {}", key, describe(entry->value)));
    return nullptr;
  }
  return &entry->value;
}

std::string JsonValues::text(const Node& map, std::string_view key, bool needed) {
  const Node* node = find(map, key, Node::Kind::scalar, needed);
  return node == nullptr ? "" : node->text;
}

double JsonValues::number_of(const Node& node, std::string_view what, double smallest,
                             double largest) {
  if (is_told(node)) {
    return smallest;
  }
  const Parsed<double> parsed =
      node.kind == Node::Kind::scalar ? parse_number(node.text) : Parsed<double>{};
  if (!parsed) {
    wrong(node.span, fmt::format("`{}` is not a number", what), "this is " + describe(node));
    return smallest;
  }
  if (*parsed < smallest || *parsed > largest) {
    wrong(node.span, fmt::format("`{}` cannot be {}", what, node.text),
          *parsed < smallest ? fmt::format("at least {}", smallest)
                             : fmt::format("at most {}", largest));
    return smallest;
  }
  return *parsed;
}

double JsonValues::number(const Node& map, std::string_view key, double smallest, bool needed) {
  const Node* node = find(map, key, Node::Kind::scalar, needed);
  return node == nullptr ? smallest : number_of(*node, key, smallest);
}

std::string read_measurements(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (text.view().size() > largest_measurements) {
    throw std::runtime_error(path.string() + " is larger than 256 MiB");
  }
  return std::move(text).str();
}

}  // namespace payoff::import_detail
