// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "model/sharded_check.hpp"
#include "sim/step.hpp"
#include "study/break_even.hpp"
#include "study/plan_axes.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Compressed traffic of sharded data parallelism: gathers of weights, and gradients that a method's
// own rounds scatter.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

constexpr double parameters = 12.0 * (2048 * 2048 + 2048);

Experiment sharded(int zero, CompressionPlan plan) {
  Experiment job = test::with_plans(test::small_job(), {std::move(plan)});
  job.layout.zero = zero;
  job.training.precision = Precision::fp16;
  return job;
}

CompressionPlan of_weights(const std::string& name, bool copy_in_node = false) {
  CompressionPlan plan;
  plan.label = name;
  plan.weights = WeightCompression{test::method(name, {}), copy_in_node};
  return plan;
}

CompressionPlan of_gradients(const std::string& name) {
  CompressionPlan plan;
  plan.label = name;
  plan.method = test::method(name, {});
  return plan;
}

struct Gathered {
  Bytes bytes;
  Seconds alone;
  Seconds codec;
};

Gathered gathered(const StepPlan& plan, const std::vector<WeightGather>& gathers) {
  Gathered sum;
  for (const WeightGather& gather : gathers) {
    const BucketKind& kind = plan.kinds[gather.kind];
    sum.codec += kind.decode.alone;
    for (const BucketRound& round : kind.rounds) {
      sum.bytes += round.message.size;
      sum.alone += round.message.alone;
      sum.codec += round.encode.alone;
    }
  }
  return sum;
}

void check_agreement(const Experiment& job) {
  REQUIRE(check(job).empty());
  StepPlan plan = PreparedExperiment(job).plan(job.plans.back());
  plan.reserved_share = 0;  // messages hold no compute units: nothing is contended
  const sim::SimulatedStep simulated = sim::simulate(plan, {});
  const double ticks = std::abs(simulated.prediction.step.si - evaluate(plan).step.si) * 1e12;
  CHECK(ticks <= static_cast<double>(simulated.path_activities));
}

}  // namespace

// Wang et al. 2023 (ZeRO++), section on qwZ: bytes for half-precision weights, and a scale of 4
// bytes for each group, here of 4,096.
TEST_CASE("quantised weights are gathered as bytes, forward and backward") {
  const Experiment job = sharded(3, of_weights("qwz"));
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[1]);
  const double payload = parameters * (1.0 + 4.0 / 4096);
  for (const auto* gathers : {&plan.stages[0].forward_gathers, &plan.stages[0].backward_gathers}) {
    const Gathered sum = gathered(plan, *gathers);
    CHECK_THAT(sum.bytes / 1_B, WithinRel(payload, 1e-9));
    CHECK(sum.codec > 0_s);
  }
  CHECK(prepared.predict(job.plans[1]).dp_bytes < prepared.predict(job.plans[0]).dp_bytes);
  check_agreement(job);
}

// Wang et al. 2023, section on hpZ: a copy in every node takes the gathers of backward off the
// network.
TEST_CASE("with a copy in every node backward gathers inside it") {
  const Experiment job = sharded(3, of_weights("qwz", true));
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[1]);
  const Gathered forward = gathered(plan, plan.stages[0].forward_gathers);
  const Gathered backward = gathered(plan, plan.stages[0].backward_gathers);
  CHECK_THAT(backward.bytes / forward.bytes, WithinRel(1.0, 1e-9));
  CHECK(backward.alone < 0.1 * forward.alone);  // 150 GB/s inside, 10 Gb/s between
  check_agreement(job);
}

// Wang et al. 2023, section on hpZ: a secondary partition of all weights over the ranks of a node.
TEST_CASE("a copy in every node takes its memory") {
  const auto held = [](bool copy_in_node) {
    const Experiment job = sharded(3, of_weights("qwz", copy_in_node));
    return PreparedExperiment(job).predict(job.plans[1]).memory.parameters;
  };
  const int gpus = test::small_job().cluster.gpus_per_node;
  CHECK_THAT((held(true) - held(false)) / 1_B, WithinRel(2 * parameters / gpus, 1e-9));
}

TEST_CASE("hpZ alone gathers weights as they are, backward inside the node") {
  const Experiment job = sharded(3, of_weights("hpz", true));
  const PreparedExperiment prepared(job);
  const StepPlan dense = prepared.plan(job.plans[0]);
  const StepPlan plan = prepared.plan(job.plans[1]);
  const Gathered forward = gathered(plan, plan.stages[0].forward_gathers);
  const Gathered before = gathered(dense, dense.stages[0].forward_gathers);
  CHECK_THAT(forward.bytes / before.bytes, WithinRel(1.0, 1e-9));
  CHECK_THAT(forward.alone / before.alone, WithinRel(1.0, 1e-9));
  CHECK(forward.codec == 0_s);
  const Gathered backward = gathered(plan, plan.stages[0].backward_gathers);
  CHECK(backward.alone < 0.1 * forward.alone);  // 150 GB/s inside, 10 Gb/s between
  check_agreement(job);
}

// Jia et al. 2024 (SDP4Bit): differences of weights in 4 bits, a scale for each group of 2,048.
TEST_CASE("a sharded optimizer gathers its updated weights compressed") {
  const Experiment job = sharded(1, of_weights("sdp4bit_weights"));
  const PreparedExperiment prepared(job);
  const StagePlan dense = prepared.plan(job.plans[0]).stages[0];
  const StagePlan stage = prepared.plan(job.plans[1]).stages[0];
  CHECK_THAT(stage.gather_weights.size / 1_B, WithinRel(parameters * (0.5 + 4.0 / 2048), 1e-9));
  CHECK(stage.gather_weights.alone < dense.gather_weights.alone);
  CHECK(stage.optimizer.alone > dense.optimizer.alone);
  check_agreement(job);
}

// torchao agrees the largest values of all weights in one all-reduce a step: no gather has one.
TEST_CASE("weights in 8-bit floating point are gathered in one round of a byte each") {
  const Experiment job = sharded(1, of_weights("fp8_weights"));
  const StagePlan stage = PreparedExperiment(job).plan(job.plans[1]).stages[0];
  CHECK(stage.gather_weights.collective == Collective::all_gather);
  CHECK_THAT(stage.gather_weights.size / 1_B, WithinRel(parameters, 1e-12));
  check_agreement(job);
}

// Wang et al. 2023, section on qgZ: 4 bits and scales among the ranks of a node, then a share of
// that between nodes.
TEST_CASE("rounds among the ranks of a node and among nodes are priced there") {
  const Experiment job = sharded(3, of_gradients("qgz"));
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[1]);
  const Group all = prepared.data_network().group();
  const CollectiveModel in_node(job.cluster, part_in_node(all));
  const CollectiveModel across(job.cluster, part_across_nodes(all));
  CHECK(in_node.group().ranks * across.group().ranks == all.ranks);
  const BucketKind& kind = plan.kind(plan.buckets(0).front());
  REQUIRE(kind.rounds.size() == 2);
  const Bytes payload = static_cast<double>(kind.elements) * (0.5 + 4.0 / 256) * 1_B;
  CHECK_THAT(kind.rounds[0].message.size / payload, WithinRel(1.0, 1e-9));
  CHECK(kind.rounds[0].message.alone == in_node.price(Collective::all_to_all, payload).time);
  CHECK_THAT(kind.rounds[1].message.size / payload, WithinRel(1.0 / all.ranks_per_node, 1e-9));
  CHECK(kind.rounds[1].message.alone ==
        across.price(Collective::all_to_all, kind.rounds[1].message.size).time);
  check_agreement(job);
}

TEST_CASE("weights that nobody gathers and sums that leave copies cannot be compressed") {
  const auto problem = [](Experiment job) {
    const Problems problems = check(job);
    REQUIRE(problems.size() == 1);
    return problems[0].message;
  };
  CHECK_THAT(problem(sharded(0, of_weights("qwz"))), ContainsSubstring("none are gathered"));
  CHECK_THAT(problem(sharded(3, of_weights("hpz"))), ContainsSubstring("weights as they are"));
  Experiment copies = sharded(3, of_gradients("qgz"));
  copies.layout.shard = 4;
  CHECK_THAT(problem(copies), ContainsSubstring("leaves copies"));
  // Neither a part of the sum nor a sum of parts.
  CHECK_THAT(problem(sharded(1, of_gradients("efsignsgd"))),
             ContainsSubstring("needs the whole gradient"));
  CHECK_THAT(problem(sharded(0, of_gradients("qgz"))), ContainsSubstring("with zero 0"));
  CHECK_THAT(problem(sharded(1, of_weights("qwz", true))), ContainsSubstring("only zero 3"));
  CHECK(check(sharded(3, of_weights("qwz", true))).empty());
  // A sum in two steps, and sums of what everybody gathers from all.
  for (const std::string sum : {"mxfp8", "topk", "lossless"}) {
    INFO(sum);
    CHECK_THAT(problem(sharded(3, of_weights(sum))), ContainsSubstring("rounds of a sum"));
  }
}

TEST_CASE("every method for weights gathers no more than them, and encodes a part") {
  constexpr Bytes weight = 2_B;
  const ParameterTensor tensor{1 << 24, 1, true, false};
  const Bytes dense = static_cast<double>(tensor.elements()) * weight;
  int found = 0;
  for (const auto& [name, profile] : test::catalogue()) {
    const std::vector<std::string>& traffic = profile.notes.traffic;
    if (!traffic.empty() &&
        std::find(traffic.begin(), traffic.end(), "dp_weights") == traffic.end()) {
      continue;
    }
    INFO(name);
    ++found;
    const Method& method = profile.profile.value;
    CHECK(gathers_parts(method, weight));
    for (const int workers : {2, 8, 64}) {
      const CallCost cost = compress(method, {&tensor, 1}, weight, workers, 1);
      REQUIRE_FALSE(cost.rounds.empty());
      Bytes gathered;
      Bytes encoded;
      for (const RoundCost& round : cost.rounds) {
        gathered +=
            round.collective == Collective::all_gather ? workers * round.message : round.message;
        encoded += round.encode.bytes;
      }
      CHECK(gathered <= dense);
      // Read twice, beside the weights of before or for their largest value, and written once.
      CHECK(encoded <= 3 * dense / workers);
    }
    // hpZ saves by its copies alone.
    const bool copies = name == "hpz";
    check_agreement(sharded(3, of_weights(name, copies)));
    if (!copies) {
      check_agreement(sharded(1, of_weights(name)));
    }
  }
  CHECK(found >= 3);
}

TEST_CASE("along the axes of a plan only what it compresses changes") {
  const auto changed = [](const Experiment& job, double factor) {
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[1]);
    const StepPlan other = MessageSizes(job).resized(plan, factor);
    std::vector<MessageKind> kinds;
    for (std::size_t kind = 0; kind < plan.kinds.size(); ++kind) {
      for (std::size_t round = 0; round < plan.kinds[kind].rounds.size(); ++round) {
        const Message& before = plan.kinds[kind].rounds[round].message;
        if (other.kinds[kind].rounds[round].message != before) {
          kinds.push_back(before.kind);
        }
      }
    }
    return kinds;
  };
  for (const CompressionPlan& plan :
       {of_weights("qwz"), of_weights("qwz", true), of_gradients("qgz"), of_gradients("fp8")}) {
    Experiment job = sharded(3, plan);
    job.cluster.gpu.architecture = Architecture::hopper;  // NCCL adds every format there
    INFO(plan.label);
    REQUIRE(check(job).empty());
    CHECK(changed(job, 1.0).empty());
    const MessageKind mine = plan.weights ? MessageKind::dp_weights : MessageKind::dp_gradients;
    const std::vector<MessageKind> kinds = changed(job, 0.5);
    CHECK_FALSE(kinds.empty());
    CHECK(std::all_of(kinds.begin(), kinds.end(), [&](MessageKind kind) { return kind == mine; }));
  }
}

// Of the gathers alone: half-precision weights over bytes and a scale of 4 for 4,096 of them.
TEST_CASE("the wire ratio of compressed weights is theirs, and their codec runs in every gather") {
  Experiment job = sharded(3, of_weights("qwz"));
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[1]);
  CHECK_THAT(MessageSizes(job).wire_ratio(plan, prepared.plan(job.plans[0])),
             WithinRel(2 / (1 + 4.0 / 4096), 1e-9));
  const Seconds codec = gathered(plan, plan.stages[0].forward_gathers).codec +
                        gathered(plan, plan.stages[0].backward_gathers).codec;
  CHECK_THAT(codec_time(plan) / (job.layout.micro_batches * codec), WithinRel(1.0, 1e-12));
  CHECK(break_evens(job).front().codec_time);
  const BreakEven updated = break_evens(sharded(1, of_weights("qwz"))).front();
  CHECK_FALSE(updated.codec_time);
  CHECK_FALSE(updated.wire_ratio);
}
