// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/diagnostics.hpp"
#include "profiles/source_map.hpp"

// A YAML text as a plain tree in which everything knows where it was written. The subset is
// smaller than YAML 1.2: one document, text keys, no anchors, aliases, tags or merge keys, and no
// key twice. Values stay texts; what they mean is decided by the reader that asks for them
// (section.hpp), so `no`, `017` and `1e3` are never guessed at.

namespace payoff {

struct Entry;

struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;            // of a scalar
  std::vector<Node> items;     // of a list
  std::vector<Entry> entries;  // of a map, in the order written
  Span span;                   // of a scalar; else of its beginning

  [[nodiscard]] const Entry* find(std::string_view key) const;
  [[nodiscard]] Entry* find(std::string_view key);
};

struct Entry {
  std::string key;
  Span key_span;
  Node value;
};

// "a mapping", "a list", "`text`", "nothing"
[[nodiscard]] std::string describe(const Node& node);

// Reads the YAML text under `span`. Everything that is wrong with it is reported; the result is
// empty when no tree could be made of it.
[[nodiscard]] std::optional<Node> parse_yaml(Span span, const SourceMap& sources,
                                             Diagnostics& diagnostics);

inline constexpr std::size_t largest_file = std::size_t{1} << 20;
inline constexpr std::size_t largest_measurements = std::size_t{256} << 20U;
// As editors and spreadsheets begin a file in UTF-8.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// What is left of a stream, cut one byte beyond `largest`: one of a device may have no end.
[[nodiscard]] std::string read_at_most(std::istream& stream, std::size_t largest);
// The bytes of a file, cut one byte beyond `largest`. Throws std::runtime_error when the file
// cannot be read.
[[nodiscard]] std::string read_text_file(const std::string& path,
                                         std::size_t largest = largest_file);

struct Document {
  Node root;
  std::size_t source = 0;
};
// Reads a whole file into `sources` and parses it. Throws std::runtime_error when the file cannot
// be read; a file above 1 MiB is refused as an error of the user's.
[[nodiscard]] std::optional<Document> load_yaml_file(const std::string& path, SourceMap& sources,
                                                     Diagnostics& diagnostics);
[[nodiscard]] std::optional<Document> load_yaml_text(std::string name, std::string text,
                                                     SourceMap& sources, Diagnostics& diagnostics);

// Paths such as `cluster.inter.bandwidth` or `compress.0.rank`. A key that holds a dot or a quote
// is written in double quotes: `clusters."p3.8xlarge".nodes`.
[[nodiscard]] std::string join_path(std::string_view path, std::string_view key);
struct PathPart {
  std::string key;
  std::size_t offset = 0;  // in the path, quotes included
  std::size_t length = 0;
};
// Nothing when the path is malformed: an empty part, or a quote that is never closed.
[[nodiscard]] std::optional<std::vector<PathPart>> split_path(std::string_view path);

}  // namespace payoff
