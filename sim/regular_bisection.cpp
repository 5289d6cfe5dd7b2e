// SPDX-License-Identifier: Apache-2.0
#include "sim/regular_bisection.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/background.hpp"
#include "sim/max_flow.hpp"
#include "sim/topology.hpp"

namespace payoff::sim {
namespace {

using Answer = std::variant<Bandwidth, std::string>;

class Cuts {
 public:
  Cuts(const Topology& topology, const RegularTopology& shape)
      : topology_(topology), shape_(shape), layout_(shape) {}

  Answer operator()(const SingleSwitch& /*star*/) const { return of_servers(from_server(no_cap)); }

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
    return of_servers(several_pods ? std::min(to_leaves, up / fat.core_oversubscription)
                                   : to_leaves);
  }

  Answer operator()(const Dragonfly& fly) const {
    if (fly.groups % 2 != 0) {
      return std::string("groups do not fill halves");
    }
    const double pairs = 0.25 * fly.groups * fly.groups;
    return std::min(of_servers(from_server(no_cap)), left(LinkClass::global, fly.global.bandwidth) *
                                                         (pairs * layout_.links_per_group_pair()));
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
    return layout_.bare() ? cut : std::min(cut, of_servers(from_server(no_cap)));
  }

  // What the GPUs of one server can send into the network, if each of its NICs is given `cap`.
  [[nodiscard]] Bandwidth from_server(Bandwidth cap) const {
    Topology two;
    two.shape = RegularTopology{shape_.server, 2, SingleSwitch{}};
    two.background = topology_.background;
    const BuiltTopology built = build(two);
    const LinkGraph& links = built.graph->links;
    const auto network = static_cast<VertexId>(links.vertices().size() - 1);
    const std::vector<Bandwidth> left = left_capacities(two, links);
    std::vector<Edge> edges = links.edges();
    for (EdgeId e = 0; e < edges.size(); ++e) {
      edges[e].capacity = edges[e].to == network && cap > no_cap ? std::min(left[e], cap) : left[e];
    }
    std::vector<VertexId> gpus;
    for (Rank r = 0; r < layout_.gpus_per_server(); ++r) {
      gpus.push_back(links.gpu(r));
    }
    return MaxFlow({links.vertices(), std::move(edges), gpus}).between(gpus, {&network, 1});
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
  const bool differ = std::any_of(topology.background.begin(), topology.background.end(),
                                  [](const BackgroundLoad& load) { return load.sd > 0; });
  if (differ) {
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
  return std::visit(Cuts(topology, shape), shape.network);
}

}  // namespace payoff::sim
