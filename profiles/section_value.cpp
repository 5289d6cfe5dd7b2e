// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "profiles/section.hpp"
#include "profiles/section_state.hpp"
#include "profiles/suggest.hpp"

namespace payoff {

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
  reader_->refused.push_back(path_);
  reader_->diagnostics->error(content()->span,
                              "`" + path_ + "` has the unknown value " + backquoted(written),
                              did_you_mean(closest(written, known)), "one of: " + listed(known));
}

}  // namespace payoff
