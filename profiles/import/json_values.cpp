// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/json_values.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "model/units_text.hpp"
#include "profiles/document.hpp"
#include "profiles/import/json_tree.hpp"
#include "profiles/suggest.hpp"

namespace payoff::import_detail {

std::string JsonValues::about(const std::string& message) const {
  return record_.empty() ? message : record_ + ": " + message;
}

void JsonValues::wrong(Span span, const std::string& message, std::string label) {
  ++problems_;
  const std::string cause = message + '\n' + label;
  Diagnostic diagnostic{Severity::error, about(message), span, std::move(label), {}, {}};
  if (causes_) {
    causes_->add(cause, std::move(diagnostic), record_);
  } else {
    diagnostics_.add(std::move(diagnostic));
  }
}

void JsonValues::tell_causes() {
  if (causes_) {
    causes_->tell(diagnostics_);
  }
}

// At the key that is meant, where one is near.
void JsonValues::report_missing(const Node& map, std::string_view key) {
  std::vector<std::string_view> keys;
  keys.reserve(map.entries.size());
  for (const Entry& entry : map.entries) {
    keys.push_back(entry.key);
  }
  const std::string_view nearest = closest(key, keys);
  const Entry* meant = nearest.empty() ? nullptr : map.find(nearest);
  wrong(meant == nullptr ? map.span : meant->key_span, fmt::format("missing key `{}`", key),
        meant == nullptr ? "" : did_you_mean(key));
  misspelt_.insert(meant);
}

void JsonValues::refuse_others(const Node& map, std::span<const std::string_view> known) {
  for (const Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end() &&
        !misspelt_.contains(&entry)) {
      wrong(entry.key_span, "unknown key " + backquoted(entry.key),
            did_you_mean(closest(entry.key, known)));
    }
  }
}

void JsonValues::doubtful(Span span, const std::string& message, std::string label) {
  diagnostics_.warning(span, about(message), std::move(label));
}

const Node* JsonValues::find(const Node& map, std::string_view key, Node::Kind kind, bool needed) {
  const Entry* entry = map.kind == Node::Kind::map ? map.find(key) : nullptr;
  if (entry == nullptr) {
    if (needed) {
      report_missing(map, key);
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
  if (bare_numbers_ && is_quoted(node)) {
    wrong(node.span, fmt::format("`{}` is a text, not a number", what),
          fmt::format("{} without the quotes", node.text));
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

double JsonValues::number(const Node& map, std::string_view key, double smallest, bool needed,
                          double largest) {
  const Node* node = find(map, key, Node::Kind::scalar, needed);
  return node == nullptr ? smallest : number_of(*node, key, smallest, largest);
}

std::string read_measurements(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw std::runtime_error(path.string() + " is a folder, not a file of measurements");
  }
  std::string text = read_text_file(path.string(), largest_measurements);
  if (text.size() > largest_measurements) {
    throw std::runtime_error(path.string() + " is larger than 256 MiB");
  }
  return text;
}

}  // namespace payoff::import_detail
