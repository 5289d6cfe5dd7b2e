// SPDX-License-Identifier: Apache-2.0
#include "profiles/section.hpp"

#include <algorithm>

#include "profiles/section_state.hpp"

namespace payoff {

using detail::ReaderState;
using detail::SectionState;

void SectionState::ask(std::string_view key) {
  if (std::find(asked.begin(), asked.end(), key) == asked.end()) {
    asked.emplace_back(key);
  }
}

SectionState* ReaderState::open(const Node& node, const std::string& path, Span anchor,
                                SectionState* parent, KeyRecord* keys) {
  SectionState*& known = section_of[&node];
  if (known == nullptr) {
    if (keys != nullptr) {
      ++keys->opened;
    }
    sections.push_back({&node, path, anchor, parent, {}, false, {}, {}, {}});
    known = &sections.back();
    if (node.find("from") != nullptr && !detail::is_sourced_mapping(node)) {
      known->ask("from");  // the source of all values below
    }
  }
  return known;
}

Reader::Reader(const Node& root, const SourceMap& sources, Diagnostics& diagnostics,
               std::string path)
    : state_(std::make_unique<ReaderState>()) {
  state_->root_path = std::move(path);
  state_->root = &root;
  state_->sources = &sources;
  state_->diagnostics = &diagnostics;
}

Reader::~Reader() = default;

Section Reader::root() {
  Section result;
  result.reader_ = state_.get();
  result.path_ = state_->root_path;
  const Node& root = *state_->root;
  result.keys_ = state_->sources->recorded_keys(root.span.source);
  if (result.keys_ != nullptr) {
    result.keys_->section = true;
  }
  if (root.kind != Node::Kind::map) {
    const bool empty = root.kind == Node::Kind::null;
    state_->diagnostics->error(
        root.span, empty ? "the document is empty" : "the document is not a mapping",
        empty ? "" : "this is " + describe(root), "write it as `key: value` lines");
    return result;
  }
  result.state_ = state_->open(root, state_->root_path, root.span, nullptr, result.keys_);
  if (!state_->citations_read) {
    state_->citations_read = true;
    state_->read_citations(result);
  }
  return result;
}

const Facts& Reader::facts() const { return state_->facts; }

Value Section::value_of(const Entry& entry, KeyRecord* keys) const {
  Value value;
  value.reader_ = reader_;
  value.section_ = state_;
  value.node_ = &entry.value;
  value.key_span_ = entry.key_span;
  value.path_ = join_path(path_, entry.key);
  value.keys_ = keys;
  return value;
}

Value Section::optional(std::string_view key) const {
  KeyRecord* const keys = keys_ == nullptr ? nullptr : keys_->key(key);
  if (state_ != nullptr) {
    state_->ask(key);
    if (const Entry* entry = state_->node->find(key)) {
      return value_of(*entry, keys);
    }
  }
  Value absent;
  absent.reader_ = reader_;
  absent.path_ = join_path(path_, key);
  absent.keys_ = keys;
  return absent;
}

Value Section::required(std::string_view key) const {
  Value value = optional(key);
  if (state_ != nullptr && !value) {
    state_->missing.emplace_back(key);
  }
  if (state_ != nullptr && keys_ != nullptr &&
      std::find(state_->required.begin(), state_->required.end(), key) == state_->required.end()) {
    state_->required.emplace_back(key);
    ++keys_->key(key)->required;
  }
  return value;
}

bool Section::has(std::string_view key) const {
  return state_ != nullptr && state_->node->find(key) != nullptr;
}

std::vector<std::pair<std::string, Value>> Section::entries() const {
  std::vector<std::pair<std::string, Value>> result;
  KeyRecord* of_entries = keys_ == nullptr ? nullptr : keys_->of_entries();
  if (state_ != nullptr) {
    state_->keys_are_names = true;
    for (const Entry& entry : state_->node->entries) {
      result.emplace_back(entry.key, value_of(entry, of_entries));
    }
  }
  return result;
}

void Section::known_elsewhere_as(std::string_view foreign, std::string_view ours) const {
  if (state_ != nullptr) {
    state_->foreign.emplace_back(foreign, ours);
  }
}

void Section::error(const std::string& message, const std::string& label,
                    const std::string& help) const {
  if (state_ != nullptr) {
    const std::string subject = path_.empty() ? "the document" : "`" + path_ + "`";
    reader_->diagnostics->error(state_->anchor, subject + " " + message, label, help);
  }
}

}  // namespace payoff
