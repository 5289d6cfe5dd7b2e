// SPDX-License-Identifier: Apache-2.0
#include "model/rank_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "sim/platform.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

// Ranks in an order of their own in the simulator: all of them listed, or one rank of each stage.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

RankOrder random_order(std::uint64_t seed) {
  RankOrder order = usual_order;
  for (auto turns = seed % 24; turns > 0; --turns) {
    std::next_permutation(order.begin(), order.end());
  }
  return order;
}

// Jobs of several nodes whose own order check() accepts.
std::vector<Experiment> jobs_in_own_order(int seeds) {
  std::vector<Experiment> jobs;
  for (int seed = 1; seed <= seeds; ++seed) {
    Experiment job = test::random_experiment(static_cast<std::uint64_t>(seed));
    job.layout.order = random_order(static_cast<std::uint64_t>(seed));
    job.plans.resize(1);
    if (job.cluster.nodes > 1 && !has_usual_order(job.layout) && check(job).empty()) {
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

Seconds listed(const StepPlan& plan, const Experiment& job) {
  const sim::BuiltPlatform built = sim::build_platform(job.cluster, {}, plan);
  REQUIRE(built.problems.empty());
  REQUIRE(built.fold.listed == static_cast<std::uint64_t>(job.layout.ranks()));
  return sim::simulate(plan, built.platform).prediction.step;
}

}  // namespace

// Links of one GPU and one node of every stage, against those of all ranks on one switch, where
// each GPU has NICs of its own: what shares them differs by a little, where NICs are contended.
TEST_CASE("one rank of each stage takes the step of all of them, in any order that fills nodes") {
  int compared = 0;
  int close = 0;
  for (const Experiment& job : jobs_in_own_order(400)) {
    if (!fills_nodes_in_order(job.layout, job.cluster.gpus_per_node)) {
      continue;
    }
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
    const Seconds all = listed(plan, job);
    const Seconds one = sim::simulate(plan, sim::Platform(job.cluster, job.layout)).prediction.step;
    INFO(order_text(job.layout.order)
         << " pp " << job.layout.pp << " tp " << job.layout.tp << " dp " << job.layout.dp << " ep "
         << job.layout.ep << " nodes " << job.cluster.nodes << " analytical "
         << evaluate(plan).step.si << " all " << all.si << " one " << one.si);
    CHECK_THAT(one / all, WithinRel(1.0, 0.01));
    close += std::abs(one / all - 1) < 1e-3 ? 1 : 0;
    ++compared;
  }
  CHECK(compared >= 30);
  CHECK(close >= 0.9 * compared);
}
