// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"
#include "profiles/source_map.hpp"

// A JSON text as the tree that parse_yaml() gives, every value with its place. For files of
// measurements, which are larger than what a reader of YAML takes in reasonable time.

namespace payoff {

// Nothing, after an error at its place, where the text is no JSON or has a key twice.
[[nodiscard]] std::optional<Node> parse_json_tree(Span text, const SourceMap& sources,
                                                  Diagnostics& diagnostics);

// The same for measurements, where NaN and Infinity stand for a time that is none: each is an error
// at its place, and the tree goes on behind it with a node of which is_told() holds, so that the
// rest of the file is judged in the same run.
[[nodiscard]] std::optional<Node> parse_measured_tree(Span text, const SourceMap& sources,
                                                      Diagnostics& diagnostics);

// No number of JSON, and reported as such.
[[nodiscard]] bool is_told(const Node& node);

// A scalar of one of these trees that was written as a text: its place holds the quotes.
[[nodiscard]] bool is_quoted(const Node& node);

}  // namespace payoff
