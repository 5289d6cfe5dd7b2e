// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <variant>

#include "model/collective.hpp"
#include "model/experiment.hpp"
#include "sim/group_programs.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/topologies.hpp"

// Training steps whose messages are sent by the programs of their collectives (level `steps`), and
// the same steps with one flow for each message (`fluid`): where they agree, and by how much they
// differ elsewhere.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using payoff::test::random_experiment;

namespace {

struct Levels {
  sim::SimulatedStep fluid;
  sim::SimulatedStep steps;
  sim::Estimate estimate;  // of steps
  sim::Estimate estimate_of_fluid;

  [[nodiscard]] double difference() const {
    return steps.prediction.step / fluid.prediction.step - 1;
  }
};

sim::BuiltPlatform platform_of(const Cluster& cluster, const ClusterState& state,
                               const StepPlan& plan, bool steps) {
  sim::BuiltPlatform built =
      sim::build_platform(cluster, state, plan, {.folds = false, .reduces = false, .steps = steps});
  INFO((built.problems.empty() ? "" : built.problems.front().message));
  REQUIRE(built.problems.empty());
  return built;
}

Levels both(const Experiment& job, const ClusterState& state, const StepPlan& plan) {
  const sim::BuiltPlatform fluid = platform_of(job.cluster, state, plan, false);
  const sim::BuiltPlatform steps = platform_of(job.cluster, state, plan, true);
  return {sim::simulate(plan, fluid.platform), sim::simulate(plan, steps.platform),
          sim::estimate(plan, steps.platform), sim::estimate(plan, fluid.platform)};
}

// The links of the cluster, each so many times as wide; between servers one switch.
ClusterState links_of(const Cluster& cluster, double width) {
  ClusterState state;
  state.topology = topology_of(cluster);
  state.topology->balance = Balance::ideal;
  auto& server = std::get<RegularTopology>(state.topology->shape).server;
  for (LinkRate* rate :
       {&server.fabric_link, &server.pcie, &server.pcie_uplink, &server.socket_link, &server.nic}) {
    rate->bandwidth = rate->bandwidth * width;
  }
  return state;
}

// Of one level over the other, where messages are slowed by nothing but each other.
bool memory_is_free(const sim::SimulatedStep& step) {
  return std::all_of(step.max_memory_delay.begin(), step.max_memory_delay.end(),
                     [](Seconds delay) { return delay <= 0_s; });
}

// Of the programs of a plan.
std::uint32_t most_steps(const StepPlan& plan, const sim::Platform& platform) {
  sim::GroupPrograms programs(*platform.send_network());
  std::uint32_t most = 0;
  const auto look_at = [&](const Message& message, const sim::Place& place) {
    const std::size_t group = place.group[static_cast<std::size_t>(sim::group_kind(message.kind))];
    const sim::GroupProgram* program = programs.of(group, message);
    most = std::max(most, program != nullptr ? program->laid->program.steps() : 1);
  };
  for (const sim::Place& place : platform.places().places) {
    for (const BucketKind& kind : plan.kinds) {
      for (const BucketRound& round : kind.rounds) {
        look_at(round.message, place);
      }
    }
    for (const Piece& piece : plan.stages[place.stage].compute->forward) {
      look_at(piece.message, place);
    }
    if (plan.sums_tied(place.stage)) {
      look_at(plan.tied_gradients, place);
    }
    look_at(plan.stages[place.stage].gather_weights, place);
    look_at(plan.stages[place.stage].gather_experts, place);
  }
  return most;
}

template <class Check>
void for_each_plan(int jobs, Check check) {
  for (int seed = 1; seed <= jobs; ++seed) {
    const Experiment job = random_experiment(static_cast<std::uint64_t>(seed));
    const PreparedExperiment prepared(job);
    for (const CompressionPlan& compression : job.plans) {
      INFO("seed " << seed << ", " << compression.label);
      check(job, prepared.plan(compression));
    }
  }
}

// Differences of the levels, sorted.
void print(const char* where, std::vector<double>& differences) {
  std::sort(differences.begin(), differences.end());
  const auto at = [&](double quantile) {
    return 100 * differences[static_cast<std::size_t>(quantile *
                                                      static_cast<double>(differences.size() - 1))];
  };
  std::printf(
      "%s: %zu steps, by sends longer by %.3f %% (least), %.3f (median), %.3f (95 %%), "
      "%.3f (most)\n",
      where, differences.size(), at(0), at(0.5), at(0.95), at(1));
}

}  // namespace

TEST_CASE("where links are wide, steps by sends and by messages are of equal length", "[once]") {
  std::vector<double> differences;
  int to_the_tick = 0;
  for_each_plan(150, [&](const Experiment& job, const StepPlan& plan) {
    const ClusterState wide = links_of(job.cluster, 64);
    const Levels levels = both(job, wide, plan);
    CHECK(levels.steps.sends > 0);
    CHECK(levels.fluid.sends == 0);
    CHECK(levels.estimate.sends == levels.steps.sends);
    CHECK(levels.estimate.events == levels.steps.events);
    CHECK(levels.estimate_of_fluid.events == levels.fluid.events);
    CHECK(levels.steps.prediction.dp_bytes == levels.fluid.prediction.dp_bytes);
    // Kernels that use the memory slow the latency of a flow too, but not that of a send.
    CHECK(std::abs(levels.difference()) <= 1e-3);
    if (memory_is_free(levels.fluid)) {
      ++to_the_tick;
      const std::uint32_t steps =
          most_steps(plan, platform_of(job.cluster, wide, plan, true).platform);
      const Seconds apart = levels.steps.prediction.step - levels.fluid.prediction.step;
      // Two ticks for each step of each message that the step waits for.
      const double ticks = 2.0 * steps * static_cast<double>(levels.fluid.path_activities);
      CHECK(std::abs(apart.si) <= 1e-12 * ticks);
      CHECK(std::abs(levels.difference()) <= 1e-6);
    }
    differences.push_back(levels.difference());
  });
  std::printf("%d to the tick; ", to_the_tick);
  print("wide links", differences);
  CHECK(2 * to_the_tick >= static_cast<int>(differences.size()));
}

TEST_CASE("on links that are the limit, sends and messages differ by what the programs are") {
  constexpr int fewer = 60;
  std::vector<double> own;
  std::vector<double> narrow;
  std::vector<double> rails;
  for_each_plan(fewer, [&](const Experiment& job, const StepPlan& plan) {
    ClusterState state = links_of(job.cluster, 1);
    own.push_back(both(job, state, plan).difference());
    if (job.cluster.nodes > 1) {  // four times as much as the uplinks of a server carry
      std::get<RegularTopology>(state.topology->shape).network =
          sim::test::fat_tree(false, 1, 1, 4.0);
      narrow.push_back(both(job, state, plan).difference());
      // The same for what changes rails, and for nothing else: a leaf has all servers.
      std::get<RegularTopology>(state.topology->shape).network =
          sim::test::fat_tree(true, job.cluster.nodes, 1, 4.0);
      rails.push_back(both(job, state, plan).difference());
    }
  });
  print("links of the cluster", own);
  print("uplinks of a quarter", narrow);
  print("rails, uplinks of a quarter", rails);
  // Prices know the links of servers and NICs: only different traffic at once comes later.
  CHECK(own.front() >= -1e-3);
  CHECK(own.back() <= 0.01);
  CHECK(own[own.size() / 2] <= 1e-6);
  // They know no uplinks. A flow loads them as a ring does at an even pace; sends come in steps,
  // and trees cross them less often.
  CHECK(narrow.front() >= -0.2);
  CHECK(narrow.back() <= 0.2);
  CHECK(std::abs(narrow[narrow.size() / 2]) <= 0.02);
  // Rings and trees on rails pass no uplink.
  CHECK(rails.front() >= -1e-3);
  CHECK(rails[rails.size() * 9 / 10] <= 0.01);
  CHECK(rails.back() <= 0.25);
}

TEST_CASE("a narrow NIC slows the bytes of sends, not their latency") {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.network.kind = NetworkKind::rdma;
  cluster.nics_per_node = 1;
  cluster.nic = 1_GBps;
  cluster.nodes = 2;
  LinkLaw& law = cluster.network.law;
  law.launch = 5_us;
  law.step_ll = law.step_ll128 = law.step_simple = 20_us;
  law.share_ll = law.share_ll128 = law.share_simple = 0.8;
  const CollectivePrice price =
      CollectiveModel(cluster, {2, 1, 1}).price(Collective::all_reduce, 1_MB);
  REQUIRE(price.latency > 5_us);
  StepPlan plan = payoff::test::pipeline(1, 1, 1, 10_ms, 20_ms);
  payoff::test::add_bucket(plan, 0, 0, 0_s, payoff::test::gradients(price.time), 0_s);
  plan.layout.dp = 2;
  const auto step_of = [&](const ClusterState& state, bool steps) {
    return sim::simulate(plan, platform_of(cluster, state, plan, steps).platform).prediction.step;
  };
  ClusterState state;
  for (const bool steps : {false, true}) {
    CHECK_THAT((step_of(state, steps) - 30_ms).si, WithinRel(price.time.si, 1e-6));
  }
  state.topology = topology_of(cluster);
  state.topology->balance = Balance::ideal;
  state.topology->faults.push_back({"degraded.0", "s0.nic0", "network", 0.25});
  // Of two ranks each sends all of its buffer, half of it in each step: 4 ms. A flow's latency is
  // part of its progress, which the link holds back as a whole.
  CHECK_THAT((step_of(state, false) - 30_ms).si, WithinRel(4e-3, 1e-6));
  CHECK_THAT((step_of(state, true) - 30_ms).si, WithinRel(4e-3 + price.latency.si, 1e-5));
}

TEST_CASE("too many sends are refused before the run, with their number and what to do") {
  std::uint64_t seed = 0;
  Experiment job;
  StepPlan plan;
  sim::BuiltPlatform built;
  sim::Estimate cost;
  do {  // the first job with many sends
    job = random_experiment(++seed);
    plan = PreparedExperiment(job).plan(job.plans.front());
    built = platform_of(job.cluster, {}, plan, true);
    cost = sim::estimate(plan, built.platform);
  } while (cost.sends <= 10'000 && seed < 100);
  REQUIRE(cost.sends > 10'000);
  CHECK(sim::check(plan, built.platform, {.event_limit = cost.events}).empty());
  const Problems problems = sim::check(plan, built.platform, {.event_limit = cost.events - 1});
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, ContainsSubstring(std::to_string(cost.events)));
  CHECK_THAT(problems[0].help, ContainsSubstring(std::to_string(cost.sends)) &&
                                   ContainsSubstring("leave `--level steps` away"));
}

TEST_CASE("a step by sends leaves the same trace each time") {
  const Experiment job = random_experiment(4);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans.front());
  ClusterState state = links_of(job.cluster, 1);
  state.topology->balance = Balance::hashed;
  const auto hash = [&] {
    return sim::simulate(plan, platform_of(job.cluster, state, plan, true).platform).trace_hash;
  };
  CHECK(hash() == hash());
}
