// SPDX-License-Identifier: Apache-2.0
#include "sim/folding.hpp"

#include <algorithm>
#include <vector>

#include "sim/reduction.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/sim/compare_folded.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/topologies.hpp"
#include "tests/sim/uneven_jobs.hpp"

// Folded and unfolded steps are equal to the picosecond, for every rank.

using namespace payoff;
using payoff::sim::BuiltPlatform;
using payoff::test::build;
using payoff::test::cluster_of;
using payoff::test::random_topology;
using payoff::test::simulated;
using payoff::test::UnevenJob;

namespace {

// All that a step says beside who simulated it: the place that speaks for it is of the same class.
void check_same_report(const sim::SimulatedStep& a, const sim::SimulatedStep& b) {
  CHECK(a.prediction.step == b.prediction.step);
  CHECK(a.last_stage == b.last_stage);
  CHECK(a.critical_path == b.critical_path);
  CHECK(a.path_activities == b.path_activities);
  const Waterfall& v = a.prediction.waterfall;
  const Waterfall& w = b.prediction.waterfall;
  const Seconds Waterfall::*parts[] = {
      &Waterfall::forward,      &Waterfall::recompute,  &Waterfall::backward,
      &Waterfall::interference, &Waterfall::encode,     &Waterfall::decode,
      &Waterfall::bucket_copy,  &Waterfall::exposed_tp, &Waterfall::exposed_cp,
      &Waterfall::exposed_ep,   &Waterfall::exposed_pp, &Waterfall::exposed_dp,
      &Waterfall::bubble,       &Waterfall::optimizer,  &Waterfall::host,
      &Waterfall::host_jitter,  &Waterfall::data_stall, &Waterfall::checkpoint};
  constexpr double rounding = 1e-12;  // a picosecond
  for (const auto part : parts) {
    CHECK_THAT((v.*part).si, Catch::Matchers::WithinAbs((w.*part).si, rounding));
  }
  for (const auto kind : {&sim::SimulatedStep::dp, &sim::SimulatedStep::tp, &sim::SimulatedStep::cp,
                          &sim::SimulatedStep::ep, &sim::SimulatedStep::pp}) {
    CHECK((a.*kind).bytes == (b.*kind).bytes);
    CHECK_THAT((a.*kind).busy.si, Catch::Matchers::WithinAbs((b.*kind).busy.si, rounding));
    CHECK_THAT((a.*kind).exposed.si, Catch::Matchers::WithinAbs((b.*kind).exposed.si, rounding));
    CHECK_THAT((a.*kind).waiting.si, Catch::Matchers::WithinAbs((b.*kind).waiting.si, rounding));
  }
}

}  // namespace

TEST_CASE("folded and unfolded steps end at the same picosecond on every rank") {
  const test::FoldingCount count = test::compare_folded(1, 100);
  CHECK(2 * count.uneven >= count.all.jobs);
  CHECK(count.all.places < count.all.ranks);
  CHECK(4 * count.late >= count.all.jobs);
}

TEST_CASE("how late a link makes a message is the same for a class and for each of its links") {
  // 4 servers of 4, one on a leaf, each leaf with 1 GB/s above it, what one NIC needs:
  // replicas in all servers sum gradients over four rails at once.
  UnevenJob job;
  job.plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  job.plan.layout.tp = 4;
  job.plan.layout.dp = 4;
  // A ring of four sends 1.5 times 4 MB: 6 ms at a NIC's 1 GB/s.
  test::add_bucket(job.plan, 0, 0, 0_s, test::gradients(6_ms, 4_MB), 0_s);
  job.state.topology =
      sim::test::regular(sim::test::switched(4, 4), 4, sim::test::fat_tree(false, 1, 2, 40.0));
  job.state.topology->balance = Balance::ideal;
  job.cluster = cluster_of(*job.state.topology, 4);
  const BuiltPlatform folded = build(job, {true, false});
  const BuiltPlatform all = build(job, {false, false});
  CHECK(folded.fold.places == 1);
  const sim::SimulatedStep of_classes = simulated(job, folded.platform);
  const sim::SimulatedStep of_all = simulated(job, all.platform);
  CHECK(test::unequal_links(of_classes, folded, of_all, all).empty());
  // Four rings pass every uplink, which takes one: 24 ms instead of 6, and 8 uplinks each way.
  int late = 0;
  for (const sim::LinkUse& link : of_all.links) {
    if (link.max_delay > 0_s) {
      ++late;
      CHECK_THAT(link.max_delay / 1_ms, Catch::Matchers::WithinRel(18.0, 1e-6));
    }
  }
  CHECK(late == 16);
}

TEST_CASE("a cluster reduced by coordinates takes the same step as all of its ranks") {
  int reduced = 0;
  int with_experts = 0;  // that exchange tokens in pairs, inside of a block
  for (int seed = 1; seed <= 200; ++seed) {
    test::Random random(static_cast<std::uint64_t>(seed));
    UnevenJob job;
    job.plan = test::random_pipeline(static_cast<std::uint64_t>(seed)).plan;
    ParallelLayout& layout = job.plan.layout;
    const int servers_per_leaf = random.integer(1, 2);
    const int leaves_per_pod = random.chance(30) ? 2 : 0;
    const int blocks = random.integer(3, 5);
    const int block = 4 * servers_per_leaf * std::max(1, leaves_per_pod);
    layout.tp = 1 << random.integer(0, 2);
    layout.dp = blocks * block / layout.tp;
    test::add_groups(seed, job);
    Topology topology = random_topology(random, layout.ranks() / 4, 4);
    FatTree tree = sim::test::fat_tree(random.chance(50), servers_per_leaf, 2, 2.0);
    if (leaves_per_pod > 0) {
      tree = sim::test::with_pods(tree, leaves_per_pod, 2, 1.5);
    }
    std::get<RegularTopology>(topology.shape).network = tree;
    job.state.topology = topology;
    job.cluster = cluster_of(topology, 4);
    if (random.chance(50)) {
      job.state.slow_gpus.push_back({"", random.integer(0, layout.ranks() - 1), 1.3});
    }
    const BuiltPlatform small = build(job, {true, true});
    const BuiltPlatform whole = build(job, {true, false});
    INFO("job of seed " << seed << ": " << small.fold.listed << " of " << whole.fold.listed
                        << " ranks");
    const bool is_reduced = small.fold.listed < whole.fold.listed;
    reduced += is_reduced ? 1 : 0;
    with_experts += is_reduced && job.groups == "experts" ? 1 : 0;
    CHECK(small.fold.places == whole.fold.places);
    CHECK(small.fold.link_classes == whole.fold.link_classes);
    check_same_report(simulated(job, small.platform), simulated(job, whole.platform));
  }
  CHECK(reduced >= 150);
  CHECK(with_experts >= 15);
}

TEST_CASE("an even cluster folds to one place a stage, and takes the step of one GPU a stage") {
  // 2 stages of 2 leaves: nothing tells any two ranks of a stage apart.
  UnevenJob job;
  job.plan = test::pipeline(2, 6, 1, 1_ms, 2_ms);
  job.plan.layout.tp = 4;
  job.plan.layout.dp = 8;
  test::add_bucket(job.plan, 0, 0, 0_s, test::gradients(3_ms), 0_s);
  test::add_bucket(job.plan, 1, 0, 0_s, test::gradients(3_ms), 0_s);
  job.state.topology =
      sim::test::regular(sim::test::switched(4, 4), 16, sim::test::fat_tree(true, 4, 2, 1.0));
  job.state.topology->balance = Balance::ideal;
  job.cluster = cluster_of(*job.state.topology, 4);
  const BuiltPlatform built = build(job, {true, false});
  CHECK(built.fold.places == 2);
  CHECK(simulated(job, built.platform).prediction.step == simulated(job, {}).prediction.step);
}

TEST_CASE("a million GPUs fold by their coordinates, and one straggler splits what it can reach") {
  // tp 8 in servers, 8 stages of 512 leaves of 32 servers.
  UnevenJob job;
  job.plan = test::pipeline(8, 16, 1, 1_ms, 2_ms);
  job.plan.layout.tp = 8;
  job.plan.layout.dp = 16384;
  for (std::size_t s = 0; s < 8; ++s) {
    test::add_bucket(job.plan, s, 0, 0_s, test::gradients(3_ms), 0_s);
  }
  job.state.topology =
      sim::test::regular(sim::test::switched(8, 8), 131072, sim::test::fat_tree(true, 32, 8, 1.0));
  job.state.topology->balance = Balance::ideal;
  job.cluster = cluster_of(*job.state.topology, 8);
  const BuiltPlatform even = build(job, {});
  CHECK(even.fold.ranks == 1 << 20);
  // Of every stage two leaves: 8 x 2 x 32 x 8.
  CHECK(even.fold.listed == 4096);
  CHECK(even.fold.places == 8);
  const Seconds alike = simulated(job, even.platform).prediction.step;

  job.state.slow_gpus = {{"", 777777, 1.5}};
  const BuiltPlatform uneven = build(job, {});
  CHECK(uneven.fold.listed == 4096);
  CHECK(uneven.fold.places < 100);
  // Its stage works 1.5 times as long: 15 more rounds of 4.5 ms behind the first one.
  const Seconds delayed = simulated(job, uneven.platform).prediction.step;
  CHECK(delayed > alike);
  CHECK(delayed < 1.5 * alike);
}
