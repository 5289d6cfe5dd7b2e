// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "sim/platform.hpp"
#include "sim/step.hpp"
#include "study/plan_axes.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/problem_paths.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::problems_of;

// Ranks that divide the experts of a mixture (layout.ep).

namespace {

constexpr std::int64_t tokens = 2048;
constexpr std::int64_t hidden = 1024;
constexpr std::int64_t width = 2048;
constexpr int blocks = 6;
constexpr int mixtures = 5;
constexpr std::int64_t of_expert = 3 * width * hidden;

TransformerShape mixture() {
  TransformerShape shape = test::llama(blocks, hidden, 16, 16, 4096, 32000);
  shape.sequence = tokens;
  shape.experts = {.count = 16, .per_token = 2, .width = width, .dense_blocks = 1};
  return shape;
}

// 16 GPUs on nodes of four.
Experiment job_with(int ep, int tp = 1, Bandwidth nic = 100_Gbps) {
  Experiment job = test::small_job({.nic = nic});
  job.model = mixture();
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.micro_batch = 1;
  job.layout.tp = tp;
  job.layout.dp = 16 / tp;
  job.layout.sequence_parallel = tp > 1;
  job.layout.ep = ep;
  return job;
}

std::vector<Message> messages_of(MessageKind kind, const std::vector<Piece>& pieces) {
  std::vector<Message> messages;
  for (const Piece& piece : pieces) {
    if (piece.message.kind == kind) {
      messages.push_back(piece.message);
    }
  }
  return messages;
}

const StageCompute& compute_of(const StepPlan& plan) { return *plan.stages.front().compute; }

Bytes reduced(const StepPlan& plan, MessageKind kind) {
  Bytes sum;
  for (const Bucket& bucket : plan.buckets(0)) {
    const Message& message = plan.kind(bucket).rounds.front().message;
    sum += message.kind == kind ? message.size : 0_B;
  }
  return sum;
}

}  // namespace

// Lepikhin et al. 2020, section 3.1: an all-to-all to the experts and one back, of every token as
// often as it has experts; the same of gradients.
TEST_CASE("tokens travel to their experts and back, forward and backward") {
  const Experiment job = job_with(8);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const Bytes copies = 2.0 * tokens * hidden * 2_B;
  for (const auto* pieces : {&compute_of(plan).forward, &compute_of(plan).backward}) {
    const auto messages = messages_of(MessageKind::ep_activations, *pieces);
    REQUIRE(messages.size() == 2 * mixtures);
    for (const Message& message : messages) {
      CHECK(message.collective == Collective::all_to_all);
      CHECK_THAT(message.size / copies, WithinRel(1.0, 1e-12));
    }
  }
  const StepPrediction step = PreparedExperiment(job).predict(job.plans[0]);
  CHECK_THAT(step.ep_bytes / copies, WithinRel(4.0 * mixtures, 1e-12));
}

TEST_CASE("an all-to-all of tokens is priced among the ranks that divide the experts") {
  const Experiment job = job_with(8);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const Message sent = messages_of(MessageKind::ep_activations, compute_of(plan).forward).front();
  const CollectiveModel network(job.cluster, {8, 4, 1});  // two whole nodes
  CHECK(sent.alone == network.price(Collective::all_to_all, sent.size).time);
}

TEST_CASE("gradients of experts are summed over the ranks that hold the same ones") {
  const auto [ep, tp] = GENERATE(std::pair{2, 1}, std::pair{8, 1}, std::pair{8, 4});
  const Experiment job = job_with(ep, tp);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const double experts = static_cast<double>(mixtures * 16 * of_expert) / ep;
  CHECK_THAT(reduced(plan, MessageKind::ep_gradients) / 2_B, WithinRel(experts, 1e-12));
  CHECK(group_of(MessageKind::ep_gradients, job.layout, 4).ranks == 16 / ep);
  const auto others = static_cast<double>(compute_of(plan).parameters) - experts;
  CHECK_THAT(reduced(plan, MessageKind::dp_gradients) / 2_B, WithinRel(others, 1e-12));
  CHECK(group_of(MessageKind::dp_gradients, job.layout, 4).ranks == 16 / tp);
}

TEST_CASE("experts that one rank alone holds are reduced by nobody") {
  const Experiment job = job_with(16);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  CHECK(reduced(plan, MessageKind::ep_gradients) == 0_B);
  CHECK(reduced(plan, MessageKind::dp_gradients) > 0_B);
}

TEST_CASE("without ep all gradients share buckets, and nothing is dispatched") {
  const Experiment job = job_with(1);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  CHECK(reduced(plan, MessageKind::ep_gradients) == 0_B);
  CHECK_THAT(reduced(plan, MessageKind::dp_gradients) / 2_B,
             WithinRel(static_cast<double>(parameter_count(mixture())), 1e-12));
  CHECK(messages_of(MessageKind::ep_activations, compute_of(plan).forward).empty());
}

// 2 bytes a weight, 2 a gradient, 12 of Adam in 32 bits, which zero 1 divides among the ranks that
// hold the same weights: 16 for most, 16 / ep for experts.
TEST_CASE("ep divides the memory of experts, and zero 1 their states over fewer ranks") {
  const int ep = GENERATE(2, 8);
  Experiment job = job_with(ep);
  job.training.optimizer_bytes_per_parameter = 12_B;
  const double experts = static_cast<double>(mixtures * 16 * of_expert) / ep;
  const double others = static_cast<double>(parameter_count(mixture()) - mixtures * 16 * of_expert);
  Memory memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  CHECK_THAT(memory.parameters / 2_B, WithinRel(others + experts, 1e-12));
  CHECK_THAT(memory.optimizer / 12_B, WithinRel(others + experts, 1e-12));
  job.layout.zero = 1;
  memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  CHECK_THAT(memory.optimizer / 12_B, WithinRel(others / 16 + experts * ep / 16, 1e-12));
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  CHECK_THAT(plan.stages[0].gather_weights.size / 2_B, WithinRel(others, 1e-12));
  CHECK_THAT(plan.stages[0].gather_experts.size / 2_B, WithinRel(experts, 1e-12));
}

TEST_CASE("terms of a step with experts add up, and imbalance takes time") {
  Seconds before;
  for (const double imbalance : {1.0, 1.25, 2.0}) {
    Experiment job = job_with(8);
    job.layout.expert_imbalance = imbalance;
    const StepPrediction step = PreparedExperiment(job).predict(job.plans[0]);
    CHECK_THAT(step.waterfall.total() / step.step, WithinRel(1.0, 1e-12));
    CHECK(step.waterfall.exposed_ep > 0_s);
    CHECK(step.waterfall.exposed_tp == 0_s);
    CHECK(step.waterfall.forward > before);
    before = step.waterfall.forward;
  }
}

// Fedus et al. 2021, section 2.2: tokens over the capacity are dropped, the rest is padding.
TEST_CASE("a capacity factor computes and sends what so many times the mean would") {
  Experiment padded = job_with(8);
  padded.layout.expert_capacity = 1.25;
  Experiment uneven = job_with(8);
  uneven.layout.expert_imbalance = 1.25;
  CHECK(PreparedExperiment(padded).predict(padded.plans[0]).step ==
        PreparedExperiment(uneven).predict(uneven.plans[0]).step);
}

TEST_CASE("a codec compresses the gradients of experts for their own ranks") {
  Experiment job = job_with(8);
  job = test::with_plans(std::move(job), {test::sparse(0.01, 1)});
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[1]);
  // All-gather: what all ranks of the group send, 2 of experts and 16 of the others.
  Bytes experts;
  Bytes others;
  for (const Bucket& bucket : plan.buckets(0)) {
    const Message& message = plan.kind(bucket).rounds.front().message;
    (message.kind == MessageKind::ep_gradients ? experts : others) += message.size;
  }
  const double expert_share = static_cast<double>(mixtures * 16 * of_expert) / 8 * 2;
  const double other_share =
      static_cast<double>(parameter_count(mixture()) - mixtures * 16 * of_expert) * 16;
  CHECK_THAT(experts / others, WithinRel(expert_share / other_share, 0.01));
}

// The all-to-all of the blocks before goes out by the NICs that gradients of the blocks after use.
TEST_CASE("tokens and gradients share the NICs, which the simulator names and the formulas miss") {
  const Experiment job = job_with(8, 1, 10_Gbps);
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  const StepPrediction alone = evaluate(plan);
  const sim::SimulatedStep uncontended = sim::simulate(plan, {});
  CHECK_THAT(uncontended.prediction.step / alone.step, WithinRel(1.0, 1e-3));
  const sim::SimulatedStep step = sim::simulate(plan, {job.cluster, job.layout});
  CHECK(step.prediction.step > 1.02 * alone.step);
  CHECK(step.critical_path[static_cast<std::size_t>(sim::Cause::link_contention)] > 0_s);
  Seconds late;
  for (const sim::LinkUse& link : step.links) {
    late += link.name.starts_with("NICs") ? link.max_delay : 0_s;
  }
  CHECK(late > 0_s);
  CHECK_THAT(step.ep.bytes / alone.ep_bytes, WithinRel(1.0, 1e-12));
}

TEST_CASE("experts inside a node leave the NICs to the gradients") {
  const Experiment job = job_with(4, 1, 10_Gbps);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const sim::SimulatedStep step = sim::simulate(plan, {job.cluster, job.layout});
  for (const sim::LinkUse& link : step.links) {
    CHECK((!link.name.starts_with("NICs") || link.max_delay == 0_s));
  }
}

TEST_CASE("experts that cannot be divided so are refused, all reasons at once") {
  using Paths = std::vector<std::string>;
  CHECK(problems_of(job_with(8)) == Paths{});
  CHECK(problems_of(job_with(8, 4)) == Paths{});
  Experiment many = job_with(3);
  CHECK(problems_of(many) == Paths{"layout.ep"});
  CHECK(check(many)[0].message ==
        "ep 3 does not divide the 16 ranks of a stage (tp x cp x dp), nor the 16 experts");
  CHECK(check(many)[0].help == "choose a divisor of 16");
  many.layout.etp = 3;  // of 16 ranks, and 2048 columns
  CHECK(problems_of(many) == Paths{"layout.etp", "layout.ep"});
  CHECK(check(many)[0].help == "choose a divisor of 16");
  Experiment dense = job_with(4);
  dense.model = test::llama(blocks, hidden, 16, 16, 4096, 32000);
  dense.layout.expert_imbalance = 2;
  CHECK(problems_of(dense) == Paths{"layout.ep", "layout.expert_imbalance"});
  Experiment copied = job_with(4, 2);
  copied.layout.sequence_parallel = false;
  CHECK(problems_of(copied) == Paths{"layout.sequence_parallel"});
  Experiment grouped = job_with(4);
  grouped.layout.zero = 3;
  CHECK(problems_of(grouped) == Paths{});
  grouped.layout.shard = 4;
  CHECK(problems_of(grouped) == Paths{});
  grouped.layout.shard = 2;  // which hold half of the experts
  CHECK(problems_of(grouped) == Paths{"layout.shard"});
  Experiment alone = job_with(2, 16);
  alone.layout.zero = 3;
  CHECK(problems_of(alone) == Paths{"layout.zero"});  // dp is 1
  Experiment beyond = job_with(2);
  beyond.layout.expert_imbalance = 3;
  CHECK(problems_of(beyond) == Paths{"layout.expert_imbalance"});
  Experiment both = job_with(4);
  both.layout.expert_imbalance = 1.5;
  both.layout.expert_capacity = 1.5;
  CHECK(problems_of(both) == Paths{"layout.expert_imbalance"});
}

TEST_CASE("messages that keep their size keep their price, whichever ranks they go between") {
  Experiment in_groups = test::small_job();
  in_groups.layout.zero = 1;
  in_groups.layout.shard = 4;
  for (const Experiment& job : {job_with(1), job_with(4), job_with(8), in_groups}) {
    const PreparedExperiment prepared(job);
    for (const CompressionPlan& compression : job.plans) {
      const StepPlan plan = prepared.plan(compression);
      const StepPlan same = MessageSizes(job).resized(plan, 1.0);
      REQUIRE(same.kinds.size() == plan.kinds.size());
      for (std::size_t kind = 0; kind < plan.kinds.size(); ++kind) {
        REQUIRE(same.kinds[kind].rounds.size() == plan.kinds[kind].rounds.size());
        for (std::size_t round = 0; round < plan.kinds[kind].rounds.size(); ++round) {
          CHECK_THAT(same.kinds[kind].rounds[round].message.alone / 1_s,
                     WithinRel(plan.kinds[kind].rounds[round].message.alone / 1_s, 1e-12));
        }
      }
    }
  }
}
