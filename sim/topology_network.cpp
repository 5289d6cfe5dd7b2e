// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "sim/topology.hpp"

// The vertices and links of regular topologies, in the order of RegularLayout.

namespace payoff::sim::detail {
namespace {

std::string numbered(const std::string& word, std::uint32_t number) {
  return word + std::to_string(number);
}

class ServerParts {
 public:
  ServerParts(const RegularLayout& layout, GraphParts& parts) : layout_(layout), parts_(parts) {}

  void add(std::uint32_t s) {
    add_vertices(layout_.servers() > 1 ? numbered("s", s) + "." : "");
    const Server& server = layout_.server();
    if (server.fabric == ServerFabric::switched) {
      for (std::uint32_t g = 0; g < layout_.gpus_per_server(); ++g) {
        parts_.join(layout_.gpu(s, g), layout_.fabric_switch(s), server.fabric_link,
                    LinkClass::fabric);
      }
    } else if (server.fabric == ServerFabric::mesh) {
      join_mesh(s);
    }
    if (layout_.sockets() > 0) {
      join_pcie(s);
    }
    for (std::uint32_t g = 0; g < layout_.gpus_per_server() && layout_.sockets() == 0; ++g) {
      if (layout_.nics() > 0) {
        parts_.join(layout_.gpu(s, g), layout_.nic(s, layout_.nic_of_gpu(g)), server.nic,
                    LinkClass::nic);
      }
    }
  }

 private:
  void add_vertices(const std::string& prefix) {
    const bool forwards = layout_.bare() || layout_.server().fabric == ServerFabric::mesh;
    const auto add = [&](const std::string& word, GraphVertexKind kind, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const bool passes = kind != GraphVertexKind::gpu || forwards;
        parts_.vertices.push_back({prefix + numbered(word, i), kind, passes});
      }
    };
    add("gpu", GraphVertexKind::gpu, layout_.gpus_per_server());
    add("switch", GraphVertexKind::fabric_switch, layout_.has_fabric_switch() ? 1 : 0);
    add("pcie", GraphVertexKind::pcie_switch, layout_.pcie_switches());
    add("socket", GraphVertexKind::socket, layout_.sockets());
    add("nic", GraphVertexKind::nic, layout_.nics());
  }

  void join_mesh(std::uint32_t s) {
    const Server& server = layout_.server();
    const std::uint32_t gpus = layout_.gpus_per_server();
    for (std::uint32_t a = 0; a < gpus; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        const int links = server.mesh[a * gpus + b];
        if (links > 0) {
          parts_.join(layout_.gpu(s, b), layout_.gpu(s, a),
                      {server.fabric_link.bandwidth * links, server.fabric_link.latency},
                      LinkClass::fabric);
        }
      }
    }
  }

  void join_pcie(std::uint32_t s) {
    const Server& server = layout_.server();
    for (std::uint32_t g = 0; g < layout_.gpus_per_server(); ++g) {
      parts_.join(layout_.gpu(s, g), layout_.pcie_switch(s, layout_.pcie_of_gpu(g)), server.pcie,
                  LinkClass::pcie);
    }
    for (std::uint32_t k = 0; k < layout_.nics(); ++k) {
      const VertexId to = server.gpudirect ? layout_.pcie_switch(s, layout_.pcie_of_nic(k))
                                           : layout_.socket(s, layout_.socket_of_nic(k));
      parts_.join(layout_.nic(s, k), to, server.pcie, LinkClass::pcie);
    }
    for (std::uint32_t p = 0; p < layout_.pcie_switches(); ++p) {
      parts_.join(layout_.pcie_switch(s, p), layout_.socket(s, layout_.socket_of_pcie(p)),
                  server.pcie_uplink, LinkClass::pcie);
    }
    for (std::uint32_t a = 0; a < layout_.sockets(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        parts_.join(layout_.socket(s, b), layout_.socket(s, a), server.socket_link,
                    LinkClass::socket);
      }
    }
  }

  const RegularLayout& layout_;
  GraphParts& parts_;
};

class NetworkParts {
 public:
  NetworkParts(const RegularLayout& layout, GraphParts& parts) : layout_(layout), parts_(parts) {}

  void operator()(const SingleSwitch& /*star*/) { name_all("network"); }

  // The uplinks of a switch carry together what comes from below, less the oversubscription.
  void operator()(const FatTree& fat) {
    const RegularLayout::TreeSize& tree = layout_.tree();
    name_tree(tree);
    const int nics_below = fat.servers_per_leaf * (fat.rails ? 1 : layout_.server().nics);
    const Bandwidth up =
        layout_.server().nic.bandwidth * nics_below / fat.oversubscription / fat.spines;
    for (std::uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      for (std::uint32_t i = 0; i < tree.spines; ++i) {
        join(leaf, tree.spine(tree.pod_of_leaf(leaf), i), {up, fat.hop_latency});
      }
    }
    if (tree.cores_per_spine == 0) {
      return;
    }
    const Bandwidth top =
        up * (tree.groups_per_pod * tree.rails) / fat.core_oversubscription / tree.cores_per_spine;
    for (std::uint32_t pod = 0; pod < tree.pods; ++pod) {
      for (std::uint32_t i = 0; i < tree.spines; ++i) {
        for (std::uint32_t j = 0; j < tree.cores_per_spine; ++j) {
          join(tree.spine(pod, i), tree.core(i, j), {top, fat.hop_latency});
        }
      }
    }
  }

  void operator()(const Dragonfly& fly) {
    const auto groups = static_cast<std::uint32_t>(fly.groups);
    const auto routers = static_cast<std::uint32_t>(fly.routers);
    const std::uint32_t size = layout_.group_size();
    for (std::uint32_t g = 0; g < groups; ++g) {
      for (std::uint32_t r = 0; r < size; ++r) {
        add(numbered("g", g) + (r < routers ? numbered(".r", r) : numbered(".s", r - routers)));
      }
    }
    for (std::uint32_t g = 0; g < groups; ++g) {
      for (std::uint32_t a = 0; a < routers; ++a) {
        for (std::uint32_t b = fly.plus ? routers : a + 1; b < size; ++b) {
          join(g * size + a, g * size + b, fly.local);
        }
      }
      for (std::uint32_t other = g + 1; other < groups; ++other) {
        join_groups(g, other, fly.global);
      }
    }
  }

  void operator()(const Torus& torus) {
    name_all("router");
    std::uint32_t stride = 1;
    for (const int length : torus.sides) {
      const auto side = static_cast<std::uint32_t>(length);
      for (std::uint32_t s = 0; s < layout_.servers(); ++s) {
        const std::uint32_t at = s / stride % side;
        // A side of two has one link, not two, and a side of one none.
        if (side > 2 || at + 1 < side) {
          join_entries(s, s - at * stride + (at + 1) % side * stride, torus.link);
        }
      }
      stride *= side;
    }
  }

  void operator()(const FullMesh& mesh) {
    name_all("router");
    for (std::uint32_t a = 0; a < layout_.servers(); ++a) {
      for (std::uint32_t b = a + 1; b < layout_.servers(); ++b) {
        join_entries(a, b, mesh.link);
      }
    }
  }

 private:
  void add(std::string name) {
    parts_.vertices.push_back({std::move(name), GraphVertexKind::router, true});
  }

  void name_all(const std::string& word) {
    for (std::uint32_t i = 0; i < layout_.network_size(); ++i) {
      add(layout_.network_size() == 1 ? word : numbered(word, i));
    }
  }

  void name_tree(const RegularLayout::TreeSize& tree) {
    for (std::uint32_t i = 0; i < tree.leaves(); ++i) {
      add(numbered("leaf", i));
    }
    for (std::uint32_t i = 0; i < tree.pods * tree.spines; ++i) {
      add(numbered("spine", i));
    }
    for (std::uint32_t i = 0; i < tree.spines * tree.cores_per_spine; ++i) {
      add(numbered("core", i));
    }
  }

  void join(std::uint32_t a, std::uint32_t b, const LinkRate& rate) {
    parts_.join(layout_.network(a), layout_.network(b), rate, LinkClass::network);
  }

  void join_entries(std::uint32_t a, std::uint32_t b, const LinkRate& rate) {
    parts_.join(layout_.entry(a, 0), layout_.entry(b, 0), rate,
                layout_.bare() ? LinkClass::fabric : LinkClass::network);
  }

  void join_groups(std::uint32_t a, std::uint32_t b, const LinkRate& rate) {
    const std::uint32_t size = layout_.group_size();
    for (std::uint32_t i = 0; i < layout_.links_per_group_pair(); ++i) {
      parts_.join(layout_.network(a * size + layout_.carrier(a, b, i)),
                  layout_.network(b * size + layout_.carrier(b, a, i)), rate, LinkClass::global);
    }
  }

  const RegularLayout& layout_;
  GraphParts& parts_;
};

}  // namespace

void add_servers(const RegularLayout& layout, GraphParts& parts) {
  ServerParts servers(layout, parts);
  for (std::uint32_t s = 0; s < layout.servers(); ++s) {
    servers.add(s);
  }
}

void add_network(const RegularLayout& layout, GraphParts& parts) {
  std::visit(NetworkParts(layout, parts), layout.topology().network);
  for (std::uint32_t s = 0; s < layout.servers() && layout.network_size() > 0; ++s) {
    for (std::uint32_t k = 0; k < layout.nics(); ++k) {
      parts.join(layout.nic(s, k), layout.entry(s, k), layout.server().nic, LinkClass::nic);
    }
  }
}

}  // namespace payoff::sim::detail
