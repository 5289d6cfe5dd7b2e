// SPDX-License-Identifier: Apache-2.0
#include "sim/routing.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/regular_routes.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

std::uint32_t cost_of(const LinkGraph& links, const std::vector<VertexId>& path) {
  std::uint32_t cost = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const auto edge = links.find(path[i - 1], path[i]);
    REQUIRE(edge.has_value());
    cost += links.edges()[*edge].cost();
  }
  return cost;
}

// What flows into every vertex less what flows out of it.
std::map<VertexId, double> balance_of(const LinkGraph& links,
                                      const std::vector<EdgeShare>& shares) {
  std::map<VertexId, double> balance;
  for (const EdgeShare& share : shares) {
    balance[links.edges()[share.edge].from] -= share.share;
    balance[links.edges()[share.edge].to] += share.share;
  }
  return balance;
}

double share_on(const LinkGraph& links, const std::vector<EdgeShare>& shares,
                const std::string& edge) {
  double together = 0;
  for (const EdgeShare& share : shares) {
    together += links.edge_name(share.edge) == edge ? share.share : 0;
  }
  return together;
}

}  // namespace

TEST_CASE("every route in closed form is as short as the shortest path that a search finds") {
  for (const auto& [name, topology] : every_kind()) {
    INFO(name);
    const TopologyGraph graph = built(topology);
    REQUIRE(graph.regular.has_value());
    ShortestPaths shortest(graph.links);
    const auto ranks = static_cast<Rank>(graph.links.ranks());
    std::size_t in_closed_form = 0;
    for (Rank to = 0; to < ranks; ++to) {
      const std::vector<std::uint32_t>& costs = shortest.costs_to(graph.links.gpu(to));
      for (Rank from = 0; from < ranks; ++from) {
        const std::uint32_t count = route_count(*graph.regular, from, to);
        std::set<std::vector<VertexId>> paths;
        for (std::uint32_t choice = 0; choice < count; ++choice) {
          const std::vector<VertexId> path = route(*graph.regular, from, to, choice);
          if (path.empty()) {
            continue;
          }
          REQUIRE(path.front() == graph.links.gpu(from));
          REQUIRE(path.back() == graph.links.gpu(to));
          REQUIRE(cost_of(graph.links, path) == costs[graph.links.gpu(from)]);
          paths.insert(path);
          ++in_closed_form;
        }
        CHECK((paths.empty() || paths.size() == count));  // each choice is another path
      }
    }
    CHECK(in_closed_form >= std::size_t{ranks} * ranks / 2);
  }
}

TEST_CASE("a mesh without a link between two GPUs sends through a third one") {
  const TopologyGraph graph = built(regular(dgx1(), 1, SingleSwitch{}));
  Routing routing(graph, Balance::hashed, 1);
  CHECK(routing.route(0, 3, 0).size() == 1);
  CHECK(routing.route(0, 5, 0).size() == 2);  // by GPU 1 or by GPU 4
  // Ideal balance takes both ways by their first link: 0-1 is a single one, 0-4 a double.
  Routing spread(graph, Balance::ideal, 1);
  const std::vector<EdgeShare> shares = spread.route(0, 5, 0);
  CHECK_THAT(share_on(graph.links, shares, "gpu0 > gpu1"), WithinRel(1.0 / 3, 1e-12));
  CHECK_THAT(share_on(graph.links, shares, "gpu4 > gpu5"), WithinRel(2.0 / 3, 1e-12));
}

TEST_CASE("whatever the balance, all of a flow leaves its source and reaches its destination") {
  for (const auto& [name, topology] : every_kind()) {
    for (const Balance balance : {Balance::hashed, Balance::ideal}) {
      INFO(name);
      const TopologyGraph graph = built(topology);
      Routing routing(graph, balance, 7);
      const auto ranks = static_cast<Rank>(graph.links.ranks());
      for (Rank r = 0; r < ranks; ++r) {
        const Rank to = (r * 5 + 3) % ranks;
        if (to == r) {
          continue;
        }
        for (const auto& [vertex, rest] : balance_of(graph.links, routing.route(r, to, r))) {
          const double wanted = vertex == graph.links.gpu(r)    ? -1
                                : vertex == graph.links.gpu(to) ? 1
                                                                : 0;
          REQUIRE_THAT(rest, WithinAbs(wanted, 1e-12));
        }
      }
    }
  }
}

TEST_CASE("hashed flows depend on the seed and on nothing else") {
  const Topology topology = regular(switched(4, 4), 8, fat_tree(false, 2, 8, 1));
  const TopologyGraph graph = built(topology);
  const TopologyGraph again = built(topology);
  Routing a(graph, Balance::hashed, 1);
  Routing b(again, Balance::hashed, 1);
  Routing c(graph, Balance::hashed, 2);
  int same = 0;
  constexpr int flows = 200;
  for (std::uint64_t flow = 0; flow < flows; ++flow) {
    CHECK(a.route(0, 31, flow) == b.route(0, 31, flow));
    same += a.route(0, 31, flow) == c.route(0, 31, flow) ? 1 : 0;
  }
  CHECK(same < flows / 2);  // 1 in 8 expected
}

TEST_CASE("hashed flows collide as balls in bins: 8 on 8 links put 2 to 4 on the fullest") {
  const TopologyGraph graph = built(regular(one_gpu(), 16, fat_tree(false, 8, 8, 1)));
  double fullest_together = 0;
  constexpr int draws = 400;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    Routing routing(graph, Balance::hashed, seed);
    std::map<EdgeId, int> load;
    for (Rank r = 0; r < 8; ++r) {
      ++load[routing.route(r, 8 + r, 0)[2].edge];  // GPU, NIC, leaf, then the spine
    }
    int fullest = 0;
    for (const auto& [edge, flows] : load) {
      fullest = std::max(fullest, flows);
    }
    fullest_together += fullest;
  }
  // The expected largest load of 8 balls in 8 bins, from all compositions of 8: 2.597.
  CHECK_THAT(fullest_together / draws, WithinAbs(2.597, 0.1));
}

TEST_CASE("ideal balance loads the spines of a tree evenly, and a degraded one less") {
  Topology topology = regular(one_gpu(), 16, fat_tree(false, 8, 4, 1));
  const TopologyGraph graph = built(topology);
  Routing routing(graph, Balance::ideal, 1);
  for (const char* up : {"leaf0 > spine0", "leaf0 > spine3", "spine2 > leaf1"}) {
    CHECK_THAT(share_on(graph.links, routing.route(0, 15, 0), up), WithinRel(0.25, 1e-12));
  }
  topology.faults.push_back({"degraded.0", "leaf0", "spine0", 0.5});
  const TopologyGraph worn = built(topology);
  Routing around(worn, Balance::ideal, 1);
  // Paths carry 0.5, 1, 1 and 1.
  CHECK_THAT(share_on(worn.links, around.route(0, 15, 0), "leaf0 > spine0"),
             WithinRel(0.5 / 3.5, 1e-12));
}

TEST_CASE("ideal balance in closed form is what the search over all shortest paths gives") {
  const Topology topology =
      regular(switched(2, 2), 12, with_pods(fat_tree(true, 2, 2, 1), 2, 2, 1));
  const TopologyGraph graph = built(topology);
  TopologyGraph unknown = graph;
  unknown.regular.reset();
  Routing closed(graph, Balance::ideal, 1);
  Routing searched(unknown, Balance::ideal, 1);
  for (Rank to = 1; to < 24; ++to) {
    const std::vector<EdgeShare> shares = closed.route(0, to, 0);
    const std::vector<EdgeShare> found = searched.route(0, to, 0);
    REQUIRE(shares.size() == found.size());
    for (const EdgeShare& share : shares) {
      const std::string edge = graph.links.edge_name(share.edge);
      CHECK_THAT(share_on(graph.links, found, edge), WithinRel(share.share, 1e-12));
    }
    CHECK_THAT(closed.latency(0, to, 0) / 1_us,
               WithinRel(searched.latency(0, to, 0) / 1_us, 1e-12));
  }
}

TEST_CASE("routes lead around a failed link, and as far as they must") {
  Topology topology = torus({6});
  topology.faults.push_back({"failed.0", "gpu0", "gpu1", 0});
  CHECK(build(topology).problems.size() == 2);  // every server of a ring has a name of its own
  topology.faults = {{"failed.0", "s0.gpu0", "s1.gpu0", 0}};
  const TopologyGraph graph = built(topology);
  Routing routing(graph, Balance::hashed, 1);
  CHECK(routing.route(0, 1, 0).size() == 5);
  CHECK(routing.route(2, 3, 0).size() == 1);
  CHECK_THAT(routing.latency(0, 1, 0) / 1_us, WithinRel(5.0, 1e-12));
}

TEST_CASE("what a GPU sends to a NIC passes its socket only without GPUDirect") {
  for (const bool gpudirect : {true, false}) {
    const TopologyGraph graph = built(regular(pcie(gpudirect), 2, SingleSwitch{}));
    Routing routing(graph, Balance::hashed, 1);
    const std::vector<EdgeShare> out = routing.route(0, 8, 0);
    const bool by_socket = std::any_of(out.begin(), out.end(), [&](const EdgeShare& share) {
      const VertexId to = graph.links.edges()[share.edge].to;
      return graph.links.vertices()[to].kind == GraphVertexKind::socket;
    });
    CHECK(by_socket == !gpudirect);
    // GPUs 0 and 1 share a switch, 0 and 2 a socket, 0 and 4 neither.
    CHECK(routing.route(0, 1, 0).size() == 2);
    CHECK(routing.route(0, 2, 0).size() == 4);
    CHECK(routing.route(0, 4, 0).size() == 5);
  }
}
