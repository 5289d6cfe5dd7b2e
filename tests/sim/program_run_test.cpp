// SPDX-License-Identifier: Apache-2.0
#include "sim/program_run.hpp"

#include <cmath>

#include "sim/program.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

std::size_t send_count(const Program& program) {
  std::size_t count = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    program.sends(step, sends);
    count += sends.size();
  }
  return count;
}

}  // namespace

TEST_CASE("a program that meets nobody takes its price, to a tick for each step") {
  const std::vector<Program> programs = {
      Program(RingProgram{12, Outcome::all_reduced}),
      Program(RingProgram{7, Outcome::gathered}),
      Program(HalvingDoublingProgram{16}),
      Program(BruckProgram{13}),
      Program(PairwiseProgram{9}),
      Program(TwoShotProgram{8}),
      Program(HierarchicalProgram{4, 8}),
      Program(PxnProgram{4, 8}),
      Program(BruckProgram{13, Outcome::scattered_sums}),
      Program(DoubleTreeProgram{12, 16}),
      Program(RailTreesProgram{4, 8, 64}),
      Program(NvlsProgram{1, 8, Outcome::all_reduced, 24}),
      Program(NvlsProgram{1, 8, Outcome::gathered, 24}),
      Program(NvlsProgram{5, 4, Outcome::all_reduced, 24}),
      Program(ChainsProgram{4, 8, Outcome::broadcast, 40}),
      Program(ChainsProgram{2, 8, Outcome::reduced, 40}),
      Program(SparseGatherProgram{std::vector<double>(6, 0.02)}),
      Program(SparseGatherProgram{{0.05, 0.4, 0.2, 0.05, 0.2, 0.1}, 3}),
      Program(ParameterServerProgram{9, 2}),
      Program(ParameterServerProgram{9, 9, true}),
      Program(GossipProgram{{{1, 2}, {2}, {0, 1}}})};
  for (const Program& program : programs) {
    INFO(program.name());
    for (const Bytes size : {64_KiB, 25_MB, 3_GiB}) {
      const Seconds time = 31_us + size / 37_GBps;
      const ProgramRun alone = run(program, size, send_price(program, size, time, 31_us));
      CHECK(alone.sends == send_count(program));
      CHECK_THAT(alone.time.si, WithinAbs(time.si, 2e-12 * program.steps()));
    }
  }
}

TEST_CASE("on its own ring a ring all-reduce takes 2 (n - 1) (a + S / n B)") {
  const TopologyGraph graph = built(torus({8}));
  Routing routing(graph, Balance::hashed, 1);
  const ProgramRun ring = run(Program(RingProgram{8, Outcome::all_reduced}), 80_MB, {}, &routing);
  CHECK_THAT(ring.time / 1_us, WithinRel(14 * (1 + 1000.0), 1e-6));
  CHECK(ring.sends == 2 * 8 * 7);
  // Every link in one direction carries 2 (n - 1) / n of the buffer, the other direction nothing.
  std::size_t used = 0;
  for (const Bytes bytes : ring.edge_bytes) {
    used += bytes > 0_B ? 1U : 0U;
    CHECK((bytes == 0_B || std::abs(bytes / 80_MB - 2 * 7.0 / 8) < 1e-9));
  }
  CHECK(used == 8);
}

TEST_CASE("a rank order that jumps about a ring makes its sends share links") {
  Topology topology = torus({8});
  const Program ring(RingProgram{8, Outcome::all_reduced});
  const TopologyGraph in_order = built(topology);
  topology.rank_order = {0, 4, 1, 5, 2, 6, 3, 7};
  const TopologyGraph jumping = built(topology);
  Routing good(in_order, Balance::hashed, 1);
  Routing bad(jumping, Balance::hashed, 1);
  // Distances of 4 and 3 in turn: 28 links of 8, so 28 / 16 at the least on both directions.
  CHECK(run(ring, 80_MB, {}, &bad).time > run(ring, 80_MB, {}, &good).time * (28.0 / 16));
}

TEST_CASE("an oversubscribed tree slows what crosses it, and nothing inside a leaf") {
  const auto time = [](double ratio, const Program& program) {
    const TopologyGraph graph = built(regular(one_gpu(), 16, fat_tree(false, 8, 8, ratio)));
    Routing routing(graph, Balance::ideal, 1);
    return run(program, 160_MB, {}, &routing).time;
  };
  const Program ring(RingProgram{16, Outcome::all_reduced});
  const Program pairs(PairwiseProgram{16});
  // A ring crosses between leaves with one flow of 16: no limit until the ratio is 8.
  CHECK_THAT(time(4, ring) / time(1, ring), WithinRel(1.0, 1e-6));
  CHECK(time(4, pairs) > time(1, pairs) * 1.5);
}

TEST_CASE("packed trees in many segments come near the rate of their packing") {
  const LinkGraph links = built(regular(dgx1(), 1, SingleSwitch{})).links;
  const std::vector<Rank> ranks{0, 1, 2, 3};
  const auto mesh = mesh_of(links, ranks);
  REQUIRE(mesh.has_value());
  const TreePacking trees = pack_few(*mesh, 0, TreeUse::all_reduce);
  TopologyGraph graph;
  graph.links = *mesh;
  graph.gpu_of_rank = {0, 1, 2, 3};
  Routing routing(graph, Balance::hashed, 1);
  const Bytes size = 1_GB;
  const Seconds fluid = size / trees.rate;
  const ProgramRun run_64 = run(Program(TreesProgram{trees, 64}), size, {}, &routing);
  CHECK(run_64.time > fluid);
  CHECK(run_64.time < fluid * 1.25);
  CHECK(run(Program(TreesProgram{trees, 1}), size, {}, &routing).time > run_64.time * 1.5);
}

TEST_CASE("the same program on the same links leaves the same trace") {
  const TopologyGraph graph = built(regular(switched(4, 4), 4, fat_tree(false, 2, 3, 2)));
  Routing a(graph, Balance::hashed, 3);
  Routing b(graph, Balance::hashed, 3);
  const Program program(HierarchicalProgram{4, 4});
  CHECK(run(program, 10_MB, {}, &a).trace_hash == run(program, 10_MB, {}, &b).trace_hash);
}

TEST_CASE("a collective that is not through when the clock ends says so") {
  // Two steps of half the buffer each: 1 TB at 1 MB/s is 11.6 days, at 0.1 MB/s 116.
  const Program ring(RingProgram{2, Outcome::all_reduced});
  CHECK_FALSE(run(ring, 1e3 * 1_GB, {0_s, 1e-3 * 1_GBps}).beyond_clock);
  CHECK(run(ring, 1e3 * 1_GB, {0_s, 1e-4 * 1_GBps}).beyond_clock);
  // One send alone beyond it, and latencies.
  CHECK(run(ring, 1e3 * 1_GB, {0_s, 1e-9 * 1_GBps}).beyond_clock);
  CHECK(run(ring, 1_MB, {Seconds{1e7}, 1_GBps}).beyond_clock);
  TopologyGraph graph = built(regular(one_gpu(), 2, SingleSwitch{}));
  std::vector<Edge> edges = graph.links.edges();
  for (Edge& edge : edges) {
    edge.capacity = 1e-4 * 1_GBps;
  }
  graph.links = {graph.links.vertices(), edges, {graph.links.gpu(0), graph.links.gpu(1)}};
  Routing routing(graph, Balance::ideal, 1);
  CHECK(run(ring, 1e3 * 1_GB, {}, &routing).beyond_clock);
}
