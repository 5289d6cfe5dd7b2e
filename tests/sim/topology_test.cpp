// SPDX-License-Identifier: Apache-2.0
#include "sim/topology.hpp"

#include <algorithm>
#include <map>

#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

// Up and down of every vertex whose name begins so.
std::pair<Bandwidth, Bandwidth> up_and_down(const LinkGraph& links, const std::string& word,
                                            const std::string& above) {
  std::pair<Bandwidth, Bandwidth> result;
  for (const Edge& edge : links.edges()) {
    if (links.vertices()[edge.from].name.rfind(word, 0) == 0) {
      const bool up = links.vertices()[edge.to].name.rfind(above, 0) == 0;
      (up ? result.first : result.second) += edge.capacity;
    }
  }
  return result;
}

Topology graph_of(std::vector<UserGraph::Vertex> vertices, std::size_t gpus,
                  std::vector<UserGraph::Link> links) {
  Topology topology;
  topology.shape = UserGraph{std::move(vertices), gpus, std::move(links), {}};
  return topology;
}

}  // namespace

// The neighbours and widths that NCCL prints for such a server (`nvidia-smi topo -m` of 8
// V100-SXM2: Oneflow-Inc/DLPerf, OneFlow/ConvNets/rn50_fp32_report_0821.md), pair by pair.
TEST_CASE("the GPUs of a DGX-1V have 6 NVLinks each, one or two to four others") {
  const TopologyGraph graph = built(regular(dgx1(), 1, SingleSwitch{}));
  const std::map<std::pair<Rank, Rank>, int> published = {
      {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{0, 4}, 2}, {{1, 2}, 2}, {{1, 3}, 1},
      {{1, 5}, 2}, {{2, 3}, 2}, {{2, 6}, 1}, {{3, 7}, 1}, {{4, 5}, 1}, {{4, 6}, 1},
      {{4, 7}, 2}, {{5, 6}, 2}, {{5, 7}, 1}, {{6, 7}, 2}};
  CHECK(graph.links.edges().size() == 2 * published.size());
  for (Rank a = 0; a < 8; ++a) {
    Bandwidth of_gpu{};
    for (const Edge& edge : graph.links.out(graph.links.gpu(a))) {
      of_gpu += edge.capacity;
      const auto pair = published.find(std::minmax(edge.from, edge.to));
      REQUIRE(pair != published.end());
      CHECK_THAT(edge.capacity / 25_GBps, WithinRel(static_cast<double>(pair->second), 1e-12));
    }
    CHECK_THAT(of_gpu / 25_GBps, WithinRel(6.0, 1e-12));
  }
}

TEST_CASE("the uplinks of leaves and spines are what comes from below, less the oversubscription") {
  const LinkGraph links =
      built(regular(one_gpu(), 24, with_pods(fat_tree(false, 2, 3, 4), 3, 2, 1.5))).links;
  const auto [leaf_up, leaf_down] = up_and_down(links, "leaf", "spine");
  CHECK_THAT(leaf_down / leaf_up, WithinRel(4.0, 1e-12));
  const auto [spine_up, spine_down] = up_and_down(links, "spine", "core");
  CHECK_THAT(spine_down / spine_up, WithinRel(1.5, 1e-12));
}

TEST_CASE("on rails a leaf joins the same NIC of every server of its group") {
  const TopologyGraph graph = built(regular(switched(4, 4), 8, fat_tree(true, 4, 2, 1)));
  const RegularLayout& layout = *graph.regular;
  for (std::uint32_t s = 0; s < 8; ++s) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      CHECK(layout.entry(s, k) == layout.entry(s / 4 * 4, k));
      CHECK(layout.entry(s, k) != layout.entry(s, (k + 1) % 4));
    }
  }
}

TEST_CASE("a full-size dragonfly has one link between every two groups, h at every router") {
  const int routers = 4;
  const int h = 2;
  const LinkGraph links = built(regular(one_gpu(), 72, dragonfly(routers, h, 2))).links;
  std::map<std::pair<std::string, std::string>, int> between;
  std::map<VertexId, int> of_router;
  for (const Edge& edge : links.edges()) {
    if (edge.link_class == LinkClass::global) {
      const std::string& a = links.vertices()[edge.from].name;
      const std::string& b = links.vertices()[edge.to].name;
      ++between[{a.substr(0, a.find('.')), b.substr(0, b.find('.'))}];
      ++of_router[edge.from];
    }
  }
  CHECK(between.size() == 9 * 8);
  CHECK(std::all_of(between.begin(), between.end(), [](const auto& p) { return p.second == 1; }));
  CHECK(of_router.size() == 9 * 4);
  CHECK(std::all_of(of_router.begin(), of_router.end(),
                    [&](const auto& p) { return p.second == h; }));
}

TEST_CASE("links between the same two vertices are one bundle") {
  const Topology topology =
      graph_of({{"a", GraphVertexKind::gpu}, {"b", GraphVertexKind::gpu}}, 2,
               {{0, 1, {10_GBps, 2_us}, true}, {1, 0, {15_GBps, 1_us}, true}});
  const LinkGraph links = built(topology).links;
  REQUIRE(links.edges().size() == 2);
  CHECK(links.edges()[0].capacity == 25_GBps);
  CHECK(links.edges()[1].capacity == 25_GBps);
}

TEST_CASE("ranks that are cut off are named, each once, those in a row together") {
  Topology topology = regular(one_gpu(), 8, fat_tree(false, 2, 2, 1));
  topology.faults = {{"failed.0", "s3.nic0", "leaf1", 0},
                     {"failed.1", "leaf3", "spine0", 0},
                     {"failed.2", "leaf3", "spine1", 0}};
  const Problems problems = build(topology).problems;
  REQUIRE(problems.size() == 2);
  CHECK_THAT(problems[0].message, ContainsSubstring("to rank 3 (s3.gpu0)"));
  CHECK_THAT(problems[1].message, ContainsSubstring("to ranks 6 to 7 (s6.gpu0 to s7.gpu0)"));
}

TEST_CASE("of a hundred ranks none that is cut off is left out") {
  // 50 servers of one GPU below a leaf that has lost its spine: one line.
  Topology topology = regular(one_gpu(), 100, fat_tree(false, 50, 1, 1));
  topology.faults = {{"failed.0", "leaf1", "spine0", 0}};
  const Problems together = build(topology).problems;
  REQUIRE(together.size() == 1);
  CHECK_THAT(together[0].message,
             ContainsSubstring("rank 0 (s0.gpu0) to ranks 50 to 99 (s50.gpu0 to s99.gpu0)"));
  // Every other server without its NIC: 20 lines, and how many there are not: 50 - 20.
  topology.faults.clear();
  for (int s = 1; s < 100; s += 2) {
    const std::string server = "s" + std::to_string(s);
    topology.faults.push_back(
        {"failed." + std::to_string(s / 2), server + ".gpu0", server + ".nic0", 0});
  }
  const Problems apart = build(topology).problems;
  REQUIRE(apart.size() == 21);
  CHECK_THAT(apart.back().message, ContainsSubstring("30 more"));
}

TEST_CASE("a link in one direction leaves a rank that cannot answer") {
  const Topology topology =
      graph_of({{"a", GraphVertexKind::gpu}, {"b", GraphVertexKind::gpu}}, 2, {{0, 1, ten, false}});
  const Problems problems = build(topology).problems;
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, ContainsSubstring("from rank 1 (b) to rank 0 (a)"));
}

TEST_CASE("GPUs of a switch pass nothing on: without its NIC a rank reaches its server only") {
  Topology topology = regular(switched(2, 2), 2, SingleSwitch{});
  topology.faults = {{"failed.0", "s0.gpu1", "s0.nic1", 0}};
  const Problems problems = build(topology).problems;
  REQUIRE_FALSE(problems.empty());
  CHECK_THAT(problems[0].message, ContainsSubstring("rank 1 (s0.gpu1)"));
}

TEST_CASE("faults of what is not there are refused by their place in the file") {
  Topology topology = regular(one_gpu(), 4, fat_tree(false, 2, 2, 1));
  topology.faults = {{"failed.0", "leaf0", "spine9", 0}, {"degraded.0", "leaf0", "leaf1", 0.5}};
  const Problems problems = build(topology).problems;
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].path == "failed.0");
  CHECK(problems[1].path == "degraded.0");
}

TEST_CASE("a rank order that is no permutation names every rank that is wrong") {
  Topology topology = torus({4});
  topology.rank_order = {0, 2, 2, 7};
  const Problems problems = check(topology);
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].path == "rank_order.2");  // 2 again
  CHECK(problems[1].path == "rank_order.3");  // there is no 7
  CHECK_THAT(problems[2].message, ContainsSubstring("GPU 1 has no rank"));
  CHECK_THAT(problems[3].message, ContainsSubstring("GPU 3 has no rank"));
  topology.rank_order = {3, 1, 2, 0};
  CHECK(built(topology).links.gpu(0) == 3);
}

TEST_CASE("networks that cannot be built are refused, each field by its path") {
  const auto path_of = [](const Topology& topology) {
    const Problems problems = check(topology);
    REQUIRE(problems.size() == 1);
    return problems[0].path;
  };
  CHECK(path_of(regular(Server{}, 7, Torus{{2, 3}, ten})) == "network.sides");
  CHECK(path_of(regular(one_gpu(), 200, dragonfly(4, 2, 2))) == "servers");
  CHECK(path_of(regular(one_gpu(), 8, Dragonfly{false, 5, 3, 0, 2, 1, ten, ten})) ==
        "network.global_links");
  CHECK(path_of(regular(switched(8, 0), 2, SingleSwitch{})) == "server.nics");
  Server asymmetric = dgx1();
  asymmetric.mesh[1] = 2;
  CHECK(path_of(regular(asymmetric, 1, SingleSwitch{})) == "server.fabric.links");
}
