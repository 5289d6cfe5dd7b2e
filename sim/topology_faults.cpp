// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/topology.hpp"

// Faults of links, by the names of the parts that they join.

namespace payoff::sim::detail {
namespace {

using Names = std::map<std::string_view, VertexId>;

std::string without_digits(std::string_view name) {
  std::string letters(name);
  std::erase_if(letters, [](unsigned char c) { return std::isdigit(c) != 0; });
  return letters;
}

// `s0.gpu0` to `s3.gpu7`, `leaf0` to `leaf1`: from the first to the last of names that differ by
// their numbers only.
std::string list_of_names(const GraphParts& parts) {
  std::vector<std::pair<std::string_view, std::string_view>> ranges;
  std::map<std::string, std::size_t> place_of;
  for (const Vertex& vertex : parts.vertices) {
    const auto [known, is_new] = place_of.emplace(without_digits(vertex.name), ranges.size());
    if (is_new) {
      ranges.emplace_back(vertex.name, vertex.name);
    }
    ranges[known->second].second = vertex.name;
  }
  constexpr std::size_t most_listed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), most_listed); ++i) {
    const auto& [first, last] = ranges[i];
    text += (i == 0 ? "`" : ", `") + std::string(first) + "`";
    text += first == last ? "" : " to `" + std::string(last) + "`";
  }
  return text + (ranges.size() > most_listed ? " and others" : "");
}

std::optional<VertexId> find_vertex(const Names& names, const std::string& name,
                                    const std::string& path, const GraphParts& parts,
                                    std::optional<std::string>& known, Problems& problems) {
  const auto found = names.find(name);
  if (found == names.end()) {
    known = known ? known : list_of_names(parts);
    problems.push_back(
        {path, "there is no `" + name + "` in this topology", "its parts are " + *known});
    return std::nullopt;
  }
  return found->second;
}

// Of a switch, as topology_network.cpp names those of all kinds of networks.
bool names_network(std::string_view name) {
  constexpr std::array<std::string_view, 5> words{"network", "router", "leaf", "spine", "core"};
  const bool is_of_group = name.size() > 1 && name[0] == 'g' && std::isdigit(name[1]) != 0;
  return is_of_group || std::any_of(words.begin(), words.end(),
                                    [&](std::string_view word) { return name.starts_with(word); });
}

bool names_nic(std::string_view name) { return name.find("nic") != std::string_view::npos; }

}  // namespace

bool apply_faults(const std::vector<LinkFault>& faults, GraphParts& parts, Problems& problems) {
  Names names;
  for (std::size_t v = 0; v < parts.vertices.size() && !faults.empty(); ++v) {
    names.emplace(parts.vertices[v].name, static_cast<VertexId>(v));
  }
  for (Edge& edge : parts.edges) {
    edge.nominal = edge.capacity;
  }
  std::optional<std::string> known;  // for whoever misspelt one
  for (const LinkFault& fault : faults) {
    const auto a = find_vertex(names, fault.a, fault.path, parts, known, problems);
    const auto b = find_vertex(names, fault.b, fault.path, parts, known, problems);
    bool joined = false;
    for (Edge& edge : parts.edges) {
      if ((edge.from == a && edge.to == b) || (edge.from == b && edge.to == a)) {
        edge.capacity *= fault.ratio;
        joined = true;
      }
    }
    if (a && b && !joined) {
      problems.push_back({fault.path, "no link joins `" + fault.a + "` and `" + fault.b + "`", {}});
    }
  }
  return std::erase_if(parts.edges, [](const Edge& e) { return e.capacity <= Bandwidth{}; }) > 0;
}

Problems find_faults_in_servers(const Topology& topology, bool knows_nics) {
  const auto* regular = std::get_if<RegularTopology>(&topology.shape);
  if (regular == nullptr || topology.faults.empty()) {
    return {};
  }
  std::vector<LinkFault> faults;
  std::copy_if(topology.faults.begin(), topology.faults.end(), std::back_inserter(faults),
               [&](const LinkFault& fault) {
                 const auto is_unknown = [&](const std::string& name) {
                   return names_network(name) || (!knows_nics && names_nic(name));
                 };
                 return !is_unknown(fault.a) && !is_unknown(fault.b);
               });
  RegularTopology servers{regular->server, regular->servers, SingleSwitch{}};
  const RegularLayout layout(servers);
  GraphParts parts;
  add_servers(layout, parts);
  Problems problems;
  (void)apply_faults(faults, parts, problems);
  return problems;
}

}  // namespace payoff::sim::detail
