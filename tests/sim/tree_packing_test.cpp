// SPDX-License-Identifier: Apache-2.0
#include "sim/tree_packing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "sim/arborescence.hpp"
#include "tests/catch.hpp"
#include "tests/sim/packings.hpp"
#include "tests/sim/random.hpp"
#include "tests/sim/topologies.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinRel;

namespace {

LinkGraph random_mesh(Random& random, VertexId size) {
  std::vector<Vertex> vertices(size);
  std::vector<VertexId> gpus(size);
  std::iota(gpus.begin(), gpus.end(), VertexId{0});
  std::vector<Edge> edges;
  for (VertexId a = 0; a < size; ++a) {
    for (VertexId b = 0; b < size; ++b) {
      if (a != b && (b == (a + 1) % size || random.chance(0.4))) {
        edges.push_back({a, b, Bandwidth{1e9 * random.between(1, 4)}, {}, LinkClass::fabric});
      }
    }
  }
  return {vertices, edges, gpus};
}

// Every choice of one incoming edge for each vertex, if it is a tree.
double cheapest_by_trying(const LinkGraph& mesh, VertexId root, const std::vector<double>& costs) {
  const auto n = static_cast<VertexId>(mesh.vertices().size());
  std::vector<std::vector<EdgeId>> into(n);
  for (EdgeId e = 0; e < mesh.edges().size(); ++e) {
    into[mesh.edges()[e].to].push_back(e);
  }
  into[root] = {no_edge};
  std::vector<std::size_t> choice(n);
  double least = 1e300;
  for (;;) {
    double cost = 0;
    bool tree = true;
    for (VertexId v = 0; v < n; ++v) {
      VertexId at = v;
      for (VertexId hops = 0; at != root && hops <= n; ++hops) {
        at = mesh.edges()[into[at][choice[at]]].from;
      }
      tree = tree && at == root;
      cost += v == root ? 0 : costs[into[v][choice[v]]];
    }
    least = tree ? std::min(least, cost) : least;
    VertexId v = 0;
    while (v < n && ++choice[v] == into[v].size()) {
      choice[v++] = 0;
    }
    if (v == n) {
      return least;
    }
  }
}

}  // namespace

TEST_CASE("the cheapest arborescence costs what trying every tree finds") {
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    const LinkGraph mesh = random_mesh(random, random.between(3, 6));
    std::vector<double> costs;
    costs.reserve(mesh.edges().size());
    for (std::size_t e = 0; e < mesh.edges().size(); ++e) {
      costs.push_back(random.between(1, 9));
    }
    const VertexId root = random.below(static_cast<std::uint32_t>(mesh.vertices().size()));
    const auto tree = cheapest_arborescence(mesh, root, costs);
    REQUIRE(tree.has_value());
    double cost = 0;
    for (const EdgeId edge : *tree) {
      cost += edge == no_edge ? 0 : costs[edge];
    }
    CHECK_THAT(cost, WithinRel(cheapest_by_trying(mesh, root, costs), 1e-12));
  }
}

TEST_CASE("a packing of broadcasts comes near the smallest cut, and never beyond it") {
  Random random(5);
  for (int round = 0; round < 12; ++round) {
    const LinkGraph mesh = random_mesh(random, random.between(3, 7));
    const TreePacking packing =
        pack_fractional(mesh, 0, TreeUse::broadcast, {.epsilon = 0.1, .lost_fraction = 0.05});
    check_packing(mesh, packing, TreeUse::broadcast);
    const double bound = broadcast_bound(mesh, 0).si;
    CHECK(packing.rate.si <= bound * (1 + 1e-9));
    CHECK(packing.rate.si >= bound * 0.8);  // 1 - 2 epsilon
  }
}

// field/systems.md quotes 181 trees of the packing and 6 that replace them.
TEST_CASE("six trees of one link each broadcast on a DGX-1V") {
  const auto mesh = mesh_of(volta(), members(255));
  REQUIRE(mesh.has_value());
  CHECK_THAT(broadcast_bound(*mesh, 0) / 25_GBps, WithinRel(6.0, 1e-9));
  const TreePacking many = pack_fractional(*mesh, 0, TreeUse::broadcast);
  check_packing(*mesh, many, TreeUse::broadcast);
  CHECK(many.trees.size() > 20);
  const TreePacking few = pack_few(*mesh, 0, TreeUse::broadcast);
  check_packing(*mesh, few, TreeUse::broadcast);
  CHECK(few.trees.size() <= 6);
  CHECK_THAT(few.rate / 25_GBps, WithinRel(6.0, 1e-9));
}

TEST_CASE("on a switch a GPU sends once to each other one, whoever is the root") {
  // Reduce-scatter and all-gather in one hop each: 2 (n - 1) / n of the buffer over the link.
  const TreePacking trees = one_hop_trees(16, 150_GBps, TreeUse::all_reduce);
  CHECK_THAT(trees.rate / 150_GBps, WithinRel(16.0 / (2 * 15), 1e-12));
}

TEST_CASE("three phases across servers take the slower inside and the NICs between") {
  TreePacking slow;
  slow.rate = 50_GBps;
  TreePacking fast;
  fast.rate = 100_GBps;
  const std::vector<TreePacking> servers{slow, fast};
  // 1 GB: 20 ms up, 1 GB in each direction between two, 20 ms down.
  CHECK_THAT(three_phase_time(servers, 5_GBps, 1_GB) / 1_ms, WithinRel(240.0, 1e-12));
}

TEST_CASE("GPUs that no links join directly have no mesh") {
  CHECK_FALSE(mesh_of(volta(), std::vector<Rank>{0, 5, 6}).has_value());  // 0 alone
  const LinkGraph star = built(regular(switched(4, 0), 1, SingleSwitch{})).links;
  CHECK_FALSE(mesh_of(star, std::vector<Rank>{0, 1}).has_value());
}
