// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/unit_tables.hpp"
#include "model/units_text.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"
#include "profiles/fact.hpp"
#include "profiles/key_record.hpp"
#include "profiles/quantity_range.hpp"

// The typed reader of documents. Values are asked for by key and type; whatever is wrong is
// reported with its place, and reading goes on with the fallback, so that one run finds all errors:
//
//   Reader reader(document.root, sources, diagnostics);
//   const Section root = reader.root();
//   gpu.memory = root.required("memory").sourced().quantity<Bytes>();
//   gpu.nodes = root.optional("nodes").integer<int>({.fallback = 1, .min = 1});
//   for (const Value& item : root.optional("nics").list()) { read_nic(item.section()); }
//   reader.finish();  // reports keys that nobody asked for, and missing ones
//
// A required value that is missing, and everything below it, reads as its fallback without further
// complaint. Sections and values must not outlive their reader, the reader not its document.
//
// A number may be written plainly or with its source: `{value: 80 GB, from: ds, sd: 2 %, range:
// "above 1 MiB"}`, where `from` names an entry of the document's top-level `citations` map
// (`ds: {kind: datasheet, text: "...", date: 2026-11-21, url: ...}`). A section may carry one
// `from` for all values below it. What came from the command line or from a file that is marked as
// the user's own (SourceMap::mark_users_own) needs no source: it counts as `assumed`.

namespace payoff {

struct IntegerRules {
  std::int64_t fallback = 0;
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

struct NumberRules {
  double fallback = 0.0;
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
};

struct RatioRules {
  double fallback = 0.0;
  double min = 0.0;
  double max = 1.0;
};

template <class Q>
struct QuantityRules {
  Q fallback{};
  Sign sign = Sign::non_negative;
  const QuantityRange<Q>* range = nullptr;
};

namespace detail {
struct ReaderState;
struct SectionState;
}  // namespace detail

class Section;

class Value {
 public:
  // Whether it was written at all.
  explicit operator bool() const { return node_ != nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::optional<Span> span() const;
  [[nodiscard]] Span key_span() const { return key_span_; }
  [[nodiscard]] bool is_section() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_empty() const;  // nothing after the colon, which is no mistake here

  // The same value, which now must say where it comes from; leaves a Fact in the reader.
  [[nodiscard]] Value sourced() const;

  [[nodiscard]] std::string text(std::string_view fallback = {}) const;
  [[nodiscard]] bool boolean(bool fallback = false) const;
  [[nodiscard]] double number(const NumberRules& rules = {}) const;
  [[nodiscard]] double ratio(const RatioRules& rules = {}) const;

  template <class T = std::int64_t>
  [[nodiscard]] T integer(IntegerRules rules = {}) const {
    // The range of the type bounds the range asked for, so the conversion is exact.
    const IntegerRange type{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    rules.min = std::max(rules.min, type.min);
    rules.max = std::min(rules.max, type.max);
    return static_cast<T>(whole_number(rules));
  }

  template <class Q>
  [[nodiscard]] Q quantity(const QuantityRules<Q>& rules = {}) const {
    if (keys_ != nullptr) {
      keys_->add_quantity(*detail::dimension_of<Q>);
    }
    const std::optional<std::string> written = scalar_for("a quantity with a unit");
    if (!written) {
      return rules.fallback;
    }
    const Parsed<Q> parsed = parse_quantity<Q>(*written, rules.sign);
    if (!parsed) {
      refuse(parsed.error);
    } else if (const auto error = rules.range != nullptr
                                      ? out_of_range(*rules.range, *parsed, *written)
                                      : std::nullopt) {
      refuse(*error);
      return rules.fallback;
    }
    return parsed.value.value_or(rules.fallback);
  }

  // `names` is any range of pairs {name, value}; the first pair of a value is its usual name.
  template <class Table>
  [[nodiscard]] auto choice(const Table& names,
                            typename Table::value_type::second_type fallback = {}) const {
    if (keys_ != nullptr) {
      for (const auto& [name, value] : names) {
        keys_->add_names({std::string(name)});
      }
    }
    const std::optional<std::string> written = scalar_for("a name");
    if (!written) {
      return fallback;
    }
    std::vector<std::string> known;
    for (const auto& [name, value] : names) {
      if (name == *written) {
        return value;
      }
      known.emplace_back(name);
    }
    refuse_name(*written, known);
    return fallback;
  }

  // `help` says how a scalar that stands there would be written as a section.
  [[nodiscard]] Section section(const std::string& help = {}) const;
  [[nodiscard]] std::vector<Value> list() const;

  // The text names an entry of `citations`, on which `what` rests: leaves a Fact without a number.
  void cited(std::string_view what) const;

  // Reports something that only the caller can know: "`path` MESSAGE".
  void error(const std::string& message, const std::string& label = {},
             const std::string& help = {}) const;
  // The same about a part of the text, found by a parser that knows no files.
  void refuse(const TextError& error) const;

 private:
  friend class Section;
  friend class Reader;

  [[nodiscard]] std::int64_t whole_number(const IntegerRules& rules) const;
  [[nodiscard]] std::optional<std::string> scalar_for(std::string_view wanted) const;
  [[nodiscard]] const Node* content() const;
  [[nodiscard]] static std::string with_key(const std::string& path, const std::string& example,
                                            Span span, const SourceMap& sources);
  void wrong_kind(std::string_view wanted, const std::string& help = {}) const;
  void refuse_name(const std::string& written, const std::vector<std::string>& known) const;

  detail::ReaderState* reader_ = nullptr;
  detail::SectionState* section_ = nullptr;  // the one that holds it
  const Node* node_ = nullptr;
  Span key_span_;
  std::string path_;
  KeyRecord* keys_ = nullptr;  // null: nobody wants to know what is asked for
};

class Section {
 public:
  explicit operator bool() const { return state_ != nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] Value required(std::string_view key) const;
  [[nodiscard]] Value optional(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;

  // Every entry, for maps whose keys are names. Counts them all as asked for.
  [[nodiscard]] std::vector<std::pair<std::string, Value>> entries() const;

  // Asks for nothing, but answers a foreign spelling with ours when it turns up.
  void known_elsewhere_as(std::string_view foreign, std::string_view ours) const;

  void error(const std::string& message, const std::string& label = {},
             const std::string& help = {}) const;

 private:
  friend class Value;
  friend class Reader;

  [[nodiscard]] Value value_of(const Entry& entry, KeyRecord* keys) const;

  detail::ReaderState* reader_ = nullptr;
  detail::SectionState* state_ = nullptr;  // null when the section is absent
  std::string path_;
  KeyRecord* keys_ = nullptr;
};

class Reader {
 public:
  // `path` is what comes before every path, when the document is a part of a larger one.
  Reader(const Node& root, const SourceMap& sources, Diagnostics& diagnostics,
         std::string path = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  // Reports when the document is not a mapping; the section is then absent.
  [[nodiscard]] Section root();

  // Reports unknown and missing keys of every section that was opened. Call it once, at the end.
  void finish();

  [[nodiscard]] const Facts& facts() const;

  // After finish(): whether the section has no unknown and no missing keys, nor the root.
  [[nodiscard]] bool keys_are_right(std::string_view path) const;
  // In the section alone, not in those below it.
  [[nodiscard]] bool own_keys_are_right(std::string_view path) const;
  // After finish(): the paths of what was refused, or is missing or misspelt, so that it was read
  // as its fallback. Those below `path`, without it.
  [[nodiscard]] std::vector<std::string> refused(std::string_view path = {}) const;

 private:
  std::unique_ptr<detail::ReaderState> state_;
};

}  // namespace payoff
