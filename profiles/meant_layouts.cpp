// SPDX-License-Identifier: Apache-2.0
#include "profiles/meant_layouts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiles/experiment_keys.hpp"
#include "profiles/read_layout.hpp"
#include "profiles/section.hpp"

namespace payoff {
namespace {

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& [name, value] : table) {
    names.emplace_back(name);
  }
  return names;
}

// Enough to tell what follows from a value from what does not.
std::vector<std::string> values_of(std::string_view key) {
  if (key == "zero") {
    return {"0", "1", "2", "3"};
  }
  if (key == "schedule") {
    return names_of(schedules);
  }
  if (key == "context_exchange") {
    return names_of(context_exchanges);
  }
  if (key == "dp_collective") {
    return names_of(dp_collectives);
  }
  if (key == "recompute") {
    return names_of(recomputes);
  }
  if (key == "order") {
    return {"tp-cp-dp-pp", "pp-dp-cp-tp", "dp-tp-cp-pp"};
  }
  if (key == "pair_overlap" || key == "reshard" || key == "sequence_parallel") {
    return {"true", "false"};
  }
  return {"1", "2", "3"};
}

// Keys of the layout itself: of an entry of a list, the list.
std::vector<std::string> keys_of(const std::vector<std::string>& paths) {
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    std::string key = path.substr(0, path.find('.'));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      keys.push_back(std::move(key));
    }
  }
  return keys;
}

}  // namespace

std::vector<ParallelLayout> meant_layouts(const Node& layout,
                                          const std::vector<std::string>& refused,
                                          const Cluster& cluster, bool knows_gpus,
                                          const SourceMap& sources) {
  const std::vector<std::string> keys = keys_of(refused);
  Node rest = layout;
  std::erase_if(rest.entries, [&](const Entry& entry) {
    return std::find(keys.begin(), keys.end(), entry.key) != keys.end();
  });
  // Of mistakes that what was left out brings with it nobody is told.
  const auto reading_of = [&](const Node& one) {
    Diagnostics unheard;
    Reader reader(one, sources, unheard);
    ParallelLayout result;
    read_layout(reader.root(), cluster, knows_gpus, result);
    return result;
  };
  std::vector<ParallelLayout> meant{reading_of(rest)};
  for (const std::string& key : keys) {
    for (const std::string& value : values_of(key)) {
      Node other = rest;
      Node written;
      written.kind = Node::Kind::scalar;
      written.text = value;
      written.span = layout.span;
      other.entries.push_back({key, layout.span, std::move(written)});
      meant.push_back(reading_of(other));
    }
  }
  return meant;
}

}  // namespace payoff
