// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>

#include "model/experiment.hpp"
#include "model/rank_order.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/topologies.hpp"
#include "tests/study/experiments.hpp"

// DualPipe in the simulator: random mixtures against the analytical engine, both copies of a stage
// on a topology.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr int jobs = 60;

// 8 to 32 GPUs on nodes of four.
Experiment random_job(std::uint64_t seed) {
  test::Random random(seed);
  const int nodes = 2 << random.integer(0, 2);
  Experiment job = test::small_job({.nodes = nodes, .nic = Bandwidth{random.between(1e9, 5e10)}});
  TransformerShape shape = test::llama(8, 512, 8, 8, 1024, 8000);
  shape.sequence = 512;
  shape.experts = {.count = 8, .per_token = 2, .width = 1024};
  shape.experts.shared_width = random.chance(50) ? 512 : 0;
  shape.tied_embeddings = random.chance(50);
  job.model = shape;
  ParallelLayout& layout = job.layout;
  layout.schedule = PipelineSchedule::dualpipe;
  layout.virtual_stages = 2;
  layout.pp = random.chance(50) && nodes > 2 ? 8 : 4;
  layout.tp = random.chance(30) && job.cluster.gpus() / layout.pp > 1 ? 2 : 1;
  layout.dp = job.cluster.gpus() / (layout.pp * layout.tp);
  layout.sequence_parallel = layout.tp > 1;
  layout.ep = std::min(layout.copy_ranks(), 1 << random.integer(0, 2));
  layout.pair_overlap = random.chance(80);
  layout.micro_batch = random.integer(1, 2);
  layout.micro_batches = 2 * random.integer(1, 12);
  layout.zero = random.integer(0, 2);
  layout.recompute = static_cast<Recompute>(random.integer(0, 2));
  job.software.fused_attention = random.chance(50);
  job.training.precision = job.training.gradient = Precision::fp16;
  return job;
}

// Servers of four GPUs and as many NICs on one switch.
ClusterState one_switch(const Cluster& cluster) {
  ClusterState state;
  state.topology = topology_of(cluster);
  state.topology->balance = Balance::ideal;
  return state;
}

}  // namespace

TEST_CASE("the engines agree on random mixtures in DualPipe") {
  int hidden = 0;
  for (int seed = 1; seed <= jobs; ++seed) {
    const Experiment job = random_job(static_cast<std::uint64_t>(seed));
    const Problems problems = check(job);
    INFO("job of seed " << seed << (problems.empty() ? "" : problems.front().message));
    REQUIRE(problems.empty());
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans.front());
    const StepPrediction evaluated = prepared.predict(plan);
    const sim::SimulatedStep simulated = sim::simulate(plan, {});
    CHECK_THAT(simulated.prediction.step / evaluated.step, WithinRel(1.0, 1e-3));
    CHECK_THAT(evaluated.waterfall.total() / evaluated.step, WithinRel(1.0, 1e-9));
    CHECK(simulated.prediction.pp_bytes == evaluated.pp_bytes);
    CHECK(simulated.prediction.ep_bytes == evaluated.ep_bytes);
    CHECK(simulated.prediction.dp_bytes == evaluated.dp_bytes);
    // Of messages alone; those that work slows are in flight for longer.
    const PairEffect pairs = pipeline_ends(plan)[simulated.last_stage].pairs;
    CHECK(simulated.ep.hidden().si >= 0.999 * pairs.hidden_ep);
    CHECK(simulated.tp.hidden().si >= 0.999 * pairs.hidden_tp);
    hidden += pairs.hidden_ep > 0.0 ? 1 : 0;
  }
  CHECK(3 * hidden >= jobs);
}

TEST_CASE("DualPipe folded on a topology takes the step of all of its ranks, to the picosecond") {
  for (int seed = 1; seed <= 20; ++seed) {
    const Experiment job = random_job(static_cast<std::uint64_t>(seed));
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans.front());
    ClusterState state = one_switch(job.cluster);
    if (seed % 2 == 0) {
      state.slow_gpus = {{{}, job.cluster.gpus() - 1, 1.5}};
    }
    const sim::BuiltPlatform folded = sim::build_platform(job.cluster, state, plan);
    const sim::BuiltPlatform whole =
        sim::build_platform(job.cluster, state, plan, {.folds = false});
    INFO("job of seed " << seed << (folded.problems.empty() ? "" : folded.problems[0].message));
    REQUIRE(folded.problems.empty());
    CHECK(folded.fold.places <= whole.fold.places);
    const Seconds step = sim::simulate(plan, folded.platform).prediction.step;
    CHECK(step == sim::simulate(plan, whole.platform).prediction.step);
    if (seed % 2 == 1) {  // nobody is slow
      CHECK(step / prepared.predict(plan).step > 1 - 1e-3);
    }
  }
}

// All ranks listed, and one of each stage where nodes hold equal parts of stages.
TEST_CASE("the engines agree on DualPipe whose ranks are in another order") {
  int compared = 0;
  for (int seed = 1; seed <= jobs; ++seed) {
    Experiment job = random_job(static_cast<std::uint64_t>(seed));
    for (int turns = 1 + seed % 23; turns > 0; --turns) {
      std::next_permutation(job.layout.order.begin(), job.layout.order.end());
    }
    if (has_usual_order(job.layout) || !check(job).empty()) {
      continue;
    }
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans.front());
    const Seconds evaluated = prepared.predict(plan).step;
    INFO("job of seed " << seed << ", " << order_text(job.layout.order));
    CHECK_THAT(sim::simulate(plan, {}).prediction.step / evaluated, WithinRel(1.0, 1e-3));
    const sim::BuiltPlatform built = sim::build_platform(job.cluster, {}, plan);
    REQUIRE(built.problems.empty());
    const Seconds listed = sim::simulate(plan, built.platform).prediction.step;
    CHECK(listed / evaluated > 1 - 1e-3);
    if (fills_nodes_in_order(job.layout, job.cluster.gpus_per_node)) {
      const sim::Platform by_stage(job.cluster, job.layout);
      CHECK_THAT(sim::simulate(plan, by_stage).prediction.step / listed, WithinRel(1.0, 1e-3));
      ++compared;
    }
  }
  CHECK(compared >= 20);
}

TEST_CASE("a slow GPU delays a step alike, of whichever copy of its stage it is") {
  const Experiment job = random_job(3);
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  const auto step_with = [&](int gpu) {
    ClusterState state = one_switch(job.cluster);
    if (gpu >= 0) {
      state.slow_gpus = {{{}, gpu, 2.0}};
    }
    const sim::BuiltPlatform built = sim::build_platform(job.cluster, state, plan);
    REQUIRE(built.problems.empty());
    return sim::simulate(plan, built.platform).prediction.step;
  };
  const Seconds plain = step_with(-1);
  const int stage = job.layout.stage_ranks();
  CHECK(step_with(0) > plain);
  // Of the first copy of the last stage and of the second one alike.
  const int last = job.layout.ranks() - stage;
  CHECK(step_with(last) == step_with(last + stage / 2));
}
