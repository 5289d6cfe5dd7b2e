// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/section.hpp"

// What a Reader remembers while its sections are read. Private to section*.cpp.

namespace payoff::detail {

struct SectionState {
  const Node* node = nullptr;
  std::string path;
  Span anchor;                     // where to point when something is missing
  SectionState* parent = nullptr;  // for the inherited `from`
  std::vector<std::string> asked;  // keys in the order asked for
  bool keys_are_names = false;     // every key was asked for, besides those of `asked`
  std::vector<std::string> required;
  std::vector<std::string> missing;
  std::vector<std::pair<std::string, std::string>> foreign;  // their spelling, ours

  void ask(std::string_view key);
};

struct Citation {
  std::optional<Provenance> kind;  // none: a reference in words only
  std::string text;
  std::string date;
  std::string url;
};

struct ReaderState {
  const Node* root = nullptr;
  std::string root_path;
  const SourceMap* sources = nullptr;
  Diagnostics* diagnostics = nullptr;
  std::deque<SectionState> sections;
  std::map<const Node*, SectionState*> section_of;
  bool citations_read = false;
  std::map<std::string, Citation, std::less<>> citations;
  std::size_t unknown_sources = 0;  // asked for so far
  std::set<std::string, std::less<>> paths_with_fact;
  std::vector<std::string> wrong_keys;  // the paths of sections with misspelt or missing ones
  std::vector<std::string> refused;     // the paths of values that have their fallback
  Facts facts;

  SectionState* open(const Node& node, const std::string& path, Span anchor, SectionState* parent,
                     KeyRecord* keys);
  void read_citations(const Section& root);
};

// The mapping `{value: ..., from: ...}` around a value.
[[nodiscard]] bool is_sourced_mapping(const Node& node);

// Reports keys that nobody asked for and those that are missing. Returns the keys that were read as
// their fallback for that: the missing ones, and ours that unknown ones resemble.
[[nodiscard]] std::vector<std::string> report_keys(const SectionState& section,
                                                   Diagnostics& diagnostics);

}  // namespace payoff::detail
