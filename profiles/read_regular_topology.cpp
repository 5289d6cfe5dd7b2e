// SPDX-License-Identifier: Apache-2.0
#include "profiles/read_regular_topology.hpp"

#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/read_user_graph.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::array<std::pair<std::string_view, ServerFabric>, 2> server_fabrics{{
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
constexpr std::array<std::pair<std::string_view, NetworkKindName>, 7> topology_kinds{{
    {"switch", NetworkKindName::single_switch},
    {"fat_tree", NetworkKindName::fat_tree},
    {"dragonfly", NetworkKindName::dragonfly},
    {"dragonfly_plus", NetworkKindName::dragonfly_plus},
    {"torus", NetworkKindName::torus},
    {"ring", NetworkKindName::ring},
    {"full_mesh", NetworkKindName::mesh},
}};

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

}  // namespace

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

NetworkShape read_network_shape(const Section& network, int servers) {
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

}  // namespace payoff
