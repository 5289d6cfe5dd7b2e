// SPDX-License-Identifier: Apache-2.0
#include "profiles/section.hpp"

#include <algorithm>

#include "profiles/section_state.hpp"
#include "profiles/suggest.hpp"

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
    sections.push_back({&node, path, anchor, parent, {}, {}, {}, {}});
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
    for (const Entry& entry : state_->node->entries) {
      state_->ask(entry.key);
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

std::optional<Span> Value::span() const {
  if (node_ == nullptr) {
    return std::nullopt;
  }
  return node_->kind == Node::Kind::null ? key_span_ : node_->span;
}

bool Value::is_section() const { return node_ != nullptr && node_->kind == Node::Kind::map; }
bool Value::is_list() const { return node_ != nullptr && node_->kind == Node::Kind::list; }

bool Value::is_empty() const {
  if (keys_ != nullptr) {
    keys_->empty = true;
  }
  return node_ != nullptr && node_->kind == Node::Kind::null;
}

void Value::error(const std::string& message, const std::string& label,
                  const std::string& help) const {
  if (node_ != nullptr) {
    reader_->refused.push_back(path_);
    reader_->diagnostics->error(span(), "`" + path_ + "` " + message, label, help);
  }
}

void Value::wrong_kind(std::string_view wanted, const std::string& help) const {
  const Node& node = *content();
  if (node.kind == Node::Kind::null) {
    error("has no value", "nothing after the colon", "write " + std::string(wanted));
  } else {
    error("is not " + std::string(wanted), "this is " + describe(node), help);
  }
}

Section Value::section(const std::string& help) const {
  Section result;
  result.reader_ = reader_;
  result.path_ = path_;
  result.keys_ = keys_;
  if (keys_ != nullptr) {
    keys_->section = true;
  }
  if (node_ == nullptr) {
    return result;
  }
  if (node_->kind != Node::Kind::map) {
    wrong_kind("a section", help);
    return result;
  }
  result.state_ = reader_->open(*node_, path_, key_span_, section_, keys_);
  return result;
}

std::vector<Value> Value::list() const {
  std::vector<Value> result;
  if (keys_ != nullptr) {
    keys_->list = true;
  }
  if (node_ == nullptr) {
    return result;
  }
  const Node* node = content();
  if (node->kind != Node::Kind::list) {
    wrong_kind("a list");
    return result;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    Value item = *this;
    item.node_ = &node->items[i];
    item.key_span_ = item.node_->span;
    item.path_ = join_path(path_, std::to_string(i));
    item.keys_ = keys_ == nullptr ? nullptr : keys_->of_items();
    result.push_back(std::move(item));
  }
  return result;
}

std::optional<std::string> Value::scalar_for(std::string_view wanted) const {
  if (node_ == nullptr) {
    return std::nullopt;
  }
  const Node* node = content();
  if (node->kind != Node::Kind::scalar) {
    wrong_kind(wanted);
    return std::nullopt;
  }
  return node->text;
}

std::string Value::text(std::string_view fallback) const {
  if (keys_ != nullptr) {
    keys_->text = true;
  }
  return scalar_for("a text").value_or(std::string(fallback));
}

bool Value::boolean(bool fallback) const {
  if (keys_ != nullptr) {
    keys_->boolean = true;
  }
  const std::optional<std::string> written = scalar_for("`true` or `false`");
  if (written && *written != "true" && *written != "false") {
    error("is not `true` or `false`", "this is " + describe(*content()));
  }
  return written ? *written == "true" || (*written != "false" && fallback) : fallback;
}

double Value::number(const NumberRules& rules) const {
  if (keys_ != nullptr) {
    keys_->add_number({rules.min, rules.max});
  }
  const std::optional<std::string> written = scalar_for("a number");
  if (!written) {
    return rules.fallback;
  }
  const Parsed<double> parsed = parse_number(*written, {rules.min, rules.max});
  if (!parsed) {
    refuse(parsed.error);
  }
  return parsed.value.value_or(rules.fallback);
}

double Value::ratio(const RatioRules& rules) const {
  if (keys_ != nullptr) {
    keys_->add_ratio({rules.min, rules.max});
  }
  const std::optional<std::string> written = scalar_for("a ratio");
  if (!written) {
    return rules.fallback;
  }
  const Parsed<double> parsed = parse_ratio(*written, {rules.min, rules.max});
  if (!parsed) {
    refuse(parsed.error);
  }
  return parsed.value.value_or(rules.fallback);
}

std::int64_t Value::whole_number(const IntegerRules& rules) const {
  if (keys_ != nullptr) {
    keys_->add_integer({rules.min, rules.max});
  }
  const std::optional<std::string> written = scalar_for("a whole number");
  if (!written) {
    return rules.fallback;
  }
  const Parsed<std::int64_t> parsed = parse_integer(*written, {rules.min, rules.max});
  if (!parsed) {
    refuse(parsed.error);
  }
  return parsed.value.value_or(rules.fallback);
}

// An example in the form in which the value was given: an option of its own needs its value only.
std::string Value::with_key(const std::string& path, const std::string& example, Span span,
                            const SourceMap& sources) {
  if (sources.is_argument(span)) {
    const std::string& text = sources[span.source].text;
    if (text.starts_with("--set ")) {
      return "--set " + path + "='" + example + "'";
    }
    // `bandwidth=10` of an axis; what stands in a list of methods is no key with a value.
    const std::string typed = text.substr(0, std::min(text.find('='), text.size()));
    const bool is_key = typed.size() < span.offset && !path.starts_with(typed + ".");
    return (is_key && typed.find(':') == std::string::npos ? typed + "=" : "") + "'" + example +
           "'";
  }
  const std::string key = split_path(path).value_or(std::vector<PathPart>{}).back().key;
  const bool item = key.find_first_not_of("0123456789") == std::string::npos;
  return item ? example : key + ": " + example;
}

// Points at the guilty part of the scalar where the source holds the scalar letter by letter, and
// shows an example in the form in which the value was given.
void Value::refuse(const TextError& error) const {
  const Node& node = *content();
  const SourceMap& sources = *reader_->sources;
  Span span = node.span;
  for (const std::size_t opening_quote : {std::size_t{0}, std::size_t{1}}) {
    const Span inner{span.source, span.offset + opening_quote, node.text.size()};
    if (sources.text(inner) == node.text) {
      span = {inner.source, inner.offset + error.offset, error.length};
      break;
    }
  }
  std::string help = error.help;
  if (help.empty() && !error.example.empty()) {
    help = "for example `" + with_key(path_, error.example, span, sources) + "`";
  }
  reader_->refused.push_back(path_);
  reader_->diagnostics->error(span, "`" + path_ + "` " + error.problem, error.label, help);
}

void Value::refuse_name(const std::string& written, const std::vector<std::string>& known) const {
  std::string list;
  for (const std::string& name : known) {
    list += (list.empty() ? "one of: " : ", ") + name;
  }
  reader_->refused.push_back(path_);
  reader_->diagnostics->error(content()->span,
                              "`" + path_ + "` has the unknown value " + backquoted(written),
                              did_you_mean(closest(written, known)), list);
}

}  // namespace payoff
