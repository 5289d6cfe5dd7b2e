// SPDX-License-Identifier: Apache-2.0
#include "sim/bisection.hpp"

#include <algorithm>
#include <bit>

#include "tests/catch.hpp"
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
