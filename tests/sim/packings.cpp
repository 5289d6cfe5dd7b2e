// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/packings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

namespace payoff::sim::test {

using Catch::Matchers::WithinRel;

const LinkGraph& volta() {
  static const LinkGraph links = built(regular(dgx1(), 1, SingleSwitch{})).links;
  return links;
}

// NVLink 1 of a P100: four links, to the three other GPUs of its half and to one across.
const LinkGraph& pascal() {
  static const LinkGraph links = [] {
    Server server = dgx1();
    server.fabric_link.bandwidth = 20_GBps;
    for (int& count : server.mesh) {
      count = std::min(count, 1);
    }
    return built(regular(server, 1, SingleSwitch{})).links;
  }();
  return links;
}

std::vector<Rank> members(unsigned set) {
  std::vector<Rank> ranks;
  for (Rank r = 0; r < 8; ++r) {
    if ((set >> r) % 2 == 1) {
      ranks.push_back(r);
    }
  }
  return ranks;
}

void check_packing(const LinkGraph& mesh, const TreePacking& packing, TreeUse use) {
  std::map<std::pair<VertexId, VertexId>, double> load;
  double together = 0;
  for (const PackedTree& tree : packing.trees) {
    together += tree.rate.si;
    for (VertexId v = 0; v < tree.parent.size(); ++v) {
      VertexId at = v;
      for (std::size_t hops = 0; at != packing.root && hops <= tree.parent.size(); ++hops) {
        at = tree.parent[at];
      }
      REQUIRE(at == packing.root);
      if (v != packing.root) {
        load[{tree.parent[v], v}] += tree.rate.si;
        if (use == TreeUse::all_reduce) {
          load[{v, tree.parent[v]}] += tree.rate.si;
        }
      }
    }
  }
  CHECK_THAT(together, WithinRel(packing.rate.si, 1e-9));
  for (const auto& [ends, bytes] : load) {
    const auto edge = mesh.find(ends.first, ends.second);
    REQUIRE(edge.has_value());
    REQUIRE(bytes <= mesh.edges()[*edge].capacity.si * (1 + 1e-9));
  }
}

}  // namespace payoff::sim::test
