// SPDX-License-Identifier: Apache-2.0
#include "sim/tree_programs.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "model/nccl_constants.hpp"
#include "sim/collective_steps.hpp"
#include "sim/tree_rates.hpp"
#include "tests/catch.hpp"
#include "tests/sim/symbolic_data.hpp"
#include "tests/sim/topologies.hpp"

// Trees of one hop on a switch and in three phases across servers, against Blink's own formulas and
// what the paper measured.

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinRel;

namespace {

LaidProgram laid_trees(const ProgramRanks& ranks, const Topology& topology,
                       const TopologyGraph& graph, Collective collective = Collective::all_reduce) {
  LaidOrReason laid = packed_trees(collective, ranks, topology, graph);
  INFO((std::holds_alternative<std::string>(laid) ? std::get<std::string>(laid) : ""));
  REQUIRE(std::holds_alternative<LaidProgram>(laid));
  return std::get<LaidProgram>(std::move(laid));
}

Topology even(const Server& server, int servers) {
  Topology topology = regular(server, servers, SingleSwitch{});
  topology.balance = Balance::ideal;
  return topology;
}

// 16 V100 on NVSwitch, 150 GB/s each way.
Topology dgx2() {
  Server server = switched(16, 0);
  server.fabric_link = {150_GBps, 1_us};
  return even(server, 1);
}

Server dgx1_with_nics() {
  Server server = dgx1();
  server.nics = 4;
  server.nic = {12.5_GBps, 1_us};
  return server;
}

Bandwidth slowest_inside(const ServerTreesProgram& program, Routing& routing) {
  const std::vector<ServerRate> rates = server_rates(program, routing);
  return std::min_element(rates.begin(), rates.end(),
                          [](const auto& a, const auto& b) { return a.inside < b.inside; })
      ->inside;
}

// three_phase_time knows rates only.
TreePacking at_rate(Bandwidth rate) {
  TreePacking packing;
  packing.rate = rate;
  return packing;
}

}  // namespace

// Wang et al. measure on a DGX-2, against NCCL 2.4, up to 3.32 times less latency and up to 3.5
// times the throughput. Of long buffers links explain nothing of it: rings and trees of one hop
// pass the same bytes over every link, once they are long enough. What remains is steps: 30 of a
// ring, and of NCCL's trees, which are chains inside a server, against 2.
TEST_CASE("on a DGX-2 trees of one hop save steps, and no bytes") {
  const Topology topology = dgx2();
  const TopologyGraph graph = built(topology);
  const ProgramRanks ranks{16, 16};
  const LaidProgram trees = laid_trees(ranks, topology, graph);
  check_result(trees.whole);
  check_result(trees.program);
  CHECK(trees.whole.steps() == 2);
  const auto ring = std::get<LaidProgram>(
      program_of(Collective::all_reduce, Algorithm::ring, ranks, topology, graph));
  const auto time = [&](const LaidProgram& laid, Bytes size) {
    return run_steps(laid, size, std::nullopt, 5_us, graph, topology).alpha_beta;
  };
  std::printf("all-reduce on 16 GPUs of one switch, rings over trees of one hop, α-β:");
  for (Bytes size = 1_KiB; size <= 1_GiB; size = size * 32) {
    std::printf(" %.2f", time(ring, size) / time(trees, size));
  }
  std::printf("\n");
  CHECK_THAT(time(ring, 1_KiB) / time(trees, 1_KiB), WithinRel(30.0 / 2, 0.02));
  const Seconds wire = 1_GiB / one_hop_trees(16, 150_GBps, TreeUse::all_reduce).rate;
  CHECK_THAT(time(trees, 1_GiB) / wire, WithinRel(1.0, 0.001));
  CHECK_THAT(time(ring, 1_GiB) / time(trees, 1_GiB), WithinRel(1.0, 0.01));
  // NCCL's own latencies, of the oldest release that is known: a call, and 30 or 2 steps of LL.
  // That is 3.9 times as long, where the paper measures 3.32 at most.
  const nccl::Latencies& known = nccl::latencies_2_8;
  const auto call = [&](double steps) { return known.base.ring[0] + steps * known.nvlink.ring[0]; };
  std::printf("latency of a call of 30 steps over one of 2: %.2f, measured up to 3.32\n",
              call(30) / call(2));
  CHECK_THAT(call(30) / call(2), WithinRel(3.32, 0.2));
}

// A ring of four GPUs, and a wide link from the first to the third that leads nowhere back.
TEST_CASE("trees of an all-reduce keep to links that lead both ways") {
  UserGraph graph;
  graph.gpus = 4;
  for (std::size_t gpu = 0; gpu < graph.gpus; ++gpu) {
    graph.vertices.push_back({"gpu" + std::to_string(gpu), GraphVertexKind::gpu});
    graph.links.push_back({gpu, (gpu + 1) % graph.gpus, ten});
  }
  graph.links.push_back({0, 2, {100_GBps, 1_us}, false});
  Topology topology;
  topology.shape = graph;
  const LaidProgram laid = laid_trees({4, 4}, topology, built(topology));
  const auto& packing = std::get<TreesProgram>(laid.whole.kind()).packing;
  for (const PackedTree& tree : packing.trees) {
    CHECK(tree.parent[2] != 0);
  }
  CHECK(packing.rate <=
        1.0001 * all_reduce_bound(*mesh_of(built(topology).links, std::vector<Rank>{0, 1, 2, 3})));
}

TEST_CASE("a broadcast on a switch goes to every GPU and from there to all, at the link's rate") {
  const Topology topology = dgx2();
  const TopologyGraph graph = built(topology);
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    const LaidProgram trees = laid_trees({16, 16}, topology, graph, collective);
    check_result(trees.whole);
    check_result(trees.program);
    const CollectiveSteps steps = run_steps(trees, 1_GiB, std::nullopt, 5_us, graph, topology);
    const Seconds wire = 1_GiB / 150_GBps;
    CHECK(steps.alpha_beta >= wire);
    CHECK(steps.alpha_beta <= wire * (1 + 1.0 / 8));  // filling the pipeline
  }
}

TEST_CASE("three phases across servers with a switch take three_phase_time and their steps") {
  for (const int servers : {2, 3, 4}) {
    const Topology topology = even(switched(8, 8), servers);  // 100 GB/s inside, 8 NICs of 10 GB/s
    const TopologyGraph graph = built(topology);
    const LaidProgram trees = laid_trees({static_cast<Rank>(8 * servers), 8}, topology, graph);
    check_result(trees.whole);
    check_result(trees.program);
    // Up, across and back, down.
    CHECK(trees.whole.steps() == 4);
    const TreePacking inside = one_hop_trees(8, 100_GBps, TreeUse::broadcast);
    Routing routing(graph, topology.balance, topology.seed);
    const auto& program = std::get<ServerTreesProgram>(trees.program.kind());
    CHECK_THAT(slowest_inside(program, routing) / inside.rate, WithinRel(1.0, 1e-9));
    const std::vector<TreePacking> all(static_cast<std::size_t>(servers), inside);
    const Seconds wire = three_phase_time(all, 80_GBps, 1_GiB);
    const CollectiveSteps steps = run_steps(trees, 1_GiB, std::nullopt, 5_us, graph, topology);
    INFO(servers << " servers: " << steps.alpha_beta.si << " against " << wire.si);
    CHECK(steps.alpha_beta >= wire);
    CHECK(steps.alpha_beta <= wire * 1.01);
  }
}

TEST_CASE("three phases across hybrid cubes use all of their links and NICs") {
  const Topology topology = even(dgx1_with_nics(), 2);
  const TopologyGraph graph = built(topology);
  const LaidProgram trees = laid_trees({16, 8}, topology, graph);
  check_result(trees.whole);
  check_result(trees.program);
  Routing routing(graph, topology.balance, topology.seed);
  const Bandwidth inside =
      slowest_inside(std::get<ServerTreesProgram>(trees.program.kind()), routing);
  // Six links of 25 GB/s into every GPU, whose own eighth comes from nobody: 8/7 of what packed
  // trees from one root carry. Trees from several roots do not fit each other to the last link.
  std::printf("hybrid cubes, trees from eight roots: %.1f GB/s of %.1f\n", inside / 1_GBps,
              150 * 8.0 / 7);
  CHECK(inside >= 150_GBps * (1 - 1e-9));
  CHECK(inside <= 150_GBps * (8.0 / 7) * (1 + 1e-9));
  const std::vector<TreePacking> all(2, at_rate(inside));
  const Seconds wire = three_phase_time(all, 50_GBps, 1_GiB);
  const CollectiveSteps steps = run_steps(trees, 1_GiB, std::nullopt, 5_us, graph, topology);
  CHECK(steps.alpha_beta >= wire * (1 - 1e-9));
  CHECK(steps.alpha_beta <= wire * 1.05);  // a ninth of the phases inside fills the pipeline
}

// The paper's job on two servers: 3 GPUs of one DGX-1V and 5 of another, 40 Gb/s between them.
TEST_CASE("servers with different numbers of GPUs share parts where their trees begin and end") {
  Server server = dgx1();
  server.nics = 1;
  server.nic = {5_GBps, 1_us};
  const Topology topology = even(server, 2);
  const TopologyGraph whole = built(topology);
  const TopologyGraph graph = part_of(whole, std::vector<Rank>{0, 1, 2, 8, 9, 10, 11, 12});
  const LaidProgram trees = laid_trees({8, 1}, topology, graph);
  check_result(trees.whole);
  check_result(trees.program);
  const auto& program = std::get<ServerTreesProgram>(trees.program.kind());
  double together = 0;
  for (const ServerTreesProgram::Part& part : program.parts) {
    together += part.share;
  }
  CHECK_THAT(together, WithinRel(1.0, 1e-9));
  Routing routing(graph, topology.balance, topology.seed);
  // Of five shares, with a GPU of the larger server each, two have the same one of the smaller.
  const std::vector<ServerRate> servers = server_rates(program, routing);
  REQUIRE(servers.size() == 2);
  CHECK(servers[0].ranks == std::vector<Rank>{0, 1, 2});
  CHECK(servers[0].shares_of_root == 2);
  CHECK(servers[1].ranks == std::vector<Rank>{3, 4, 5, 6, 7});
  CHECK(servers[1].shares_of_root == 1);
  const std::vector<TreePacking> all(2, at_rate(slowest_inside(program, routing)));
  const Seconds wire = three_phase_time(all, 5_GBps, 1_GiB);
  const CollectiveSteps steps = run_steps(trees, 1_GiB, std::nullopt, 5_us, graph, topology);
  CHECK(steps.alpha_beta >= wire * (1 - 1e-9));
  CHECK(steps.alpha_beta <= wire * 1.05);
  // Between the servers 1 GiB passes each way, whatever happens inside: no program is faster, so
  // that trees gain what rings lose inside, the paper's 11 % of an iteration at most.
  CHECK(steps.alpha_beta >= 1_GiB / 5_GBps);
  CHECK(steps.alpha_beta <= (1_GiB / 5_GBps) * 1.25);
}
