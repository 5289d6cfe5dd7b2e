// SPDX-License-Identifier: Apache-2.0
#include "sim/program.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/program_run.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

// How often every rank's data is in every chunk of every place.
class Data {
 public:
  explicit Data(const Program& program)
      : program_(program),
        counts_(std::size_t{program.places()} * program.chunks() * program.ranks()) {
    for (Rank r = 0; r < program.ranks(); ++r) {
      for (std::uint32_t chunk = 0; chunk < program.chunks(); ++chunk) {
        at(r, chunk, r) = has(r, chunk) ? 1 : 0;
      }
    }
  }

  // What is sent in a step is what was there before it.
  void execute() {
    std::vector<Send> sends;
    for (std::uint32_t step = 0; step < program_.steps(); ++step) {
      program_.sends(step, sends);
      const std::vector<int> before = counts_;
      for (const Send& send : sends) {
        REQUIRE(send.from != send.to);
        for (std::uint32_t i = 0; i < send.count; ++i) {
          const std::uint32_t chunk = (send.first + i * send.stride) % program_.chunks();
          for (Rank origin = 0; origin < program_.ranks(); ++origin) {
            const int moved = before[index(send.from, chunk, origin)];
            int& there = at(send.to, chunk, origin);
            there = send.adds ? there + moved : moved;
          }
        }
      }
    }
  }

  int& at(Rank place, std::uint32_t chunk, Rank origin) {
    return counts_[index(place, chunk, origin)];
  }

 private:
  [[nodiscard]] std::size_t index(Rank place, std::uint32_t chunk, Rank origin) const {
    return (std::size_t{place} * program_.chunks() + chunk) * program_.ranks() + origin;
  }
  [[nodiscard]] bool has(Rank rank, std::uint32_t chunk) const {
    switch (program_.outcome()) {
      case Outcome::gathered:
        return chunk == rank;
      case Outcome::exchanged:
        return chunk / program_.ranks() == rank;
      default:
        return true;
    }
  }

  const Program& program_;
  std::vector<int> counts_;
};

bool wanted(const Program& program, Rank rank, std::uint32_t chunk, Rank origin) {
  switch (program.outcome()) {
    case Outcome::gathered:
      return origin == chunk;
    case Outcome::exchanged:
      return chunk / program.ranks() == origin;
    default:
      return rank < program.ranks();
  }
}

bool is_result(const Program& program, Rank rank, std::uint32_t chunk) {
  switch (program.outcome()) {
    case Outcome::scattered_sums:
      return chunk == rank;
    case Outcome::exchanged:
      return chunk % program.ranks() == rank;
    default:
      return true;
  }
}

void check_result(const Program& program) {
  INFO(program.name() << " of " << program.ranks());
  Data data(program);
  data.execute();
  for (Rank rank = 0; rank < program.ranks(); ++rank) {
    for (std::uint32_t chunk = 0; chunk < program.chunks(); ++chunk) {
      for (Rank origin = 0; origin < program.ranks() && is_result(program, rank, chunk); ++origin) {
        REQUIRE(data.at(rank, chunk, origin) == (wanted(program, rank, chunk, origin) ? 1 : 0));
      }
    }
  }
}

std::size_t send_count(const Program& program) {
  std::size_t count = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    program.sends(step, sends);
    count += sends.size();
  }
  return count;
}

void check_cost(const Program& program, std::uint32_t steps, double share) {
  INFO(program.name() << " of " << program.ranks());
  CHECK(program.steps() == steps);
  CHECK_THAT(busiest_share(program), WithinRel(share, 1e-12));
}

TreePacking two_trees() {
  TreePacking packing;
  packing.trees = {{{0, 0, 1, 2}, 30_GBps}, {{0, 2, 0, 2}, 10_GBps}};
  packing.rate = 40_GBps;
  return packing;
}

}  // namespace

TEST_CASE("every program ends with the right contributions, each exactly once") {
  for (Rank n = 2; n <= 17; ++n) {
    for (const Outcome outcome :
         {Outcome::all_reduced, Outcome::scattered_sums, Outcome::gathered}) {
      check_result(Program(RingProgram{n, outcome}));
    }
    if (std::has_single_bit(n)) {
      check_result(Program(HalvingDoublingProgram{n}));
    }
    check_result(Program(DoubleTreeProgram{n, 1}));
    check_result(Program(DoubleTreeProgram{n, 5}));
    check_result(Program(BruckProgram{n}));
    check_result(Program(PairwiseProgram{n}));
    check_result(Program(TwoShotProgram{n}));
    check_result(Program(SwitchProgram{n}));
    check_result(Program(SparseGatherProgram{std::vector<double>(n, 0.1)}));
    for (const Rank shards : {1U, 3U}) {
      check_result(Program(ParameterServerProgram{n, shards}));
    }
  }
  for (const auto& [servers, gpus] :
       {std::pair<Rank, Rank>{2, 2}, {3, 4}, {4, 2}, {5, 1}, {1, 5}}) {
    check_result(Program(HierarchicalProgram{servers, gpus}));
    check_result(Program(PxnProgram{servers, gpus}));
    check_result(Program(RailRingsProgram{servers, gpus, Outcome::all_reduced}));
  }
  for (const std::uint32_t segments : {1U, 4U}) {
    check_result(Program(TreesProgram{two_trees(), segments}));
    check_result(Program(TreesProgram{one_hop_trees(6, 100_GBps, TreeUse::all_reduce), segments}));
  }
}

TEST_CASE("gossip leaves every rank with its own and its neighbours' data") {
  const Program program(GossipProgram{{{1, 2}, {0}, {0, 3}, {2}}});
  Data data(program);
  data.execute();
  const bool joined[4][4] = {{true, true, true, false},
                             {true, true, false, false},
                             {true, false, true, true},
                             {false, false, true, true}};
  for (Rank r = 0; r < 4; ++r) {
    for (Rank origin = 0; origin < 4; ++origin) {
      CHECK(data.at(r, 0, origin) == (joined[r][origin] ? 1 : 0));
    }
  }
}

// Thakur et al. 2005, tables of costs; field by field: steps, and what the busiest rank sends.
TEST_CASE("programs have the published numbers of steps and bytes") {
  const double all = 15.0 / 16;
  check_cost(Program(RingProgram{16, Outcome::all_reduced}), 30, 2 * all);
  check_cost(Program(RingProgram{16, Outcome::gathered}), 15, all);
  check_cost(Program(HalvingDoublingProgram{16}), 8, 2 * all);
  check_cost(Program(BruckProgram{16}), 4, all);
  check_cost(Program(BruckProgram{13}), 4, 12.0 / 13);
  check_cost(Program(PairwiseProgram{16}), 15, all);
  check_cost(Program(TwoShotProgram{16}), 2, 2 * all);
  // In the switch a GPU sends its buffer once; the switch sends it to all, by multicast on the
  // wire.
  CHECK(Program(SwitchProgram{16}).steps() == 2);
  // g inside, N outside: 2 (g - 1) / g, and 2 (N - 1) / N of the g-th part.
  check_cost(Program(HierarchicalProgram{4, 8}), 2 * 7 + 2 * 3, 2 * 7.0 / 8 + 2 * 3.0 / 4 / 8);
  // PXN: of what is for the other 7 GPUs of all servers, and then for the other 3 servers.
  check_cost(Program(PxnProgram{4, 8}), 7 + 3, 7.0 / 8 + 3.0 / 4);
}

TEST_CASE("of two trees every rank is inside of one at most, but the one that joins them") {
  for (Rank n = 2; n <= 64; ++n) {
    const std::vector<std::vector<Rank>> trees = double_tree(n);
    std::vector<int> inside(n);
    for (const std::vector<Rank>& parent : trees) {
      std::vector<bool> has_child(n);
      for (Rank r = 0; r < n; ++r) {
        if (parent[r] != r) {
          has_child[parent[r]] = true;
        }
      }
      for (Rank r = 0; r < n; ++r) {
        inside[r] += has_child[r] ? 1 : 0;
      }
    }
    CHECK(std::count(inside.begin(), inside.end(), 2) <= (n % 2 == 0 ? 0 : 1));
    // 2 log2 n steps and one for the root that hangs above the tree.
    CHECK(Program(DoubleTreeProgram{n, 1}).steps() <=
          2 * (static_cast<unsigned>(std::bit_width(n - 1)) + 1));
  }
}

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
      Program(SparseGatherProgram{std::vector<double>(6, 0.02)})};
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
