// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// The texts that errors can point into: files, and arguments of the command line. A Span is a
// range of bytes in one of them; lines and columns are computed only when something is printed.

namespace payoff {

struct Node;       // profiles/document.hpp
struct KeyRecord;  // profiles/key_record.hpp

struct Span {
  std::size_t source = 0;  // as given out by SourceMap
  std::size_t offset = 0;  // in bytes
  std::size_t length = 0;

  bool operator==(const Span&) const = default;
};

struct Source {
  std::string name;  // of the file; for an argument "argument 3"
  std::string text;
  std::optional<int> argument = std::nullopt;  // its place on the command line, when it is one
  bool users_own = false;  // its numbers need no citation: arguments, and experiment files
};

// For people and editors: counted from 1, in characters, not bytes.
struct Location {
  std::string name;
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t length = 0;  // never beyond the end of the line
  std::string_view line_text;
  std::size_t line_offset = 0;  // of the guilty part in the line, in bytes
  std::size_t line_length = 0;  // of the guilty part in the line, in bytes
};

class SourceMap {
 public:
  // The same text under the same name is one source, so that a file that is read twice is wrong
  // once.
  [[nodiscard]] std::size_t add_file(std::string name, std::string text);
  [[nodiscard]] std::size_t add_argument(int index, std::string text);
  // A file that was read before: one run sees one version of it.
  [[nodiscard]] std::optional<std::size_t> file(std::string_view name) const;

  // What a text was read as, so that a file that is read again is not parsed again. Of texts with
  // nothing wrong in them.
  void keep_tree(std::size_t source, std::shared_ptr<const Node> tree) {
    trees_[source] = std::move(tree);
  }
  [[nodiscard]] std::shared_ptr<const Node> tree(std::size_t source) const {
    const auto found = trees_.find(source);
    return found == trees_.end() ? nullptr : found->second;
  }

  // From now on, what readers ask of this text is noted. The record has to outlive its readers.
  void record_keys(std::size_t source, KeyRecord& record) { records_[source] = &record; }
  [[nodiscard]] KeyRecord* recorded_keys(std::size_t source) const {
    const auto found = records_.find(source);
    return found == records_.end() ? nullptr : found->second;
  }

  void mark_users_own(std::size_t source) { sources_[source].users_own = true; }

  [[nodiscard]] const Source& operator[](std::size_t source) const { return sources_[source]; }
  [[nodiscard]] std::size_t size() const { return sources_.size(); }
  [[nodiscard]] bool is_argument(Span span) const {
    return sources_[span.source].argument.has_value();
  }
  [[nodiscard]] bool is_users_own(Span span) const { return sources_[span.source].users_own; }

  // A span beyond the end of its text is moved to the end.
  [[nodiscard]] Location locate(Span span) const;
  [[nodiscard]] std::string_view text(Span span) const;
  // "cluster.yaml:7:5" or "argument 3"
  [[nodiscard]] std::string place(Span span) const;

 private:
  std::deque<Source> sources_;  // views into a text stay valid when others are added
  std::map<std::size_t, std::shared_ptr<const Node>> trees_;
  std::map<std::size_t, KeyRecord*> records_;
};

// The number of characters in a UTF-8 text; stray bytes count as one each.
[[nodiscard]] std::size_t count_characters(std::string_view text);
// Where the first byte stands that is not part of valid UTF-8, or npos.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text);
// The length of the character that starts the text: 1 to 4 bytes.
[[nodiscard]] std::size_t character_length(std::string_view text);

}  // namespace payoff
