// SPDX-License-Identifier: Apache-2.0
#include "sim/regular_bisection.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/background.hpp"
#include "sim/max_flow.hpp"
#include "sim/topology.hpp"

namespace payoff::sim {
namespace {

using Answer = std::variant<Bandwidth, std::string>;

class RegularCuts {
 public:
  RegularCuts(const Topology& topology, const RegularTopology& shape)
      : topology_(topology), shape_(shape), layout_(shape) {}

  Answer operator()(const SingleSwitch& /*star*/) const {
    return with_inside(of_servers(from_server(no_cap)), no_cap);
  }

  Answer operator()(const FatTree& fat) const {
    const RegularLayout::TreeSize& tree = layout_.tree();
    const bool several_pods = tree.pods > 1;
    const int whole = fat.servers_per_leaf * (several_pods ? fat.leaves_per_pod : 1);
    if (shape_.servers % (2 * whole) != 0) {
      return std::string(several_pods ? "pods do not fill halves" : "leaves do not fill halves");
    }
    const Bandwidth nics = shape_.server.nic.bandwidth * shape_.server.nics;
    const Bandwidth up = left(LinkClass::network, nics / fat.oversubscription);  // of a server
    // A rail that is full at its leaf leaves the others to the same server.
    const Bandwidth to_leaves =
        fat.rails ? from_server(up / shape_.server.nics) : std::min(from_server(no_cap), up);
    return with_inside(
        of_servers(several_pods ? std::min(to_leaves, up / fat.core_oversubscription) : to_leaves),
        fat.rails ? up / shape_.server.nics : no_cap);
  }

  Answer operator()(const Dragonfly& fly) const {
    if (fly.groups % 2 != 0) {
      return std::string("groups do not fill halves");
    }
    const double pairs = 0.25 * fly.groups * fly.groups;
    const Bandwidth global = left(LinkClass::global, fly.global.bandwidth);
    return with_inside(std::min(of_servers(from_server(no_cap)),
                                global * (pairs * layout_.links_per_group_pair())),
                       no_cap);
  }

  Answer operator()(const Torus& torus) const {
    Bandwidth least{};
    for (const int side : torus.sides) {
      if (side % 2 == 0) {
        // Each line along the side is cut twice, where it is a ring.
        const int lines = shape_.servers / side * (side > 2 ? 2 : 1);
        const Bandwidth cut = direct(torus.link.bandwidth) * lines;
        least = least > Bandwidth{} ? std::min(least, cut) : cut;
      }
    }
    if (least <= Bandwidth{}) {
      return std::string("no side of the torus is even");
    }
    return with_servers(least);
  }

  Answer operator()(const FullMesh& mesh) const {
    if (shape_.servers % 2 != 0) {
      return std::string("servers do not fill halves");
    }
    return with_servers(direct(mesh.link.bandwidth) * (0.25 * shape_.servers * shape_.servers));
  }

 private:
  static constexpr Bandwidth no_cap{};

  [[nodiscard]] Bandwidth left(LinkClass link, Bandwidth capacity) const {
    return capacity * left_by_others(topology_, link, 0);
  }
  // Of a link between neighbours: GPUs that are routers have links of their fabric.
  [[nodiscard]] Bandwidth direct(Bandwidth capacity) const {
    return left(layout_.bare() ? LinkClass::fabric : LinkClass::network, capacity);
  }
  [[nodiscard]] Bandwidth of_servers(Bandwidth each) const { return each * (0.5 * shape_.servers); }
  [[nodiscard]] Bandwidth with_servers(Bandwidth cut) const {
    return layout_.bare() ? cut
                          : with_inside(std::min(cut, of_servers(from_server(no_cap))), no_cap);
  }

  // A server and the network as one vertex, to which each NIC has `cap` if that is given.
  struct ServerGraph {
    LinkGraph links;
    VertexId network{};
    std::vector<VertexId> gpus;  // of the server
  };
  [[nodiscard]] ServerGraph server_graph(Bandwidth cap) const {
    Topology two;
    two.shape = RegularTopology{shape_.server, 2, SingleSwitch{}};
    two.background = topology_.background;
    const BuiltTopology built = build(two);
    const LinkGraph& links = built.graph->links;
    const auto network = static_cast<VertexId>(links.vertices().size() - 1);
    const std::vector<Bandwidth> left = left_capacities(two, links);
    std::vector<Edge> edges = links.edges();
    for (EdgeId e = 0; e < edges.size(); ++e) {
      const bool capped = cap > no_cap && (edges[e].to == network || edges[e].from == network);
      edges[e].capacity = capped ? std::min(left[e], cap) : left[e];
    }
    std::vector<VertexId> gpus;
    for (Rank r = 0; r < layout_.gpus_per_server(); ++r) {
      gpus.push_back(links.gpu(r));
    }
    return {LinkGraph(links.vertices(), std::move(edges), gpus), network, std::move(gpus)};
  }

  // What the GPUs of one server can send into the network.
  [[nodiscard]] Bandwidth from_server(Bandwidth cap) const {
    const ServerGraph server = server_graph(cap);
    return MaxFlow(server.links).between(server.gpus, {&server.network, 1});
  }

  // At most what passes where every server is divided alike. What a half of a server sends through
  // the network to the other halves, its own other half receives from others: it is as if the
  // network led back into the server.
  [[nodiscard]] Bandwidth with_inside(Bandwidth least, Bandwidth cap) const {
    const auto half = static_cast<Rank>(layout_.gpus_per_server() / 2);
    if (layout_.gpus_per_server() % 2 != 0) {
      return least;
    }
    const ServerGraph server = server_graph(cap);
    MaxFlow flow(server.links);
    for (Rank block = 1; block <= half; ++block) {
      if (half % block == 0) {
        std::array<std::vector<VertexId>, 2> sides;
        for (Rank r = 0; r < 2 * half; ++r) {
          sides[r / block % 2].push_back(server.gpus[r]);
        }
        least = std::min(least, flow.between(sides[0], sides[1]) * shape_.servers);
      }
    }
    return least;
  }

  const Topology& topology_;
  const RegularTopology& shape_;
  RegularLayout layout_;
};

std::string why_irregular(const Topology& topology) {
  if (!std::holds_alternative<RegularTopology>(topology.shape)) {
    return "the graph is the user's own";
  }
  if (!topology.faults.empty()) {
    return "links have failed or are degraded";
  }
  if (!topology.rank_order.empty()) {
    return "ranks have an order of their own";
  }
  if (differs_from_link_to_link(topology)) {
    return "the traffic of others differs from link to link";
  }
  const auto& shape = std::get<RegularTopology>(topology.shape);
  return shape.servers % 2 != 0 ? "servers do not fill halves" : "";
}

}  // namespace

std::variant<Bandwidth, std::string> regular_bisection(const Topology& topology) {
  if (std::string why = why_irregular(topology); !why.empty()) {
    return why;
  }
  const auto& shape = std::get<RegularTopology>(topology.shape);
  return std::visit(RegularCuts(topology, shape), shape.network);
}

}  // namespace payoff::sim
