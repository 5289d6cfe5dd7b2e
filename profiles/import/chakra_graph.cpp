// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/chakra_graph.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace payoff::import_detail {
namespace {

using Json = nlohmann::json;

std::string entry_of(const ChakraNode& node) { return fmt::format("node {}", node.id); }

using Places = std::vector<std::pair<std::uint64_t, std::size_t>>;  // of ids, sorted

Places places_of(ChakraTrace& trace) {
  Places places;
  places.reserve(trace.nodes.size());
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    places.emplace_back(trace.nodes[i].id, i);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i].first == places[i - 1].first) {
      const ChakraNode& first = trace.nodes[places[i - 1].second];
      const ChakraNode& again = trace.nodes[places[i].second];
      reject(trace, again.offset, entry_of(again),
             fmt::format("the id is that of the node at byte {}, too", first.offset));
    }
  }
  return places;
}

void find_what_it_waits_for(ChakraTrace& trace, const Places& places, ChakraNode& node) {
  std::sort(node.ids.begin(), node.ids.end());
  node.ids.erase(std::unique(node.ids.begin(), node.ids.end()), node.ids.end());
  for (const std::uint64_t id : node.ids) {
    const auto found =
        std::lower_bound(places.begin(), places.end(), std::pair(id, std::size_t{0}));
    if (found != places.end() && found->first == id) {
      node.waits.push_back(found->second);
    } else {
      reject(trace, node.offset, entry_of(node),
             fmt::format("depends on node {}, which the file does not have", id));
    }
  }
}

// From one that is left, back along what is left, until a node comes again.
std::string cycle_text(const ChakraTrace& trace, const std::vector<int>& left, std::size_t from) {
  std::vector<std::size_t> way;
  std::vector<bool> seen(trace.nodes.size());
  std::size_t at = from;
  while (!seen[at]) {
    seen[at] = true;
    way.push_back(at);
    const std::vector<std::size_t>& waits = trace.nodes[at].waits;
    at = *std::find_if(waits.begin(), waits.end(), [&](std::size_t on) { return left[on] > 0; });
  }
  const auto begin = std::find(way.begin(), way.end(), at);
  constexpr std::ptrdiff_t few = 8;
  std::string text;
  for (auto each = begin; each != way.end() && each - begin < few; ++each) {
    text += fmt::format("{} waits for ", trace.nodes[*each].id);
  }
  return text + (way.end() - begin > few ? "... for " : "") + std::to_string(trace.nodes[at].id);
}

// Of those that wait for nothing more, the one that began first; where no times are told, the one
// that the file has first.
void put_in_order(ChakraTrace& trace) {
  const std::size_t count = trace.nodes.size();
  std::vector<int> left(count);
  std::vector<std::vector<std::size_t>> followers(count);
  for (std::size_t i = 0; i < count; ++i) {
    left[i] = static_cast<int>(trace.nodes[i].waits.size());
    for (const std::size_t on : trace.nodes[i].waits) {
      followers[on].push_back(i);
    }
  }
  using Next = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (left[i] == 0) {
      ready.emplace(trace.nodes[i].start_us, i);
    }
  }
  while (!ready.empty()) {
    const std::size_t at = ready.top().second;
    ready.pop();
    trace.order.push_back(at);
    for (const std::size_t next : followers[at]) {
      if (--left[next] == 0) {
        ready.emplace(trace.nodes[next].start_us, next);
      }
    }
  }
  if (trace.order.size() < count) {
    const auto first = std::find_if(left.begin(), left.end(), [](int each) { return each > 0; });
    const auto place = static_cast<std::size_t>(first - left.begin());
    reject(trace, trace.nodes[place].offset, entry_of(trace.nodes[place]),
           "never begins: " + cycle_text(trace, left, place));
  }
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int ranks_of(const Json& group) {
  constexpr std::int64_t most = 1 << 20;
  const auto size = group.find("group_size");
  if (size != group.end() && size->is_number_unsigned() &&
      size->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) {
    return static_cast<int>(size->get<std::uint64_t>());
  }
  const auto ranks = group.find("ranks");
  return ranks != group.end() && ranks->is_array() ? static_cast<int>(ranks->size()) : 0;
}

}  // namespace

void reject(ChakraTrace& trace, std::uint64_t offset, std::string entry, std::string message) {
  if (trace.findings.size() < most_chakra_findings) {
    trace.findings.push_back({trace.file, 0, 0, fmt::format("byte {}: {}", offset, entry),
                              std::move(message), Effect::rejected});
  }
}

void join_nodes(ChakraTrace& trace) {
  const Places places = places_of(trace);
  for (ChakraNode& node : trace.nodes) {
    find_what_it_waits_for(trace, places, node);
  }
  if (trace.is_whole()) {
    put_in_order(trace);
  }
}

std::vector<ChakraGroup> groups_told(const std::string& values) {
  std::vector<ChakraGroup> groups;
  const std::size_t begin = values.find("[{");
  const std::size_t end = values.rfind("}]");
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return groups;
  }
  const Json told = Json::parse(values.substr(begin, end + 2 - begin), nullptr, false);
  if (!told.is_array()) {
    return groups;
  }
  for (const Json& each : told) {
    const std::string name = each.is_object() ? text_at(each, "pg_name") : "";
    if (!name.empty() && ranks_of(each) > 0) {
      groups.push_back({name, text_at(each, "pg_desc"), ranks_of(each)});
    }
  }
  return groups;
}

}  // namespace payoff::import_detail
