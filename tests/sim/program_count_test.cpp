// SPDX-License-Identifier: Apache-2.0
#include "sim/program_count.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "sim/program_sends.hpp"
#include "sim/topology.hpp"
#include "tests/catch.hpp"
#include "tests/sim/topologies.hpp"

// How many sends a program is, against counting them one by one.

using namespace payoff;
using namespace payoff::sim;

namespace {

std::uint64_t counted(const Program& program) {
  std::uint64_t count = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    program.sends(step, sends);
    count += sends.size();
  }
  return count;
}

struct Shape {
  int servers;
  int gpus;
};

Topology on_one_switch(const Shape& cluster) {
  Topology topology = sim::test::regular(sim::test::switched(cluster.gpus, cluster.gpus),
                                         cluster.servers, SingleSwitch{});
  topology.balance = Balance::ideal;
  return topology;
}

constexpr Shape clusters[] = {{1, 2}, {1, 8}, {2, 1}, {2, 4}, {3, 2}, {4, 8}, {5, 3}, {8, 1}};

// One of each kind, some of two outcomes.
std::vector<ProgramKind> programs() {
  return {RingProgram{7, Outcome::all_reduced},
          RingProgram{7, Outcome::gathered},
          RailRingsProgram{3, 4, Outcome::all_reduced},
          RailRingsProgram{3, 4, Outcome::scattered_sums},
          MeshRingsProgram{{{0, 1, 2, 3}, {3, 1, 0, 2}}, Outcome::all_reduced},
          ChainsProgram{3, 4, Outcome::broadcast, 5},
          ChainsProgram{1, 4, Outcome::reduced, 2},
          MeshChainsProgram{{{0, 1, 2, 3}, {3, 1, 0, 2}}, Outcome::reduced, 2},
          HalvingDoublingProgram{16},
          DoubleTreeProgram{12, 5},
          RailTreesProgram{5, 3, 4},
          RailTreesProgram{1, 8, 4},
          BruckProgram{13},
          BruckProgram{16, Outcome::scattered_sums},
          PairwiseProgram{12, 4},
          PairwiseProgram{12, 4, true},
          PxnProgram{4, 3},
          PxnProgram{4, 3, true},
          HierarchicalProgram{4, 3},
          HierarchicalProgram{4, 3, {{0, 1, 2}, {2, 1, 0}}},
          TwoShotProgram{9},
          SwitchProgram{6, {}, 3},
          SwitchProgram{2, {{2, 2, 2, 3}, {3, 3, 2, 3}}, 3},
          NvlsProgram{1, 8, Outcome::all_reduced, 3},
          NvlsProgram{1, 8, Outcome::gathered, 3},
          NvlsProgram{1, 8, Outcome::scattered_sums, 3},
          NvlsProgram{5, 4, Outcome::all_reduced, 3},
          ParameterServerProgram{9, 2, false},
          ParameterServerProgram{9, 9, true},
          GossipProgram{{{1, 2}, {2}, {0, 1}}},
          TreesProgram{{0, {{{0, 0, 1, 2}, 3_GBps}, {{0, 2, 0, 2}, 1_GBps}}, 4_GBps}, 3},
          TreesProgram{
              {0, {{{0, 0, 1, 2}, 3_GBps}, {{0, 2, 0, 2}, 1_GBps}}, 4_GBps}, 3, Outcome::broadcast},
          ServerTreesProgram{{{{0, 0, 1, 3, 3, 5}, 0.5}, {{1, 1, 1, 4, 4, 5}, 0.5}}, 4},
          SparseGatherProgram{{0.05, 0.4, 0.2, 0.05, 0.2, 0.1}, 3}};
}

}  // namespace

TEST_CASE("the closed form of a program's sends is what its steps add up to") {
  for (const ProgramKind& kind : programs()) {
    const Program program(kind);
    INFO(program.name() << " of " << program.ranks());
    CHECK(send_count(program) == counted(program));
  }
}

TEST_CASE("patterns of a program have the sends of its steps, and few where steps are alike") {
  int alike = 0;
  for (const ProgramKind& kind : programs()) {
    const Program program(kind);
    const auto known = sends_of(program);
    REQUIRE(known);
    INFO(program.name());
    CHECK(known->count() == counted(program));
    CHECK(known->places == program.places());
    REQUIRE(known->steps() == program.steps());
    std::vector<Send> sends;
    for (std::uint32_t step = 0; step < program.steps(); ++step) {
      program.sends(step, sends);
      std::map<std::pair<Rank, Rank>, double> of_step;
      for (const Send& send : sends) {
        of_step[{send.from, send.to}] += program.share(send);
      }
      for (const PlacedSend& send : known->at(step).sends) {
        of_step[{send.from, send.to}] -= send.share;
      }
      for (const auto& [pair, left] : of_step) {
        CHECK(std::abs(left) < 1e-15);
      }
    }
    alike += program.has_equal_steps() ? 1 : 0;
    CHECK((!program.has_equal_steps() || known->patterns.size() == 1));
  }
  CHECK(alike >= 5);
  // Too many to be listed: 63 steps of 64 sends that differ.
  CHECK(sends_of(Program(PairwiseProgram{64, 64, false}), 63 * 64));
  CHECK_FALSE(sends_of(Program(PairwiseProgram{64, 64, false}), 63 * 64 - 1));
}

TEST_CASE("what is expected of a collective is what is laid") {
  for (const Shape& cluster : clusters) {
    const Topology topology = on_one_switch(cluster);
    const TopologyGraph graph = sim::test::built(topology);
    const auto n = static_cast<Rank>(cluster.servers * cluster.gpus);
    const ProgramRanks ranks{n, static_cast<Rank>(cluster.gpus)};
    for (int c = 0; c < collective_count; ++c) {
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::nvls,
                                        Algorithm::pat, Algorithm::pairwise, Algorithm::none}) {
        const auto collective = static_cast<Collective>(c);
        const bool halves =
            collective == Collective::all_gather || collective == Collective::reduce_scatter;
        const bool moves = !halves && collective != Collective::all_reduce;
        if (algorithm == Algorithm::nvls && (moves || (halves && cluster.servers > 1))) {
          continue;  // NVLS joins servers to all-reduce only, and has no other collectives
        }
        const LaidOrReason laid = program_of(collective, algorithm, ranks, topology, graph);
        const auto expected = expected_sends(collective, algorithm, ranks);
        const auto* known = std::get_if<LaidProgram>(&laid);
        INFO(name(collective) << " by " << name(algorithm) << " on " << cluster.servers << " x "
                              << cluster.gpus);
        CHECK(expected.has_value() == (known != nullptr));
        CHECK((known == nullptr || expected == counted(known->program)));
      }
    }
  }
}

TEST_CASE("what is expected of a program that NCCL does not have is what is laid") {
  for (const Shape& cluster : clusters) {
    const Topology topology = on_one_switch(cluster);
    const TopologyGraph graph = sim::test::built(topology);
    const auto n = static_cast<Rank>(cluster.servers * cluster.gpus);
    const ProgramRanks ranks{n, static_cast<Rank>(cluster.gpus)};
    for (int p = 0; p < other_program_count; ++p) {
      for (const Collective collective : collectives_of(static_cast<OtherProgram>(p))) {
        for (int graphs = 0; graphs < gossip_graph_count; ++graphs) {
          const auto program = static_cast<OtherProgram>(p);
          ProgramDetails details;
          details.neighbours = static_cast<GossipGraph>(graphs);
          details.servers = graphs == 1 ? n / 2 : 0;
          details.collective = collective;
          const LaidOrReason laid = program_of(program, ranks, topology, graph, details);
          const auto* known = std::get_if<LaidProgram>(&laid);
          if (known == nullptr) {
            continue;
          }
          const auto expected = expected_sends(program, ranks, details);
          INFO(name(program) << " on " << cluster.servers << " x " << cluster.gpus);
          REQUIRE(expected.has_value());
          if (program == OtherProgram::sharp) {
            CHECK(*expected <= counted(known->program));
          } else {
            CHECK(*expected == counted(known->program));
          }
        }
      }
    }
  }
}
