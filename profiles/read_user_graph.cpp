// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_user_graph.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, GraphVertexKind>, 5> switch_lists{{
    {"nics", GraphVertexKind::nic},
    {"pcie_switches", GraphVertexKind::pcie_switch},
    {"sockets", GraphVertexKind::socket},
    {"fabric_switches", GraphVertexKind::fabric_switch},
    {"routers", GraphVertexKind::router},
}};

// Vertices, links and routes of the user's own graph.
class GraphReader {
 public:
  explicit GraphReader(const Section& section) : section_(section) {}

  UserGraph read() {
    read_vertices(section_.required("gpus"), GraphVertexKind::gpu);
    graph_.gpus = graph_.vertices.size();
    for (const auto& [key, kind] : switch_lists) {
      read_vertices(section_.optional(key), kind);
    }
    for (const Value& link : section_.required("links").list()) {
      read_link(link.section("{between: [a, b], bandwidth: 25 GB/s}"));
    }
    for (const Value& route : section_.optional("routes").list()) {
      read_route(route);
    }
    return std::move(graph_);
  }

  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void read_vertices(const Value& names, GraphVertexKind kind) {
    for (const Value& value : names.list()) {
      const std::string name = value.text();
      if (!name.empty() && !ids_.emplace(name, graph_.vertices.size()).second) {
        value.error("is there already: every name stands for one thing");
        continue;
      }
      known_.push_back(name);
      graph_.vertices.push_back({name, kind});
    }
  }

  std::optional<std::size_t> find(const Value& value) {
    const std::string name = value.text();
    const auto found = ids_.find(name);
    if (found != ids_.end()) {
      return found->second;
    }
    complete_ = false;
    if (!name.empty()) {
      const bool is_slip = unknown_++ < most_suggestions;
      value.error("is in none of the lists of the graph",
                  is_slip ? did_you_mean(closest(name, known_)) : "");
    }
    return std::nullopt;
  }

  void read_link(const Section& section) {
    complete_ = complete_ && section;
    const bool one_way = section.has("from_to");
    const Value ends = one_way ? section.required("from_to") : section.required("between");
    const LinkRate one = read_rate(section);
    const int count =
        section.optional("count").integer<int>({.fallback = 1, .min = 1, .max = 1024});
    const std::vector<Value> names = ends.list();
    std::vector<std::size_t> found;
    for (const Value& name : names) {
      if (const auto id = find(name)) {
        found.push_back(*id);
      }
    }
    if (ends && names.size() != 2) {
      ends.error("has " + std::to_string(names.size()) + " names, a link two ends");
      complete_ = false;
    } else if (found.size() == 2 && found[0] == found[1]) {
      ends.error("is a link from `" + names[0].text() + "` to itself");
    } else if (found.size() == 2) {
      graph_.links.push_back({found[0], found[1], {one.bandwidth * count, one.latency}, !one_way});
    }
  }

  // A route with a name that is wrong becomes an empty one: its steps would be wrong as well. A
  // loop, or a step without a link, is for check() to say.
  void read_route(const Value& value) {
    std::vector<std::size_t> route;
    const std::vector<Value> names = value.list();
    for (const Value& name : names) {
      if (const auto id = find(name)) {
        route.push_back(*id);
      }
    }
    if (names.size() < 2) {
      value.error("is no route: it needs two names at least");
    }
    if (route.size() != names.size() || names.size() < 2) {
      route.clear();
    }
    graph_.routes.push_back(std::move(route));
  }

  const Section& section_;
  UserGraph graph_;
  std::map<std::string, std::size_t, std::less<>> ids_;
  std::vector<std::string> known_;
  std::size_t unknown_ = 0;  // names so far
  bool complete_ = true;
};

}  // namespace

UserGraph read_user_graph(const Section& section, bool& complete) {
  GraphReader reader(section);
  UserGraph graph = reader.read();
  complete = reader.complete();
  return graph;
}

LinkRate read_rate(const Section& section) {
  LinkRate rate;
  rate.bandwidth =
      section.required("bandwidth")
          .quantity<Bandwidth>({.fallback = 1_GBps, .sign = Sign::positive, .range = &link_rates});
  rate.latency = section.optional("latency").quantity<Seconds>({.range = &link_latencies});
  return rate;
}

LinkRate read_rate(const Value& value) {
  return read_rate(value.section("{bandwidth: 25 GB/s, latency: 1 us}"));
}

}  // namespace payoff
