// SPDX-License-Identifier: Apache-2.0
#include "sim/step.hpp"

#include <atomic>
#include <numeric>
#include <vector>

#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using payoff::sim::Cause;
using payoff::sim::SimulatedStep;

namespace {

SimulatedStep simulated(const StepPlan& plan, const sim::Platform& platform = {}) {
  REQUIRE(sim::check(plan, platform).empty());
  return sim::simulate(plan, platform);
}

double share(const SimulatedStep& step, Cause cause) {
  return step.critical_path[static_cast<std::size_t>(cause)] / step.prediction.step;
}

Seconds sum(const SimulatedStep& step) {
  return std::accumulate(step.critical_path.begin(), step.critical_path.end(), Seconds{});
}

// Two stages of 8 GPUs, a node each: dp 8 inside, so that sends alone cross the NICs.
Cluster two_nodes() {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.fabric = {"switch",
                    FabricKind::switched,
                    LinkGeneration::nvlink3,
                    300_GBps,
                    300_GBps,
                    8,
                    false,
                    false,
                    false,
                    {}};
  cluster.network.kind = NetworkKind::rdma;
  cluster.network.name = "fabric";
  cluster.gpus_per_node = 8;
  cluster.nics_per_node = 1;
  cluster.nic = 10_GBps;
  cluster.nodes = 2;
  return cluster;
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

TEST_CASE("sends of all ranks of a node share its NIC, and sends at the same time share it again") {
  // dp 4 x tp 2 = 8 ranks a stage, a node each. 8 sends of 1 MB through 10 GB/s: 0.8 ms if the
  // NIC is all that bounds them.
  const Cluster cluster = two_nodes();
  StepPlan plan = test::pipeline(2, 6, 1, 100_us, 200_us);
  plan.layout.dp = 4;
  plan.layout.tp = 2;
  for (StagePlan& stage : plan.stages) {
    stage.send_forward = {MessageKind::pp_activations, Collective::send_recv, 1_MB, 800_us, 0, 0};
    stage.send_backward = stage.send_forward;
  }
  const sim::Platform platform(cluster, plan.layout);
  const SimulatedStep alone = simulated(plan);
  const SimulatedStep shared = simulated(plan, platform);
  // Compute is shorter than a send, so the next send starts before the one before it has ended:
  // alone each takes 0.8 ms in any case, on the platform the second one waits for bandwidth.
  CHECK(shared.prediction.step > alone.prediction.step);
  CHECK(share(shared, Cause::link_contention) > 0.0);
  CHECK(share(alone, Cause::link_contention) == 0.0);
  const sim::LinkUse& nic = shared.links.front();
  CHECK_THAT(nic.name, ContainsSubstring("NICs out of the node of stage 0"));
  CHECK_THAT(nic.bytes / 1_MB, WithinRel(48.0, 1e-6));  // 6 micro-batches, 8 ranks
  CHECK(nic.utilization <= 1.0);
  CHECK(nic.max_delay > 0_s);
}

TEST_CASE("a run that is stopped says so and keeps what it has") {
  const std::atomic<bool> stop{true};
  sim::SimOptions options;
  options.stop = &stop;
  const SimulatedStep step = sim::simulate(test::pipeline(2, 4, 1, 1_ms, 2_ms), {}, options);
  CHECK(step.interrupted);
  CHECK(step.events > 0);
}

TEST_CASE("what cannot be simulated is refused with a number and advice") {
  StepPlan plan = test::pipeline(2, 1000, 1, 1_ms, 2_ms);
  sim::SimOptions options;
  options.event_limit = 1000;
  const Problems many = sim::check(plan, {}, options);
  REQUIRE(many.size() == 1);
  CHECK_THAT(many.front().message, ContainsSubstring("4000 events"));
  CHECK_FALSE(many.front().help.empty());

  options = {};
  options.memory_limit = 1_KB;
  const Problems large = sim::check(plan, {}, options);
  REQUIRE(large.size() == 1);
  CHECK_THAT(large.front().message, ContainsSubstring(" of memory, more than 0 MB"));
  CHECK_FALSE(large.front().help.empty());

  plan.stages[0].optimizer = {WorkKind::optimizer, Seconds{1e7}};  // 115 days
  CHECK(sim::check(plan, {}).size() == 1);

  Cluster cluster = two_nodes();
  cluster.nic = Bandwidth{0};
  CHECK(sim::check(test::pipeline(2, 1, 1, 1_ms, 1_ms), sim::Platform(cluster, {.dp = 8, .pp = 2}))
            .size() == 4);  // in and out of both nodes
}

TEST_CASE("a step is refused for the clock only where no order of its work could fit") {
  // 1,000 micro-batches of 5,000 s: 58 days on either stage, both at once.
  StepPlan plan = test::pipeline(2, 1000, 1, Seconds{2000}, Seconds{3000});
  CHECK_THAT(simulated(plan).prediction.step.si, WithinRel(1001 * 5000.0, 1e-12));
  // 116 days on each.
  const Problems work =
      sim::check(test::pipeline(2, 2000, 1, Seconds{2000}, Seconds{3000}), sim::Platform());
  REQUIRE(work.size() == 1);
  CHECK(work[0].path == "layout.micro_batches");
  // 58 days of work, and 116 of gradients beside it.
  test::add_bucket(plan, 1, 0, 0_s, test::gradients(Seconds{1e7}), 0_s);
  const Problems messages = sim::check(plan, sim::Platform());
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].path == "cluster.inter.bandwidth");
}

TEST_CASE("the refusal of memory names what takes most of it") {
  sim::SimOptions options;
  options.memory_limit = 1_KB;
  const auto blamed = [&](const StepPlan& plan) {
    const Problems problems = sim::check(plan, {}, options);
    REQUIRE(problems.size() == 1);
    return problems[0].path;
  };
  // A date of 8 bytes for each of 4,000 operations, against 20 inputs on their way of 400.
  CHECK(blamed(test::pipeline(2, 1000, 1, 1_ms, 2_ms)) == "layout.micro_batches");
  CHECK(blamed(test::pipeline(8, 1, 1, 1_ms, 2_ms)) == "layout.pp");
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 2_ms);
  for (std::size_t bucket = 0; bucket < 20; ++bucket) {
    test::add_bucket(plan, 0, 0, 0_s, test::gradients(1_ms), 0_s);
  }
  CHECK(blamed(plan) == "training.bucket");
}

TEST_CASE("the estimate of events is what happens where everything takes time") {
  StepPlan plan = test::pipeline(2, 8, 1, 1_ms, 2_ms);
  test::add_bucket(plan, 0, 0, 1_ms, test::gradients(1_ms), 1_ms);
  CHECK(sim::estimate(plan).events == simulated(plan).events);
}

TEST_CASE("the estimate of memory counts what grows with the micro-batches") {
  // A date of 8 bytes for each of 2 x 8 x 1,048,576 operations, and little else.
  constexpr int many = 1'048'576;
  const StepPlan plan = test::pipeline(8, many, 1, 1_ms, 2_ms);
  const Bytes memory = sim::estimate(plan).memory;
  CHECK(memory > 2.0 * 8 * many * 8_B);
  CHECK(memory < 1.1 * 2 * 8 * many * 8_B);
  // Where backward is split every stage lists three operations for each micro-batch.
  StepPlan split = plan;
  split.layout.schedule = PipelineSchedule::zb_h1;
  CHECK(sim::estimate(split).memory > memory + 3.0 * 8 * many * 8_B);
}

TEST_CASE("the same plan has the same trace hash, another plan another one") {
  const StepPlan plan = test::pipeline(3, 9, 2, 1_ms, 2_ms);
  CHECK(simulated(plan).trace_hash == simulated(plan).trace_hash);
  CHECK(simulated(plan).trace_hash != simulated(test::pipeline(3, 9, 1, 1_ms, 2_ms)).trace_hash);
}
