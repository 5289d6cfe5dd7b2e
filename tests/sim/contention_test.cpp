// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/simulated.hpp"

// What messages of one step take from each other and from work, by name: links, slots, memory.

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::sim::Cause;
using payoff::sim::SimulatedStep;
using payoff::test::simulated;

namespace {

Seconds on_path(const SimulatedStep& step, Cause cause) {
  return step.critical_path[static_cast<std::size_t>(cause)];
}

// Two nodes of two GPUs, 10 GB/s to each other and to a NIC of their own.
Cluster two_by_two(FabricKind kind) {
  Cluster cluster;
  cluster.gpu.compute_units = 100;
  cluster.gpu.architecture = Architecture::volta;  // a slot of 15.75 GB/s
  cluster.fabric.name = "bus";
  cluster.fabric.kind = kind;
  cluster.fabric.per_gpu = cluster.fabric.pair = 10_GBps;
  cluster.fabric.max_gpus = 2;
  cluster.network.kind = NetworkKind::rdma;
  cluster.network.name = "network";
  cluster.gpus_per_node = 2;
  cluster.nics_per_node = 2;
  cluster.nic = 10_GBps;
  cluster.nodes = 2;
  return cluster;
}

// tp 2 in a node, dp 2 over the nodes. Forward 1 ms; backward 1 ms, which completes a bucket, then
// 1 ms and a sum of activations.
StepPlan gradients_beside_activations() {
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  plan.layout.tp = 2;
  plan.layout.dp = 2;
  StageCompute compute = test::compute_of({1_ms}, {1_ms, 1_ms});
  // A ring of two moves what it sums up once: 50 MB at 10 GB/s.
  compute.backward.back().message = {
      MessageKind::tp_activations, Collective::all_reduce, 50_MB, 5_ms, 0, 0};
  plan.stages[0].compute = std::make_shared<const StageCompute>(std::move(compute));
  test::add_bucket(plan, 0, 0, 0_s, test::gradients(10_ms, 100_MB), 0_s);
  return plan;
}

double late_on(const SimulatedStep& step, const std::string& name) {
  for (const sim::LinkUse& link : step.links) {
    if (link.name == name) {
      return link.max_delay / 1_ms;
    }
  }
  FAIL("no link is called " + name);
  return 0;
}

// Four nodes of two GPUs with a NIC of 10 GB/s each, a fast switch inside. A bucket of 100 MB is
// complete after 2 ms, and asks for all of the NICs for 10 ms; 1 ms later a piece of backward ends
// whose message crosses nodes too.
StepPlan gradients_beside(const Message& message, const ParallelLayout& layout) {
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  plan.layout = layout;
  StageCompute compute = test::compute_of({1_ms}, {1_ms, 1_ms});
  compute.backward.back().message = message;
  plan.stages[0].compute = std::make_shared<const StageCompute>(std::move(compute));
  test::add_bucket(plan, 0, 0, 0_s, test::gradients(10_ms, 100_MB), 0_s);
  return plan;
}

Cluster four_by_two() {
  Cluster cluster = two_by_two(FabricKind::switched);
  cluster.fabric.per_gpu = cluster.fabric.pair = 300_GBps;
  cluster.nodes = 4;
  return cluster;
}

// The message, alone 5 ms, and the bucket share the NICs and nothing else.
void check_shared_nics(const StepPlan& plan) {
  const SimulatedStep step = simulated(plan, {four_by_two(), plan.layout});
  CHECK(late_on(step, "NICs out of the node of stage 0") > 1.0);
  CHECK(late_on(step, "NICs into the node of stage 0") > 1.0);
  CHECK(late_on(step, "bus out of the GPU of stage 0") == 0);
  CHECK(on_path(step, Cause::link_contention) > 1_ms);
  // The analytical engine sees both, and no link that they share.
  const Seconds apart = evaluate(plan).step;
  CHECK(step.prediction.step > apart + 1_ms);
  CHECK(step.prediction.step <= apart + 5_ms);
}

}  // namespace

TEST_CASE("tensor parallelism across nodes shares the NICs with gradients") {
  check_shared_nics(
      gradients_beside({MessageKind::tp_activations, Collective::all_reduce, 33.3_MB, 5_ms, 0, 0},
                       {.dp = 2, .tp = 4}));
}

TEST_CASE("tokens on their way to experts in other nodes share the NICs with gradients") {
  check_shared_nics(
      gradients_beside({MessageKind::ep_activations, Collective::all_to_all, 66.7_MB, 5_ms, 0, 0},
                       {.dp = 8, .ep = 8}));
}

TEST_CASE("gradients to the NIC and activations to the neighbour share a PCIe slot") {
  // The gradients leave at 2 ms. From 3 ms on both want 10 GB/s of the slot and get half of it: the
  // activations take 10 ms instead of 5, and 4 ms of gradients are left when they are through.
  const StepPlan plan = gradients_beside_activations();
  const SimulatedStep step = simulated(plan, {two_by_two(FabricKind::pcie_tree), plan.layout});
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(2 + 1 + 10 + 4.0, 1e-6));
  CHECK_THAT(on_path(step, Cause::link_contention) / 1_ms, WithinRel(5.0, 1e-6));
  CHECK(on_path(step, Cause::memory_contention) == 0_s);
  // Each message is 5 ms late, on both ways of the slot.
  CHECK_THAT(late_on(step, "bus out of the GPU of stage 0"), WithinRel(5.0, 1e-6));
  CHECK_THAT(late_on(step, "bus into the GPU of stage 0"), WithinRel(5.0, 1e-6));
}

TEST_CASE("a fabric of its own leaves the PCIe slot to the gradients") {
  const StepPlan plan = gradients_beside_activations();
  const SimulatedStep step = simulated(plan, {two_by_two(FabricKind::switched), plan.layout});
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(2 + 10.0, 1e-9));
  CHECK(late_on(step, "PCIe slot out of the GPU of stage 0") == 0);
  for (const sim::LinkUse& link : step.links) {
    if (link.name.starts_with("PCIe slot")) {
      CHECK_THAT(link.bytes / 1_MB, WithinRel(100.0, 1e-9));  // the gradients of one GPU
    }
  }
}

TEST_CASE("gradients and sends of one GPU share its slot where its NICs are faster") {
  // dp 2 in different nodes, two stages: each GPU's slot of 15.75 GB/s, two NICs of 20 GB/s. A send
  // of 15.75 MB takes the slot for 1 ms, beside gradients that take all of it.
  Cluster cluster = two_by_two(FabricKind::switched);
  cluster.nodes = 4;
  cluster.gpus_per_node = 1;
  cluster.nics_per_node = 2;
  cluster.nic = 20_GBps;
  StepPlan plan = test::pipeline(2, 1, 1, 1_ms, 2_ms);
  plan.layout.dp = 2;
  plan.stages[1].send_backward = {
      MessageKind::pp_activations, Collective::send_recv, 15.75_MB, 1_ms, 0, 0};
  test::add_bucket(plan, 1, 0, 0_s, test::gradients(10_ms, 157.5_MB), 0_s);
  const SimulatedStep step = simulated(plan, {cluster, plan.layout});
  // Both leave when the last stage's backward ends: the send takes twice its bandwidth's time.
  CHECK(late_on(step, "PCIe slot out of the GPU of stage 1") > 0.5);
  CHECK(late_on(step, "NICs out of the node of stage 1") == 0);
  CHECK(on_path(step, Cause::link_contention) > 0_s);
}

TEST_CASE("time that a message loses to work that uses the memory is booked under its name") {
  // The message holds a tenth of the units, so the second backward piece takes 10 / 0.9 ms and asks
  // for 0.9 of the memory; a tenth is left of the half that the message wants: it goes at 0.2.
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  StageCompute compute = test::compute_of({1_ms}, {1_ms, 10_ms});
  compute.backward.back().work.memory_share = 1.0;
  plan.stages[0].compute = std::make_shared<const StageCompute>(std::move(compute));
  plan.reserved_share = 0.1;
  Message message = test::gradients(4_ms);
  message.memory_share = 0.5;
  test::add_bucket(plan, 0, 0, 0_s, message, 0_s);
  const SimulatedStep step = simulated(plan);
  const double beside = 10 / 0.9;  // ms
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(2 + beside + (4 - 0.2 * beside), 1e-9));
  CHECK_THAT(on_path(step, Cause::memory_contention) / 1_ms, WithinRel(0.8 * beside, 1e-9));
  CHECK(on_path(step, Cause::link_contention) == 0_s);
  REQUIRE(step.max_memory_delay.size() == 1);
  CHECK_THAT(step.max_memory_delay[0] / 1_ms, WithinRel(0.8 * beside, 1e-9));
}

TEST_CASE("what links and memory cost a message adds up to how late it is") {
  // As above on a slot that activations share: both causes, each under its own name.
  StepPlan plan = gradients_beside_activations();
  plan.reserved_share = 0.1;
  plan.kinds[0].rounds[0].message.memory_share = 0.5;
  StageCompute compute = *plan.stages[0].compute;
  compute.backward.back().work.memory_share = 1.0;
  plan.stages[0].compute = std::make_shared<const StageCompute>(compute);
  const SimulatedStep step = simulated(plan, {two_by_two(FabricKind::pcie_tree), plan.layout});
  // Beside 1 / 0.9 ms of work the gradients lose 0.8 of the time; beside activations 5 ms.
  CHECK_THAT(step.max_memory_delay[0] / 1_ms, WithinRel(0.8 / 0.9, 1e-6));
  CHECK_THAT(on_path(step, Cause::memory_contention) / 1_ms, WithinRel(0.8 / 0.9, 1e-6));
  CHECK_THAT(on_path(step, Cause::link_contention) / 1_ms, WithinRel(5.0, 1e-6));
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(2 + 10 + 0.8 / 0.9 + 5, 1e-6));
}

TEST_CASE("a send holds compute units of the GPU that sends, for its life") {
  // Stage 0: forward 10 ms, backward 1 ms; stage 1 a millisecond each. An activation travels for
  // 0.5 ms and holds a fifth of the units: 0.4 ms of work fit beside it, 0.1 ms are lost.
  //   f0 0-10  f1 10-20.1  b0 20.1-21.2  f2 21.2-31.2  b1 31.2-32.3
  // f2 is through stage 1 at 31.7 + 2, and b2 follows at stage 0. f2 runs beside no send: backward
  // of the first stage sends nothing.
  StepPlan plan = test::pipeline(2, 3, 1, 1_ms, 1_ms);
  plan.stages[0].compute = std::make_shared<const StageCompute>(test::compute_of({10_ms}, {1_ms}));
  plan.stages[0].send_forward = {
      MessageKind::pp_activations, Collective::send_recv, 1_MB, 500_us, 2, 0};
  plan.send_share = 0.2;
  const SimulatedStep step = simulated(plan);
  CHECK_THAT(step.prediction.step / 1_ms, WithinRel(34.7, 1e-9));
  CHECK_THAT(step.prediction.waterfall.interference / 1_ms, WithinRel(0.3, 1e-9));
  const StepPrediction evaluated = evaluate(plan);
  CHECK_THAT(evaluated.step / 1_ms, WithinRel(34.7, 1e-9));
  CHECK_THAT(evaluated.waterfall.interference / 1_ms, WithinRel(0.3, 1e-9));
  CHECK_THAT(evaluated.waterfall.total() / 1_ms, WithinRel(34.7, 1e-9));
  plan.send_share = 0;
  CHECK_THAT(evaluate(plan).step / 1_ms, WithinRel(34.5, 1e-9));
}

TEST_CASE("an optimizer runs beside the last send of its stage, the host does not care") {
  // Stage 1 ends its backward at 4 ms; its gradients travel for 1 ms and hold a fifth of the units.
  // The optimizer's 3 ms take 0.2 ms more. Stage 0 has none and ends at 4 + 1 + 2.
  StepPlan plan = test::pipeline(2, 1, 1, 1_ms, 2_ms);
  plan.stages[1].send_backward = {
      MessageKind::pp_activations, Collective::send_recv, 1_MB, 1_ms, 2, 0};
  plan.stages[1].optimizer = {WorkKind::optimizer, 3_ms};
  plan.host = 1_ms;
  plan.send_share = 0.2;
  CHECK_THAT(simulated(plan).prediction.step / 1_ms, WithinRel(4 + 3.2 + 1, 1e-9));
  CHECK_THAT(evaluate(plan).step / 1_ms, WithinRel(4 + 3.2 + 1, 1e-9));
}
