// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/units_text.hpp"

// The keys of a kind of document, noted by its own reader while it reads (SourceMap::record_keys):
// which keys it asks for, and as what. A schema that is made of this cannot differ from the reader
// (key_schema.hpp).

namespace payoff {

namespace detail {
struct Dimension;
}

struct KeyRecord {
  // The forms that the value may have; none: whatever stands there is not looked at.
  bool text{};
  bool boolean{};
  bool empty{};  // nothing after the colon
  bool section{};
  bool list{};
  std::optional<IntegerRange> integer;
  std::optional<NumberRange> number;
  std::optional<NumberRange> ratio;
  std::vector<const detail::Dimension*> quantities;
  std::vector<std::string> names;  // one of these

  // Of a section, in the order asked for; of a section whose keys are names, and of a list.
  std::vector<std::pair<std::string, std::unique_ptr<KeyRecord>>> keys;
  std::unique_ptr<KeyRecord> entry;
  std::unique_ptr<KeyRecord> item;

  // A key is required where it was in every section that was opened.
  std::size_t opened{};
  std::size_t required{};

  [[nodiscard]] KeyRecord* key(std::string_view name);
  [[nodiscard]] const KeyRecord* find(std::string_view name) const;
  [[nodiscard]] KeyRecord* of_entries();
  [[nodiscard]] KeyRecord* of_items();
  void add_integer(IntegerRange range);
  void add_number(NumberRange range);
  void add_ratio(NumberRange range);
  void add_quantity(const detail::Dimension& dimension);
  void add_names(const std::vector<std::string>& more);
};

// The same with all of `more`, as if one reader had asked for both.
void join(KeyRecord& into, KeyRecord&& more);

}  // namespace payoff
