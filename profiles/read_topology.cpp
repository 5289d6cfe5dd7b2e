// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_topology.hpp"

#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/read_user_graph.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

template <class T, std::size_t n>
using Choices = std::array<std::pair<std::string_view, T>, n>;

constexpr Choices<ServerFabric, 2> server_fabrics{{
    {"switch", ServerFabric::switched},
    {"mesh", ServerFabric::mesh},
}};

enum class NetworkKindName {
  single_switch,
  fat_tree,
  dragonfly,
  dragonfly_plus,
  torus,
  ring,
  mesh
};
constexpr Choices<NetworkKindName, 7> topology_kinds{{
    {"switch", NetworkKindName::single_switch},
    {"fat_tree", NetworkKindName::fat_tree},
    {"dragonfly", NetworkKindName::dragonfly},
    {"dragonfly_plus", NetworkKindName::dragonfly_plus},
    {"torus", NetworkKindName::torus},
    {"ring", NetworkKindName::ring},
    {"full_mesh", NetworkKindName::mesh},
}};

constexpr Choices<Balance, 2> balances{{{"hashed", Balance::hashed}, {"ideal", Balance::ideal}}};

constexpr IntegerRules some{.fallback = 1, .min = 1, .max = 1 << 20};
constexpr IntegerRules of_a_server{.fallback = 1, .min = 1, .max = 1024};
constexpr RatioRules at_least_one{.fallback = 1.0, .min = 1.0, .max = 1000.0};

// A mesh that has a name, or as many links between every two GPUs.
std::vector<int> named_mesh(const Value& links, int gpus) {
  static constexpr const char* dgx1 = "dgx1-volta";
  const std::string text = links.text();
  if (text == dgx1) {
    return dgx1_volta_links();
  }
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0) {
    links.error("has the unknown value `" + text + "`",
                did_you_mean(closest(text, std::vector<std::string>{dgx1})),
                "dgx1-volta, or how many links join every two GPUs, or a list of rows with the "
                "links between each two");
    return uniform_mesh(gpus, 1);
  }
  return uniform_mesh(gpus, links.integer<int>(of_a_server));
}

std::vector<int> read_mesh(const Value& links, int gpus) {
  if (!links || !links.is_list()) {
    return named_mesh(links, gpus);
  }
  std::vector<int> mesh;
  const std::vector<Value> rows = links.list();
  for (const Value& row : rows) {
    const std::vector<Value> cells = row.list();
    if (cells.size() != rows.size()) {
      row.error("has " + std::to_string(cells.size()) + " numbers in " +
                std::to_string(rows.size()) + " rows");
    }
    for (const Value& cell : cells) {
      mesh.push_back(cell.integer<int>({.fallback = 0, .min = 0, .max = 1024}));
    }
  }
  return mesh;
}

void read_fabric(const Section& fabric, Server& server) {
  server.fabric = fabric.required("kind").choice(server_fabrics, ServerFabric::switched);
  server.fabric_link = read_rate(fabric);
  if (server.fabric == ServerFabric::mesh) {
    server.mesh = read_mesh(fabric.required("links"), server.gpus);
  }
}

void read_pcie(const Section& pcie, Server& server) {
  server.sockets = pcie.optional("sockets").integer<int>({.fallback = 1, .min = 1, .max = 64});
  server.pcie_switches =
      pcie.optional("switches").integer<int>({.fallback = server.sockets, .min = 1, .max = 1024});
  server.pcie = read_rate(pcie);
  const Value uplink = pcie.optional("uplink");
  server.pcie_uplink = uplink ? read_rate(uplink) : server.pcie;
  if (server.sockets > 1) {
    server.socket_link = read_rate(pcie.required("socket_link"));
  }
  server.gpudirect = pcie.optional("gpudirect").boolean(true);
}

Server read_server(const Section& section) {
  Server server;
  server.gpus = section.required("gpus").integer<int>(of_a_server);
  if (const Value fabric = section.optional("fabric")) {
    read_fabric(fabric.section(), server);
  }
  if (const Value pcie = section.optional("pcie")) {
    read_pcie(pcie.section(), server);
  }
  if (const Value nics = section.optional("nics")) {
    const Section each = nics.section();
    server.nics = each.required("count").integer<int>(of_a_server);
    server.nic = read_rate(each);
  }
  return server;
}

FatTree read_fat_tree(const Section& network) {
  FatTree tree;
  tree.rails = network.optional("rails").boolean();
  tree.servers_per_leaf = network.required("servers_per_leaf").integer<int>(some);
  tree.spines = network.required("spines").integer<int>(some);
  tree.oversubscription = network.optional("oversubscription").ratio(at_least_one);
  tree.hop_latency = network.optional("hop_latency").quantity<Seconds>({.range = &link_latencies});
  if (const Value pods = network.optional("leaves_per_pod")) {
    tree.leaves_per_pod = pods.integer<int>(some);
    tree.cores_per_spine = network.required("cores_per_spine").integer<int>(some);
    tree.core_oversubscription = network.optional("core_oversubscription").ratio(at_least_one);
  }
  return tree;
}

Dragonfly read_dragonfly(const Section& network, bool plus) {
  Dragonfly fly;
  fly.plus = plus;
  fly.groups = network.required("groups").integer<int>({.fallback = 2, .min = 2, .max = 1 << 16});
  fly.routers = network.required(plus ? "leaves" : "routers").integer<int>(of_a_server);
  fly.spines = plus ? network.required("spines").integer<int>(of_a_server) : 0;
  fly.servers_per_router =
      network.required(plus ? "servers_per_leaf" : "servers_per_router").integer<int>(of_a_server);
  fly.global_links = network.required("global_links").integer<int>(of_a_server);
  fly.local = read_rate(network.required("local"));
  fly.global = read_rate(network.required("global"));
  return fly;
}

Torus read_torus(const Section& network) {
  Torus torus;
  for (const Value& side : network.required("sides").list()) {
    torus.sides.push_back(side.integer<int>(some));
  }
  torus.link = read_rate(network);
  return torus;
}

NetworkShape read_network(const Section& network, int servers) {
  const Value kind = network.required("kind");
  const NetworkKindName chosen = kind.choice(topology_kinds, NetworkKindName::single_switch);
  if (chosen == NetworkKindName::single_switch && kind.text() != "switch") {
    (void)network.entries();  // of a kind that nobody knows: any key may be one of its own
  }
  switch (chosen) {
    case NetworkKindName::single_switch:
      return SingleSwitch{};
    case NetworkKindName::fat_tree:
      return read_fat_tree(network);
    case NetworkKindName::dragonfly:
      return read_dragonfly(network, false);
    case NetworkKindName::dragonfly_plus:
      return read_dragonfly(network, true);
    case NetworkKindName::torus:
      return read_torus(network);
    case NetworkKindName::ring:
      return Torus{{servers}, read_rate(network)};
    case NetworkKindName::mesh:
      return FullMesh{read_rate(network)};
  }
  return SingleSwitch{};
}

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
  IntegerRules servers = some;
  servers.fallback = regular.servers;
  regular.servers = root.optional("servers").integer<int>(servers);
  if (const Value network =
          regular.servers > 1 ? root.required("network") : root.optional("network")) {
    regular.network = read_network(network.section(), regular.servers);
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
