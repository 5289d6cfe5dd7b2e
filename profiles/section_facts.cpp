// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "profiles/section_state.hpp"
#include "profiles/suggest.hpp"

// Where numbers come from: the `citations` of a document, and the `from` of its values.

namespace payoff {
namespace {

using detail::Citation;
using detail::ReaderState;
using detail::SectionState;

constexpr std::array provenances = {
    std::pair{name_of(Provenance::measured), Provenance::measured},
    std::pair{name_of(Provenance::published), Provenance::published},
    std::pair{name_of(Provenance::datasheet), Provenance::datasheet},
    std::pair{name_of(Provenance::assumed), Provenance::assumed},
};

// 2026, 2026-11 or 2026-11-21.
bool is_date(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-dd";
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) {
    return false;
  }
  const auto number = [&](std::size_t first) { return text.substr(first, 2); };
  const bool shaped = std::equal(text.begin(), text.end(), form.begin(), [](char c, char f) {
    return f == 'd' ? c >= '0' && c <= '9' : c == f;
  });
  return shaped && (text.size() < 7 || (number(5) >= "01" && number(5) <= "12")) &&
         (text.size() < 10 || (number(8) >= "01" && number(8) <= "31"));
}

std::string read_date(const Value& value) {
  std::string date = value.text();
  if (value && !date.empty() && !is_date(date)) {
    value.error("is not a date", "write the year first", "for example `date: 2026-11-21`");
  }
  return date;
}

Citation read_citation(const Value& value) {
  Citation citation;
  if (!value.is_section()) {  // a reference in words; no number may rest on it
    citation.text = value.text();
    return citation;
  }
  const Section section = value.section();
  citation.kind = section.required("kind").choice(provenances, Provenance::assumed);
  citation.text = section.required("text").text();
  citation.url = section.optional("url").text();
  const bool dated = citation.kind != Provenance::assumed;
  citation.date = read_date(dated ? section.required("date") : section.optional("date"));
  return citation;
}

std::string written_text(const Node& node) {
  if (node.kind == Node::Kind::scalar) {
    return node.text;
  }
  std::string text = "[";
  for (const Node& item : node.items) {
    text += (text.size() > 1 ? ", " : "") + written_text(item);
  }
  return node.kind == Node::Kind::list ? text + "]" : describe(node);
}

// The `from` that holds for a value which has none of its own.
const Node* inherited_source(const SectionState* section) {
  for (; section != nullptr; section = section->parent) {
    const Entry* from = section->node->find("from");
    if (from != nullptr && from->value.kind == Node::Kind::scalar) {
      return &from->value;
    }
  }
  return nullptr;
}

// Nothing when it has no such entry; that is reported.
const Citation* find_citation(ReaderState& reader, const Node& from, const std::string& path) {
  const auto found = reader.citations.find(from.text);
  if (found == reader.citations.end()) {
    std::vector<std::string_view> known;
    if (reader.unknown_sources++ < most_suggestions) {
      for (const auto& [key, citation] : reader.citations) {
        known.emplace_back(key);
      }
    }
    reader.diagnostics->error(
        from.span, "`" + path + "` names the unknown source " + backquoted(from.text),
        did_you_mean(closest(from.text, known)), "add it to `citations` at the top of the file");
    return nullptr;
  }
  if (!found->second.kind) {
    reader.diagnostics->error(
        from.span, "the source " + backquoted(from.text) + " of `" + path + "` has no kind", {},
        "write it as `" + from.text + ": {kind: ..., text: ...}`");
    return nullptr;
  }
  return &found->second;
}

void add_citation(const Citation& citation, Fact& fact) {
  fact.kind = citation.kind.value_or(Provenance::assumed);
  fact.citation = citation.text;
  fact.date = citation.date;
  fact.url = citation.url;
}

}  // namespace

bool detail::is_sourced_mapping(const Node& node) {
  return node.kind == Node::Kind::map && node.find("value") != nullptr;
}

void ReaderState::read_citations(const Section& root_section) {
  root_section.known_elsewhere_as("citation", "citations");
  if (!root_section.has("citations")) {
    return;  // not asked for, so that help does not list it among the keys of every document
  }
  const Value all = root_section.optional("citations");
  if (all.is_section()) {
    for (const auto& [key, value] : all.section().entries()) {
      citations.emplace(key, read_citation(value));
    }
  } else {
    all.error("is not a mapping", {}, "write `citations: {name: {kind: ..., text: ...}}`");
  }
}

const Node* Value::content() const {
  if (node_ == nullptr || !detail::is_sourced_mapping(*node_)) {
    return node_;
  }
  // A source that is given is checked and kept, whether or not the caller insists on one.
  if (!reader_->paths_with_fact.contains(path_)) {
    (void)sourced();
  }
  return &node_->find("value")->value;
}

Value Value::sourced() const {
  if (node_ == nullptr || !reader_->paths_with_fact.insert(path_).second) {
    return *this;
  }
  Fact fact;
  fact.path = path_;
  const Node* from = nullptr;
  const Node* content = node_;
  if (detail::is_sourced_mapping(*node_)) {
    Value written = *this;
    written.keys_ = nullptr;  // every number may have a source
    const Section section = written.section();
    const Value inner = section.required("value");
    content = inner.node_;
    if (const Value source = section.optional("from")) {
      (void)source.text();
      from = source.node_->kind == Node::Kind::scalar ? source.node_ : nullptr;
    }
    if (const Value sd = section.optional("sd")) {
      fact.relative_sd = sd.ratio({.fallback = 0.0, .min = 0.0, .max = 10.0});
    }
    fact.range = section.optional("range").text();
  }
  fact.value_text = written_text(*content);
  // A source around a value of the user's own may be of what that value stands over.
  const bool is_own = reader_->sources->is_users_own(content->span);
  from = from != nullptr || is_own ? from : inherited_source(section_);
  if (is_own && from == nullptr) {
    fact.citation = "given in " + reader_->sources->place(content->span);
    reader_->facts.push_back(std::move(fact));
  } else if (from == nullptr) {
    error("does not say where it comes from", "a number without a source",
          "write `{value: " + fact.value_text + ", from: SOURCE}`, with SOURCE in `citations`");
  } else if (const Citation* citation = find_citation(*reader_, *from, path_)) {
    add_citation(*citation, fact);
    reader_->facts.push_back(std::move(fact));
  }
  return *this;
}

void Value::cited(std::string_view what) const {
  if (!scalar_for("the name of a citation")) {
    return;
  }
  if (const Citation* citation = find_citation(*reader_, *content(), path_)) {
    Fact fact;
    fact.path = what;
    fact.value_text = what;
    add_citation(*citation, fact);
    reader_->facts.push_back(std::move(fact));
  }
}

}  // namespace payoff
