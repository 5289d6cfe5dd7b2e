// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "model/collective.hpp"
#include "model/cube_part.hpp"
#include "model/packed_trees.hpp"
#include "sim/tree_packing.hpp"
#include "sim/tree_programs.hpp"
#include "sim/unmeasured_steps.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"
#include "tests/sim/packings.hpp"
#include "tests/sim/topologies.hpp"

// What the closed forms of the model say of packed trees, beside trees that were packed.

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinRel;

namespace {

std::vector<int> links_among(const std::vector<Rank>& ranks, bool single) {
  const std::vector<int> whole = cube_links(8, single);
  std::vector<int> links;
  for (const Rank a : ranks) {
    for (const Rank b : ranks) {
      links.push_back(whole[std::size_t{a} * 8 + b]);
    }
  }
  return links;
}

int depth_of(const PackedTree& tree) {
  int deepest = 0;
  for (VertexId vertex = 0; vertex < tree.parent.size(); ++vertex) {
    int hops = 0;
    for (VertexId at = vertex; tree.parent[at] != at; at = tree.parent[at]) {
      ++hops;
    }
    deepest = std::max(deepest, hops);
  }
  return deepest;
}

Cluster cube_with_laws() {
  Cluster cluster = payoff::test::volta_cube();
  cluster.fabric.law = payoff::test::plain_law();
  cluster.network.law = payoff::test::plain_law();
  cluster.nodes = 2;
  return cluster;
}

Seconds price_by_steps(const Cluster& cluster, int servers, Bytes size) {
  Server server = dgx1();
  server.nics = 4;
  server.nic = {12.5_GBps, 1_us};
  const Topology topology = regular(server, servers, SingleSwitch{});
  const TopologyGraph graph = built(topology);
  const ProgramRanks ranks{static_cast<Rank>(8 * servers), 8};
  const LaidOrReason laid = packed_trees(Collective::all_reduce, ranks, topology, graph);
  REQUIRE(std::holds_alternative<LaidProgram>(laid));
  Routing routing(graph, Balance::ideal, 1);
  const auto price =
      price_of_trees(std::get<LaidProgram>(laid).whole, ranks, cluster, size, routing);
  REQUIRE(price.has_value());
  return price->time;
}

}  // namespace

TEST_CASE("few packed trees keep at least 95 % of the closed bound on every part of both cubes") {
  int parts = 0;
  int deep = 0;
  for (const bool single : {false, true}) {
    const LinkGraph& cube = single ? pascal() : volta();
    const Bandwidth link = single ? 20_GBps : 25_GBps;
    for (unsigned set = 1; set < 256; ++set) {
      const std::vector<Rank> ranks = members(set);
      if (ranks.size() < 2) {
        continue;
      }
      const TreeRates rates =
          tree_rates(links_among(ranks, single), static_cast<int>(ranks.size()));
      const auto mesh = mesh_of(cube, ranks);
      CHECK((rates.both_ways > 0) == mesh.has_value());
      if (!mesh) {
        continue;
      }
      ++parts;
      // Two derivations of one bound, over partitions.
      CHECK_THAT(all_reduce_bound(*mesh) / link, WithinRel(rates.both_ways, 1e-9));
      const TreePacking packing = pack_few(*mesh, 0, TreeUse::all_reduce);
      CHECK(packing.rate / link >= rates.both_ways * 0.95);
      CHECK(packing.rate / link <= rates.both_ways * (1 + 1e-9));
      // The model takes chains: no tree is deeper, and three packings of four have one that is as
      // deep, or by one hop less.
      int deepest = 0;
      for (const PackedTree& tree : packing.trees) {
        deepest = std::max(deepest, depth_of(tree));
      }
      CHECK(deepest < static_cast<int>(ranks.size()));
      deep += deepest + 2 >= static_cast<int>(ranks.size()) ? 1 : 0;
    }
  }
  CHECK(deep * 4 >= parts * 3);
}

TEST_CASE("the model prices packed trees as their steps are priced, in one server and across two") {
  const Cluster cluster = cube_with_laws();
  for (const int servers : {1, 2}) {
    for (const Bytes size : {64_MiB, 1_GiB}) {
      const Group group{8 * servers, 8, 1, 1, AllReduceBy::packed_trees};
      const Seconds closed =
          CollectiveModel(cluster, group).price(Collective::all_reduce, size).time;
      INFO(servers << " servers, " << size.si << " B");
      // Few trees lose up to 5 % of what fits.
      CHECK_THAT(closed / price_by_steps(cluster, servers, size), WithinRel(1.0, 0.06));
    }
  }
}
