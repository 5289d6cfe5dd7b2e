// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "profiles/diagnostics.hpp"
#include "profiles/document.hpp"
#include "profiles/import/by_cause.hpp"
#include "profiles/source_map.hpp"

// Typed values of a JSON tree, for readers of measurements (internal to the importers). What is
// wrong is reported at its place, with the record that it belongs to.

namespace payoff::import_detail {

class JsonValues {
 public:
  explicit JsonValues(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // What later reports are about: "benchmark copy, state 3"; empty: nothing in particular.
  void set_record(std::string record) { record_ = std::move(record); }

  // From now on what is wrong with many records alike is one error, at the first of them; what was
  // found is reported by tell_causes().
  void group_causes(const SourceMap& sources) { causes_.emplace(sources); }
  void tell_causes();

  // From now on a number in quotes is wrong: it is a text.
  void take_bare_numbers() { bare_numbers_ = true; }

  void wrong(Span span, const std::string& message, std::string label = {});
  [[nodiscard]] std::size_t problems() const { return problems_; }  // told as wrong
  void doubtful(Span span, const std::string& message, std::string label = {});

  // The value of a key of a mapping, of the kind that is wanted; null where it is absent.
  const Node* find(const Node& map, std::string_view key, Node::Kind kind, bool needed);
  std::string text(const Node& map, std::string_view key, bool needed = true);
  // After the keys that a mapping has to have were looked for: reports every one that is none of
  // these, but for one that is told already as what a missing key was meant to be.
  void refuse_others(const Node& map, std::span<const std::string_view> known);
  // The smallest one where it cannot be read or is beyond the limits.
  double number_of(const Node& node, std::string_view what, double smallest,
                   double largest = std::numeric_limits<double>::max());
  double number(const Node& map, std::string_view key, double smallest, bool needed = true,
                double largest = std::numeric_limits<double>::max());

  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }

 private:
  [[nodiscard]] std::string about(const std::string& message) const;
  void report_missing(const Node& map, std::string_view key);

  Diagnostics& diagnostics_;
  std::string record_;
  std::size_t problems_{};
  std::set<const Entry*> misspelt_;  // told as what a missing key was meant to be
  bool bare_numbers_ = false;
  std::optional<ByCause> causes_;  // none: causes are not grouped
};

// Throws std::runtime_error where the file cannot be read or is larger than 256 MiB.
[[nodiscard]] std::string read_measurements(const std::filesystem::path& path);

}  // namespace payoff::import_detail
