// SPDX-License-Identifier: Apache-2.0
#include "sim/program.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "sim/program_run.hpp"
#include "tests/catch.hpp"
#include "tests/sim/symbolic_data.hpp"

using namespace payoff;
using namespace payoff::sim;
using namespace payoff::sim::test;
using Catch::Matchers::WithinRel;

namespace {

void check_cost(const Program& program, std::uint32_t steps, double share) {
  INFO(program.name() << " of " << program.ranks());
  CHECK(program.steps() == steps);
  CHECK_THAT(busiest_share(program), WithinRel(share, 1e-12));
}

// Of the size, to all or to those outside the rank's server of `gpus`.
double sent_share(const Program& program, Rank rank, Rank gpus = 1) {
  double share = 0;
  std::vector<Send> sends;
  for (std::uint32_t step = 0; step < program.steps(); ++step) {
    program.sends(step, sends);
    for (const Send& send : sends) {
      const bool counts = gpus == 1 || send.to / gpus != rank / gpus;
      share += send.from == rank && counts ? program.share(send) : 0.0;
    }
  }
  return share;
}

TreePacking two_trees() {
  TreePacking packing;
  packing.trees = {{{0, 0, 1, 2}, 30_GBps}, {{0, 2, 0, 2}, 10_GBps}};
  packing.rate = 40_GBps;
  return packing;
}

// Of ranks that are all alike.
void check_ranks(Rank n) {
  for (const Outcome outcome : {Outcome::all_reduced, Outcome::scattered_sums, Outcome::gathered}) {
    check_result(Program(RingProgram{n, outcome}));
  }
  if (std::has_single_bit(n)) {
    check_result(Program(HalvingDoublingProgram{n}));
  }
  check_result(Program(DoubleTreeProgram{n, 1}));
  check_result(Program(DoubleTreeProgram{n, 5}));
  check_result(Program(BruckProgram{n}));
  check_result(Program(BruckProgram{n, Outcome::scattered_sums}));
  check_result(Program(PairwiseProgram{n}));
  check_result(Program(TwoShotProgram{n}));
  check_result(Program(SwitchProgram{n}));
  check_result(Program(SwitchProgram{n, {}, 3}));
  for (const Outcome outcome : {Outcome::all_reduced, Outcome::scattered_sums, Outcome::gathered}) {
    check_result(Program(NvlsProgram{1, n, outcome, 1}));
    check_result(Program(NvlsProgram{1, n, outcome, 3}));
  }
  check_result(Program(SparseGatherProgram{std::vector<double>(n, 0.1)}));
  for (const Rank shards : {1U, 3U}) {
    check_result(Program(ParameterServerProgram{n, shards}));
    check_result(Program(ParameterServerProgram{n, std::min(shards, n), true}));
  }
}

void check_servers(Rank servers, Rank gpus) {
  check_result(Program(HierarchicalProgram{servers, gpus}));
  check_result(Program(PxnProgram{servers, gpus}));
  check_result(Program(PxnProgram{servers, gpus, gpus > 1}));
  check_result(Program(SparseGatherProgram{std::vector<double>(servers * gpus, 0.1), gpus}));
  check_result(Program(PairwiseProgram{servers * gpus, gpus}));
  check_result(Program(PairwiseProgram{servers * gpus, gpus, gpus > 1}));
  for (const Outcome outcome : {Outcome::all_reduced, Outcome::scattered_sums, Outcome::gathered}) {
    check_result(Program(RailRingsProgram{servers, gpus, outcome}));
  }
  for (const std::uint32_t segments : {1U, 4U}) {
    check_result(Program(RailTreesProgram{servers, gpus, segments}));
    check_result(Program(NvlsProgram{servers, gpus, Outcome::all_reduced, segments}));
    check_result(Program(ChainsProgram{servers, gpus, Outcome::broadcast, segments}));
    check_result(Program(ChainsProgram{servers, gpus, Outcome::reduced, segments}));
  }
}

// Along paths of its own, and the second of two trees along others.
void check_server_paths() {
  const ServerPaths zigzags{{0, 1, 3, 2}, {1, 2, 0, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}};
  ServerPaths of_two = zigzags;
  of_two.insert(of_two.end(), {{0, 3, 2, 1}, {1, 0, 3, 2}, {2, 1, 0, 3}, {3, 2, 1, 0}});
  for (const Rank servers : {1U, 3U, 4U}) {
    check_result(Program(HierarchicalProgram{servers, 4, {{0, 1, 2, 3}, {3, 1, 0, 2}}}));
    for (const Outcome outcome :
         {Outcome::all_reduced, Outcome::scattered_sums, Outcome::gathered}) {
      check_result(Program(RailRingsProgram{servers, 4, outcome, zigzags}));
    }
    check_result(Program(SparseGatherProgram{std::vector<double>(4 * servers, 0.1), 4, zigzags}));
    for (const Outcome outcome : {Outcome::broadcast, Outcome::reduced}) {
      check_result(Program(ChainsProgram{servers, 4, outcome, 3, zigzags}));
    }
    check_result(Program(RailTreesProgram{servers, 4, 3, zigzags}));
    check_result(Program(RailTreesProgram{servers, 4, 3, of_two}));
  }
}

void check_meshes_and_trees() {
  for (const Outcome outcome : {Outcome::broadcast, Outcome::reduced}) {
    check_result(Program(MeshChainsProgram{{{0, 1, 2, 3}, {3, 1, 0, 2}}, outcome, 3}));
  }
  for (const Outcome outcome : {Outcome::all_reduced, Outcome::scattered_sums, Outcome::gathered}) {
    check_result(Program(MeshRingsProgram{{{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}}, outcome}));
  }
  // Ranks 0 and 1 below switch 4, 2 and 3 below switch 5, both below switch 6.
  check_result(Program(SwitchProgram{4, {{4, 4, 5, 5, 6, 6, 6}, {4, 0, 4, 2, 4, 5, 6}}, 2}));
  for (const std::uint32_t segments : {1U, 4U}) {
    check_result(Program(TreesProgram{two_trees(), segments}));
    check_result(Program(TreesProgram{one_hop_trees(6, 100_GBps, TreeUse::all_reduce), segments}));
    for (const Outcome outcome : {Outcome::broadcast, Outcome::reduced}) {
      check_result(Program(TreesProgram{two_trees(), segments, outcome}));
    }
    // Servers of 3 and 2 ranks, and of one: parts with roots 0, 3, 5; 1, 4, 5; and 2, 3, 5.
    check_result(Program(ServerTreesProgram{
        {{{0, 0, 1, 3, 3, 5}, 0.5}, {{1, 1, 1, 4, 4, 5}, 0.3}, {{2, 0, 2, 3, 3, 5}, 0.2}},
        segments}));
  }
}

}  // namespace

TEST_CASE("every program ends with the right contributions, each exactly once") {
  for (Rank n = 2; n <= 17; ++n) {
    check_ranks(n);
  }
  for (const auto& [servers, gpus] :
       {std::pair<Rank, Rank>{2, 2}, {3, 4}, {4, 2}, {5, 1}, {1, 5}}) {
    check_servers(servers, gpus);
  }
  check_server_paths();
  check_meshes_and_trees();
}

TEST_CASE("gossip leaves every rank with its own and its neighbours' data") {
  const Program program(GossipProgram{{{1, 2}, {0}, {0, 3}, {2}}});
  SymbolicData data(program);
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
  // Of servers, those outside one a step, each as long; those inside beside them.
  check_cost(Program(PairwiseProgram{16, 4, true}), 12, 12.0 / 16);
  CHECK_THAT(sent_share(Program(PairwiseProgram{16, 4, true}), 3), WithinRel(all, 1e-12));
  check_cost(Program(PairwiseProgram{4, 4, true}), 1, 3.0 / 4);
  check_cost(Program(TwoShotProgram{16}), 2, 2 * all);
  // A worker sends its buffer, a server one shard to each of them; on the ranks themselves, as in
  // two shots, nothing goes to oneself.
  check_cost(Program(ParameterServerProgram{12, 4}), 2, 1 + 12.0 / 4);
  check_cost(Program(ParameterServerProgram{16, 16, true}), 2, 2 * all);
  // A sparse gather is as long as if all had what the longest part is, on one ring or on rails.
  check_cost(Program(SparseGatherProgram{{0.7, 0.1, 0.1, 0.1}}), 3, 3 * 0.7);
  check_cost(Program(SparseGatherProgram{{0.7, 0.1, 0.1, 0.1}, 2}), 3, 3 * 0.7);
  // In the switch a GPU sends its buffer once; the switch sends it to all, by multicast on the
  // wire.
  CHECK(Program(SwitchProgram{16}).steps() == 2);
  // In NVLS it sends it once, and the sum of its part again.
  CHECK_THAT(sent_share(Program(NvlsProgram{1, 8, Outcome::all_reduced, 4}), 3),
             WithinRel(9.0 / 8, 1e-12));
  CHECK_THAT(sent_share(Program(NvlsProgram{1, 8, Outcome::scattered_sums, 4}), 3),
             WithinRel(1.0, 1e-12));
  // Of a chain all ranks but the last one pass the whole buffer on; on rails, each of 8 parts.
  CHECK_THAT(sent_share(Program(ChainsProgram{4, 8, Outcome::broadcast, 4}), 0),
             WithinRel(1.0, 1e-12));
  // What the busiest GPU sends over its NIC in two trees on its rail: two eighths of the buffer.
  CHECK_THAT(sent_share(Program(RailTreesProgram{4, 8, 4}), 9, 8), WithinRel(2.0 / 8, 1e-12));
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

TEST_CASE("rings on rails go from server to server on one rail each") {
  for (const auto& [servers, gpus] : {std::pair<Rank, Rank>{2, 4}, {6, 8}, {5, 2}}) {
    const Program program(RailRingsProgram{servers, gpus, Outcome::all_reduced});
    std::vector<Send> sends;
    program.sends(0, sends);
    std::vector<Rank> leaves(servers * gpus);  // how often a GPU sends to another server
    for (const Send& send : sends) {
      if (send.from / gpus != send.to / gpus) {
        // The last of an odd number of servers meets the first on another rail.
        const bool last = servers % 2 == 1 && send.to / gpus == 0;
        CHECK((send.from % gpus == send.to % gpus || last));
        ++leaves[send.from];
      }
    }
    CHECK(leaves == std::vector<Rank>(servers * gpus, 1));
  }
}
