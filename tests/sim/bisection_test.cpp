// SPDX-License-Identifier: Apache-2.0
#include "sim/bisection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "sim/background.hpp"
#include "sim/max_flow.hpp"
#include "sim/regular_bisection.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random.hpp"
#include "tests/sim/topologies.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinRel;

namespace {

// In links of 10 GB/s.
double links_cut(const Topology& topology) {
  return bisection(built(topology).links).bandwidth / ten.bandwidth;
}

Server random_server(Random& random) {
  const auto rate = [&](std::uint32_t least, std::uint32_t most) {
    return LinkRate{1_GBps * static_cast<double>(random.between(least, most)), {}};
  };
  Server server = random.chance(0.3) ? pcie(random.chance(0.5)) : switched(1 << random.below(3), 1);
  if (server.sockets > 0) {
    server.pcie = rate(5, 40);
    server.pcie_uplink = rate(5, 40);
    server.socket_link = rate(5, 40);
    server.nics = static_cast<int>(random.between(2, 4));  // three share four switches unevenly
  } else {
    server.nics = std::max(server.gpus >> random.below(2), 1);
    server.fabric_link = rate(50, 500);
  }
  server.nic = rate(5, 50);
  return server;
}

// Halves of whole leaves or pods.
Topology random_tree(Random& random) {
  const int per_leaf = static_cast<int>(random.between(1, 3));
  const double ratio = 0.5 * random.between(1, 8);
  const bool rails = random.chance(0.5);
  const int spines = static_cast<int>(random.between(1, 3));
  FatTree tree = fat_tree(rails, per_leaf, spines, ratio);
  const int leaves = 2 * static_cast<int>(random.between(1, 2));
  if (random.chance(0.4)) {
    tree = with_pods(tree, leaves / 2, 2, 0.5 * random.between(1, 8));
  }
  return regular(random_server(random), leaves * per_leaf, tree);
}

// A draw has a statement of its own: compilers evaluate arguments in different orders.
Topology random_regular(Random& random) {
  const LinkRate link{1_GBps * static_cast<double>(random.between(5, 100)), {}};
  switch (random.below(5)) {
    case 0:
      return random_tree(random);
    case 1: {  // links inside groups are wide: 2 or 4 groups of 3 routers, one GPU each or two
      const int groups = random.chance(0.5) ? 2 : 4;
      Dragonfly fly{
          random.chance(0.5), groups, 3, 2, 1 + static_cast<int>(random.below(2)), 0, {}, link};
      fly.global_links = fly.plus ? 3 : 2;
      fly.local = {500_GBps, {}};
      fly.global.bandwidth = 1_GBps * static_cast<double>(random.between(1, 20));
      if (!fly.plus) {
        fly.spines = 0;
      }
      return regular(one_gpu(), groups * 3 * fly.servers_per_router, fly);
    }
    case 2: {
      const int side = 2 * static_cast<int>(random.between(1, 4));
      const int other = static_cast<int>(random.between(2, 4));
      const Server server = random.chance(0.5) ? Server{} : random_server(random);
      const bool long_first = random.chance(0.5);
      return regular(server, side * other,
                     Torus{long_first ? std::vector{side, other} : std::vector{other, side}, link});
    }
    case 3: {
      const Server server = random.chance(0.5) ? Server{} : random_server(random);
      return regular(server, 2 * static_cast<int>(random.between(1, 8)), FullMesh{link});
    }
    default: {
      const Server server = random_server(random);
      return regular(server, 2 * static_cast<int>(random.between(1, 6)), SingleSwitch{});
    }
  }
}

}  // namespace

TEST_CASE("a ring is cut at two links, a line at one") {
  CHECK_THAT(links_cut(torus({6})), WithinRel(2.0, 1e-9));
  CHECK_THAT(links_cut(torus({64})), WithinRel(2.0, 1e-9));
  Topology line = torus({6});
  line.faults.push_back({"failed.0", "s5.gpu0", "s0.gpu0", 0});
  CHECK_THAT(links_cut(line), WithinRel(1.0, 1e-9));
}

// Across the longest side: two links for each of the N / side lines along it.
TEST_CASE("a torus is cut across its longest side") {
  CHECK_THAT(links_cut(torus({4, 4})), WithinRel(8.0, 1e-9));
  CHECK_THAT(links_cut(torus({4, 8})), WithinRel(8.0, 1e-9));
  CHECK_THAT(links_cut(torus({8, 4})), WithinRel(8.0, 1e-9));
  CHECK_THAT(links_cut(torus({4, 4, 4})), WithinRel(32.0, 1e-9));
  CHECK_THAT(links_cut(torus({2, 2, 2})), WithinRel(4.0, 1e-9));  // a cube: single links
}

TEST_CASE("a full mesh has a link for each pair across, a switch one for each GPU of a half") {
  CHECK_THAT(links_cut(regular(Server{}, 8, FullMesh{ten})), WithinRel(16.0, 1e-9));
  CHECK_THAT(links_cut(regular(Server{}, 20, FullMesh{ten})), WithinRel(100.0, 1e-9));
  CHECK_THAT(links_cut(regular(Server{}, 9, FullMesh{ten})), WithinRel(20.0, 1e-9));  // 5 and 4
  CHECK_THAT(links_cut(regular(one_gpu(), 16, SingleSwitch{})), WithinRel(8.0, 1e-9));
  Server rack = switched(72, 0);
  rack.fabric_link = {900_GBps, {}};
  CHECK_THAT(bisection(built(regular(rack, 1, SingleSwitch{})).links).bandwidth / 1_GBps,
             WithinRel(36 * 900.0, 1e-9));
}

TEST_CASE("a fat tree keeps half of its NICs busy, less the oversubscription") {
  for (const double ratio : {1.0, 2.0, 7.0}) {
    for (const bool rails : {false, true}) {
      const Topology topology = regular(switched(4, 4), 16, fat_tree(rails, 4, 3, ratio));
      CHECK_THAT(links_cut(topology), WithinRel(16 * 4 / 2.0 / ratio, 1e-8));
    }
    // Oversubscribed above the pods: four pods of six servers, half of them across.
    const Topology pods = regular(one_gpu(), 24, with_pods(fat_tree(false, 2, 3, 1), 3, 2, ratio));
    CHECK_THAT(links_cut(pods), WithinRel(12.0 / ratio, 1e-8));
  }
}

TEST_CASE("a dragonfly is cut between its groups, one link for each pair of them") {
  // 9 groups of 4 routers would be cut within a group; with trunks of 4 links, 2 of 4 groups each.
  const Dragonfly fly{false, 4, 6, 0, 4, 2, ten, ten};  // 12 global links for 3 groups
  CHECK_THAT(links_cut(regular(one_gpu(), 96, fly)), WithinRel(2 * 2 * 4.0, 1e-9));
  Dragonfly plus = dragonfly_plus(4, 6, 3, 4);
  plus.servers_per_router = 4;
  CHECK_THAT(links_cut(regular(one_gpu(), 96, plus)), WithinRel(2 * 2 * 4.0, 1e-9));
}

TEST_CASE("a DGX-1V is cut where the fewest NVLinks join two fours, found by counting them") {
  const std::vector<int> links = dgx1_volta_links();
  int fewest = 100;
  for (unsigned set = 0; set < 256; ++set) {
    int cut = 0;
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b) {
        cut += (set >> a) % 2 == 1 && (set >> b) % 2 == 0 ? links[a * 8 + b] : 0;
      }
    }
    fewest = std::popcount(set) == 4 ? std::min(fewest, cut) : fewest;
  }
  const Bisection found = bisection(built(regular(dgx1(), 1, SingleSwitch{})).links);
  CHECK(found.exact);
  CHECK_THAT(found.bandwidth / 25_GBps, WithinRel(static_cast<double>(fewest), 1e-9));
}

TEST_CASE("the weaker direction of one-way links counts") {
  UserGraph graph;
  graph.vertices = {{"a", GraphVertexKind::gpu}, {"b", GraphVertexKind::gpu}};
  graph.gpus = 2;
  graph.links = {{0, 1, {30_GBps, {}}, false}, {1, 0, {20_GBps, {}}, false}};
  Topology topology;
  topology.shape = graph;
  CHECK_THAT(links_cut(topology), WithinRel(2.0, 1e-9));
}

TEST_CASE("the closed form of a regular network is the max-flow between its halves") {
  Random random(11);
  int compared = 0;
  for (int i = 0; i < 1000; ++i) {
    Topology topology = random_regular(random);
    if (random.chance(0.3)) {
      topology.background = {{{0.1, 0}, {0.25, 0}, {0.5, 0}}};
    }
    if (!check(topology).empty()) {
      continue;
    }
    const auto closed = regular_bisection(topology);
    const LinkGraph links = built(topology).links;
    const std::vector<Bandwidth> left = left_capacities(topology, links);
    std::vector<Edge> edges = links.edges();
    for (EdgeId e = 0; e < edges.size(); ++e) {
      edges[e].capacity = left[e];
    }
    std::vector<VertexId> gpus;
    for (Rank r = 0; r < links.ranks(); ++r) {
      gpus.push_back(links.gpu(r));
    }
    const Bisection flow = bisection({links.vertices(), std::move(edges), std::move(gpus)});
    INFO(i << ": " << links.ranks() << " GPUs, network "
           << std::get<RegularTopology>(topology.shape).network.index());
    REQUIRE(std::holds_alternative<Bandwidth>(closed));
    CHECK_THAT(std::get<Bandwidth>(closed) / flow.bandwidth, WithinRel(1.0, 1e-6));
    ++compared;
  }
  CHECK(compared > 60);
}

// Two NICs on one socket share its two uplinks of 5 GB/s, a third has those of the other socket,
// and its rail carries 8. Between halves of whole servers each sends 10 + 1 over the link between
// the sockets + 8. With every server divided between its sockets each sends 1 over that link, and
// 8 through the network, which the single NIC of the other socket receives.
TEST_CASE("servers divided between their sockets may pass less than halves of servers") {
  Server server = pcie(false);
  server.nics = 3;
  server.nic = server.pcie = {40_GBps, {}};
  server.pcie_uplink = {5_GBps, {}};
  server.socket_link = {1_GBps, {}};
  const Topology topology = regular(server, 4, fat_tree(true, 2, 2, 5));
  const LinkGraph links = built(topology).links;
  std::vector<VertexId> half;
  std::vector<VertexId> other;
  for (Rank r = 0; r < 32; ++r) {
    (r < 16 ? half : other).push_back(links.gpu(r));
  }
  CHECK_THAT(MaxFlow(links).between(half, other) / 1_GBps, WithinRel(2 * 19.0, 1e-9));
  CHECK_THAT(std::get<Bandwidth>(regular_bisection(topology)) / 1_GBps, WithinRel(4 * 9.0, 1e-9));
  CHECK_THAT(bisection(links).bandwidth / 1_GBps, WithinRel(4 * 9.0, 1e-6));
}

// All links together carry 1.28e19 bytes/s, more than 64 bits count; those of a half 3.2e18.
TEST_CASE("links as wide as may be simulated are cut at what those of a half carry") {
  constexpr VertexId hub = 64;
  const Bandwidth each{1e17};
  std::vector<Vertex> vertices(hub + 1);
  std::vector<Edge> edges;
  std::array<std::vector<VertexId>, 2> halves;
  for (VertexId gpu = 0; gpu < hub; ++gpu) {
    edges.push_back({gpu, hub, each, {}, LinkClass::network});
    edges.push_back({hub, gpu, each, {}, LinkClass::network});
    halves.at(gpu % 2).push_back(gpu);
  }
  const LinkGraph star(std::move(vertices), std::move(edges), {});
  CHECK(MaxFlow(star).between(halves[0], halves[1]) == 32 * each);
}

TEST_CASE("a network whose halves are not alike has no closed form, and it is said why") {
  const auto why = [](const Topology& topology) {
    return std::get<std::string>(regular_bisection(topology));
  };
  CHECK(why(regular(one_gpu(), 7, SingleSwitch{})) == "servers do not fill halves");
  CHECK(why(regular(one_gpu(), 6, fat_tree(false, 2, 1, 1))) == "leaves do not fill halves");
  CHECK(why(torus({3, 5})) == "servers do not fill halves");
  Topology loaded = torus({4});
  loaded.background[0].sd = 0.1;
  CHECK(why(loaded) == "the traffic of others differs from link to link");
  Topology failed = torus({4});
  failed.faults.push_back({"failed.0", "s0.gpu0", "s1.gpu0", 0});
  CHECK(why(failed) == "links have failed or are degraded");
}
