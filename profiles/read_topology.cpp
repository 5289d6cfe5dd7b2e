// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_topology.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/read_regular_topology.hpp"
#include "profiles/read_user_graph.hpp"

namespace payoff {
namespace {

template <class T, std::size_t n>
using Choices = std::array<std::pair<std::string_view, T>, n>;

constexpr Choices<Balance, 2> balances{{{"hashed", Balance::hashed}, {"ideal", Balance::ideal}}};

// "failed.2", wherever the keys of the topology stand.
std::string within(const Section& root, const std::string& path) {
  const std::string& above = root.path();
  return above.empty() ? path : path.substr(above.size() + 1);
}

void read_faults(const Section& root, std::vector<LinkFault>& faults) {
  const auto read_ends = [&](const Value& link, double ratio) {
    constexpr const char* as_ends = "write it as [leaf0, spine1]";
    if (link.is_section()) {
      link.error("is a mapping, a link two names", "", as_ends);
      return;
    }
    const std::vector<Value> ends = link.list();
    if (link.is_list() && ends.size() != 2) {
      link.error("has " + std::to_string(ends.size()) + " names, a link two ends", "", as_ends);
    } else if (ends.size() == 2) {
      LinkFault fault{within(root, link.path()), ends[0].text(), ends[1].text(), ratio};
      if (!fault.a.empty() && !fault.b.empty()) {
        faults.push_back(std::move(fault));
      }
    }
  };
  for (const Value& link : root.optional("failed").list()) {
    read_ends(link, 0.0);
  }
  for (const Value& fault : root.optional("degraded").list()) {
    const Section section = fault.section("{link: [leaf0, spine1], ratio: 0.5}");
    const double ratio =
        section.required("ratio").ratio({.fallback = 1.0, .min = 1e-6, .max = 1.0});
    read_ends(section.required("link"), ratio);
  }
}

constexpr Choices<BackgroundClass, background_class_count> background_classes{{
    {"fabric", BackgroundClass::fabric},
    {"pcie", BackgroundClass::pcie},
    {"socket", BackgroundClass::socket},
    {"nic", BackgroundClass::nic},
    {"network", BackgroundClass::network},
    {"global", BackgroundClass::global},
}};

// A share, or how it is distributed over the links: `{mean: 20 %, sd: 5 %}`.
BackgroundLoad read_load(const Value& value) {
  constexpr RatioRules share{.fallback = 0.0, .min = 0.0, .max = 0.95};
  if (!value.is_section()) {
    return {value.ratio(share), 0.0};
  }
  const Section section = value.section();
  return {section.required("mean").ratio(share), section.optional("sd").ratio(share)};
}

void read_background(const Section& section, Topology& topology) {
  for (const auto& [name, link_class] : background_classes) {
    if (const Value load = section.optional(name)) {
      topology.background[static_cast<std::size_t>(link_class)] = read_load(load);
    }
  }
}

void read_shape(const Section& root, const Cluster* cluster, ReadTopology& result) {
  if (root.has("graph")) {
    result.topology.shape =
        read_user_graph(root.required("graph").section(), result.links_complete);
    return;
  }
  RegularTopology regular;
  if (cluster != nullptr) {
    regular = std::get<RegularTopology>(topology_of(*cluster).shape);
  }
  result.from_cluster = cluster != nullptr && (!root.has("server") || !root.has("servers"));
  result.server_is_of_cluster = cluster != nullptr && !root.has("server");
  if (const Value server = cluster != nullptr ? root.optional("server") : root.required("server")) {
    regular.server = read_server(server.section());
  }
  regular.servers = root.optional("servers").integer<int>(
      {.fallback = regular.servers, .min = 1, .max = 1 << 20});
  if (const Value network =
          regular.servers > 1 ? root.required("network") : root.optional("network")) {
    regular.network = read_network_shape(network.section(), regular.servers);
  }
  result.topology.shape = std::move(regular);
}

}  // namespace

void read_topology_keys(const Section& root, const Cluster* cluster, ReadTopology& result) {
  Topology& topology = result.topology;
  result.description = root.optional("description").text();
  read_shape(root, cluster, result);
  read_background(root.optional("background").section(), topology);
  read_faults(root, topology.faults);
  for (const Value& gpu : root.optional("rank_order").list()) {
    topology.rank_order.push_back(gpu.integer<int>({.fallback = 0, .min = 0}));
  }
  const Section routing = root.optional("routing").section();
  topology.balance = routing.optional("balance").choice(balances, Balance::hashed);
  topology.seed =
      static_cast<std::uint64_t>(routing.optional("seed").integer({.fallback = 1, .min = 0}));
}

ReadTopology read_topology(const Document& document, const SourceMap& sources,
                           Diagnostics& diagnostics, const Cluster* cluster) {
  ReadTopology result;
  Reader reader(document.root, sources, diagnostics);
  const Section root = reader.root();
  result.topology.name = root.required("topology").text();
  read_topology_keys(root, cluster, result);
  reader.finish();
  result.positions = PositionMap(document.root);
  result.refused = reader.refused();
  return result;
}

std::optional<ReadTopology> read_topology(const std::filesystem::path& file, SourceMap& sources,
                                          Diagnostics& diagnostics, const Cluster* cluster) {
  const auto document = load_yaml_file(file.string(), sources, diagnostics);
  if (!document) {
    return std::nullopt;
  }
  sources.mark_users_own(document->source);
  return read_topology(*document, sources, diagnostics, cluster);
}

}  // namespace payoff
