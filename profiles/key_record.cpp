// SPDX-License-Identifier: Apache-2.0
#include "profiles/key_record.hpp"

#include <algorithm>

namespace payoff {
namespace {

template <class Range>
void widen(std::optional<Range>& known, Range range) {
  known = known ? Range{std::min(known->min, range.min), std::max(known->max, range.max)} : range;
}

template <class T>
void add_new(std::vector<T>& known, const T& value) {
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    known.push_back(value);
  }
}

KeyRecord* made(std::unique_ptr<KeyRecord>& record) {
  if (!record) {
    record = std::make_unique<KeyRecord>();
  }
  return record.get();
}

}  // namespace

KeyRecord* KeyRecord::key(std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const auto& known) { return known.first == name; });
  return found != keys.end()
             ? found->second.get()
             : keys.emplace_back(std::string(name), std::make_unique<KeyRecord>()).second.get();
}

const KeyRecord* KeyRecord::find(std::string_view name) const {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const auto& known) { return known.first == name; });
  return found == keys.end() ? entry.get() : found->second.get();
}

KeyRecord* KeyRecord::of_entries() { return made(entry); }
KeyRecord* KeyRecord::of_items() { return made(item); }

void KeyRecord::add_integer(IntegerRange range) { widen(integer, range); }
void KeyRecord::add_number(NumberRange range) { widen(number, range); }
void KeyRecord::add_ratio(NumberRange range) { widen(ratio, range); }
void KeyRecord::add_quantity(const detail::Dimension& dimension) {
  add_new(quantities, &dimension);
}
void KeyRecord::add_names(const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    add_new(names, name);
  }
}

void join(KeyRecord& into, KeyRecord&& more) {
  into.text = into.text || more.text;
  into.boolean = into.boolean || more.boolean;
  into.empty = into.empty || more.empty;
  into.section = into.section || more.section;
  into.list = into.list || more.list;
  into.opened += more.opened;
  into.required += more.required;
  if (more.integer) {
    into.add_integer(*more.integer);
  }
  if (more.number) {
    into.add_number(*more.number);
  }
  if (more.ratio) {
    into.add_ratio(*more.ratio);
  }
  for (const detail::Dimension* dimension : more.quantities) {
    into.add_quantity(*dimension);
  }
  into.add_names(more.names);
  for (auto& [name, record] : more.keys) {
    join(*into.key(name), std::move(*record));
  }
  if (more.entry) {
    join(*into.of_entries(), std::move(*more.entry));
  }
  if (more.item) {
    join(*into.of_items(), std::move(*more.item));
  }
}

}  // namespace payoff
