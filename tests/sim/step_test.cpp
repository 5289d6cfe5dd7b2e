// SPDX-License-Identifier: Apache-2.0
#include "sim/step.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/simulated.hpp"
#include "tests/sim/two_nodes.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using payoff::sim::Cause;
using payoff::sim::SimulatedStep;
using payoff::test::simulated;

namespace {

double share(const SimulatedStep& step, Cause cause) {
  return step.critical_path[static_cast<std::size_t>(cause)] / step.prediction.step;
}

Seconds sum(const SimulatedStep& step) {
  return std::accumulate(step.critical_path.begin(), step.critical_path.end(), Seconds{});
}

}  // namespace

TEST_CASE("a pipeline of equal stages takes (m + (p - 1) / v) (f + b), by events too") {
  // Narayanan et al. 2021, section 2.2.
  const int p = GENERATE(1, 2, 4, 8);
  const int v = GENERATE(1, 2, 3);
  if (p == 1 && v > 1) {
    return;
  }
  const int m = 3 * p;
  const SimulatedStep step = simulated(test::pipeline(p, m, v, 3_ms, 6_ms));
  CHECK_THAT(step.prediction.step / 9_ms, WithinRel(m + (p - 1.0) / v, 1e-12));
  CHECK_THAT(step.prediction.waterfall.bubble / 9_ms + 1, WithinRel(1 + (p - 1.0) / v, 1e-12));
}

TEST_CASE("gradients that move while backward runs cost only what is left of them at its end") {
  // 10 ms forward, 10 + 10 backward; buckets at 20 and 30 ms, 4 ms each: the tail is one message.
  StepPlan plan = test::pipeline(1, 1, 1, 10_ms, 20_ms);
  plan.stages[0].compute =
      std::make_shared<const StageCompute>(test::compute_of({10_ms}, {10_ms, 10_ms}));
  test::add_bucket(plan, 0, 0, 0_s, test::gradients(4_ms), 0_s);
  test::add_bucket(plan, 0, 1, 0_s, test::gradients(4_ms), 0_s);
  const SimulatedStep step = simulated(plan);
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(34.0, 1e-12));
  CHECK_THAT(step.dp.busy / 1_ms, WithinRel(8.0, 1e-12));
  CHECK_THAT(step.dp.exposed / 1_ms, WithinRel(4.0, 1e-12));
  CHECK(step.dp.bytes == 2_MB);
}

TEST_CASE("the critical path passes through the slowest stage, not through the idle ones") {
  // Stage 1 computes ten times as long: the path is nearly all its work.
  StepPlan plan = test::pipeline(3, 12, 1, 1_ms, 2_ms);
  plan.stages[1].compute = std::make_shared<const StageCompute>(test::compute_of({10_ms}, {20_ms}));
  const SimulatedStep step = simulated(plan);
  // 12 micro-batches of 30 ms, one forward before and one backward after by stage 0.
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(12 * 30.0 + 3, 1e-12));
  CHECK(sum(step) / step.prediction.step - 1 < 1e-12);
  CHECK_THAT(share(step, Cause::backward), WithinRel(242.0 / 363.0, 1e-12));
}

TEST_CASE("gradients of the last stages move in the bubble of the pipeline") {
  // Stage 1 ends its backward 2 ms before stage 0 does; its 1.5 ms of gradients cost nothing.
  StepPlan plan = test::pipeline(2, 4, 1, 1_ms, 2_ms);
  const Seconds without = simulated(plan).prediction.step;
  test::add_bucket(plan, 1, 0, 0_s, test::gradients(1500_us), 0_s);
  CHECK(simulated(plan).prediction.step == without);
}

TEST_CASE("gradients of a chunk that is done early move while other chunks run") {
  // Interleaved: the first chunk to end its last backward is the stage's last one. An analytical
  // block at the end would expose all but one piece's worth of these messages.
  StepPlan plan = test::pipeline(2, 4, 2, 2_ms, 4_ms);
  const Seconds without = simulated(plan).prediction.step;
  test::add_bucket(plan, 0, 0, 0_s, test::gradients(2_ms), 0_s);
  CHECK(simulated(plan).prediction.step == without);
  test::add_bucket(plan, 0, 1, 0_s, test::gradients(2_ms), 0_s);
  CHECK_THAT(simulated(plan).prediction.step / 1_ms, WithinRel(without / 1_ms + 2, 1e-12));
}

TEST_CASE("a codec slowed on the last stage delays the stages before it") {
  // Stage 1's last backward waits 1 ms for an encoder; stage 0 gets its input 1 ms later.
  StepPlan plan = test::pipeline(2, 2, 1, 1_ms, 2_ms);
  plan.stages[1].compute =
      std::make_shared<const StageCompute>(test::compute_of({1_ms}, {1_ms, 1_ms}));
  const Seconds without = simulated(plan).prediction.step;
  test::add_bucket(plan, 1, 0, 1_ms, test::gradients(1_us), 0_s);
  CHECK_THAT(simulated(plan).prediction.step / 1_ms, WithinRel(without / 1_ms + 1, 1e-12));
}

TEST_CASE("sends of a stage go one at a time, those of all ranks of a node at once") {
  // dp 4 x tp 2 = 8 ranks a stage, a node each. 8 sends of 1 MB through 10 GB/s: 0.8 ms.
  const Cluster cluster = test::two_nodes();
  StepPlan plan = test::pipeline(2, 6, 1, 100_us, 200_us);
  plan.layout.dp = 4;
  plan.layout.tp = 2;
  plan.layout.schedule = PipelineSchedule::gpipe;
  for (StagePlan& stage : plan.stages) {
    stage.send_forward = {MessageKind::pp_activations, Collective::send_recv, 1_MB, 800_us, 0, 0};
    stage.send_backward = stage.send_forward;
  }
  // Two stages, six micro-batches: p (F + B) + (m + p - 2) 2 S (tests/model/pipeline_test.cpp).
  const SimulatedStep step = simulated(plan, sim::Platform(cluster, plan.layout));
  CHECK_THAT(step.prediction.step / 1_us, WithinRel(2 * 300.0 + 6 * 2 * 800.0, 1e-9));
  CHECK(share(step, Cause::link_contention) == 0.0);
  const sim::LinkUse& nic = step.links.front();
  CHECK_THAT(nic.name, ContainsSubstring("NICs out of the node of stage 0"));
  CHECK_THAT(nic.bytes / 1_MB, WithinRel(48.0, 1e-6));  // 6 micro-batches, 8 ranks
  CHECK(nic.utilization <= 1.0);
}

TEST_CASE("what a stage sends to both of its neighbours shares its NIC") {
  // The middle one of three stages, a node each: 1F1B has it send activations on and gradients back
  // at the same time, each at a price that takes the whole NIC.
  Cluster cluster = test::two_nodes();
  cluster.nodes = 3;
  StepPlan plan = test::pipeline(3, 6, 1, 100_us, 200_us);
  plan.layout.dp = 4;
  plan.layout.tp = 2;
  for (StagePlan& stage : plan.stages) {
    stage.send_forward = {MessageKind::pp_activations, Collective::send_recv, 1_MB, 800_us, 0, 0};
    stage.send_backward = stage.send_forward;
  }
  const SimulatedStep alone = simulated(plan);
  const SimulatedStep shared = simulated(plan, sim::Platform(cluster, plan.layout));
  CHECK(shared.prediction.step > alone.prediction.step);
  CHECK(share(shared, Cause::link_contention) > 0.0);
  CHECK(share(alone, Cause::link_contention) == 0.0);
  const auto nic = std::find_if(shared.links.begin(), shared.links.end(), [](const auto& link) {
    return link.name.find("NICs out of the node of stage 1") != std::string::npos;
  });
  REQUIRE(nic != shared.links.end());
  CHECK_THAT(nic->bytes / 1_MB, WithinRel(2 * 48.0, 1e-6));
  CHECK(nic->utilization <= 1.0);
  CHECK(nic->max_delay > 0_s);
}

TEST_CASE("a run that is stopped says so and keeps what it has") {
  const std::atomic<bool> stop{true};
  sim::SimOptions options;
  options.stop = &stop;
  const SimulatedStep step = sim::simulate(test::pipeline(2, 4, 1, 1_ms, 2_ms), {}, options);
  CHECK(step.interrupted);
  CHECK(step.events > 0);
}

TEST_CASE("the same plan has the same trace hash, another plan another one") {
  const StepPlan plan = test::pipeline(3, 9, 2, 1_ms, 2_ms);
  CHECK(simulated(plan).trace_hash == simulated(plan).trace_hash);
  CHECK(simulated(plan).trace_hash != simulated(test::pipeline(3, 9, 1, 1_ms, 2_ms)).trace_hash);
}

// Parts of 1,000.6 ps are 1,001 each in picoseconds, and both together 2,001.
TEST_CASE("a bucket that is only copied and updated is decoded for no time, and not for less") {
  StepPlan plan = test::pipeline(1, 1, 1, 3_ms, 6_ms);
  const Seconds part{1000.6e-12};
  test::add_bucket(plan, 0, 0, 0_s, test::gradients(1_ms), 2.0 * part);
  plan.kinds.back().decode.bucket_copy = part;
  plan.kinds.back().decode.update = part;
  const SimulatedStep step = simulated(plan);
  CHECK(share(step, Cause::decode) == 0.0);
  CHECK(step.prediction.waterfall.decode >= 0_s);
  CHECK_THAT(sum(step) / step.prediction.step, WithinRel(1.0, 1e-12));
}
