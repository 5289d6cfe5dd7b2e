// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <tuple>
#include <utility>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

// Sharded weights (zero 3) of models with experts, which are held and sharded by other ranks than
// the rest.

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr std::int64_t hidden = 1024;
constexpr std::int64_t width = 2048;
constexpr int blocks = 6;
constexpr std::int64_t experts_of_model = std::int64_t{blocks} * 16 * 3 * width * hidden;

// 16 GPUs on nodes of four.
Experiment job_with(int ep, int tp = 1) {
  Experiment job = test::small_job({.nic = 100_Gbps});
  TransformerShape shape = test::llama(blocks, hidden, 16, 16, 4096, 32000);
  shape.sequence = 1024;
  shape.experts = {.count = 16, .per_token = 2, .width = width};
  job.model = shape;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.training.optimizer_bytes_per_parameter = 12_B;
  job.software.fused_attention = true;
  job.layout.micro_batch = 1;
  job.layout.tp = tp;
  job.layout.dp = 16 / tp;
  job.layout.sequence_parallel = tp > 1;
  job.layout.ep = ep;
  job.layout.zero = 3;
  return job;
}

struct Volumes {
  double gathered{};  // elements
  double scattered{};
};

Volumes volumes_of(const StepPlan& plan, MessageKind weights, MessageKind gradients) {
  Volumes volumes;
  const auto add = [&](const BucketKind& kind, MessageKind wanted, double& sum) {
    for (const BucketRound& round : kind.rounds) {
      sum += round.message.kind == wanted ? round.message.size / 2_B : 0.0;
    }
  };
  const StagePlan& stage = plan.stages.front();
  for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      add(plan.kinds[gather.kind], weights, volumes.gathered);
    }
  }
  for (const Bucket& bucket : plan.buckets(0)) {
    add(plan.kind(bucket), gradients, volumes.scattered);
  }
  return volumes;
}

// Parameters outside the blocks, and outside the experts, on one tensor-parallel rank.
struct Others {
  double root{};
  double all{};
};

Others others_of(const Experiment& job) {
  Others others;
  const auto workload = workload_of(job);
  for (const Layer& layer : workload->layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      const auto elements = static_cast<double>(tensor.elements());
      others.all += tensor.of_expert ? 0.0 : elements;
      others.root += layer.recomputable ? 0.0 : elements;
    }
  }
  return others;
}

}  // namespace

// Rajbhandari et al. 2020, section 7.2.2, of each kind of weights among those that share it:
// gathered before forward, again before backward (not the root), scattered once.
TEST_CASE(
    "experts are gathered twice and scattered once, as all other weights, by their own ranks") {
  const auto [ep, tp] = GENERATE(std::pair{2, 1}, std::pair{8, 1}, std::pair{8, 2});
  const Experiment job = job_with(ep, tp);
  REQUIRE(check(job).empty());
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const double held = static_cast<double>(experts_of_model) / ep;
  const Volumes experts = volumes_of(plan, MessageKind::ep_weights, MessageKind::ep_gradients);
  CHECK_THAT(experts.gathered, WithinRel(2.0 * held, 1e-12));
  CHECK_THAT(experts.scattered, WithinRel(held, 1e-12));
  const Others parameters = others_of(job);
  const Volumes others = volumes_of(plan, MessageKind::dp_weights, MessageKind::dp_gradients);
  CHECK_THAT(others.gathered, WithinRel(2.0 * parameters.all - parameters.root, 1e-12));
  CHECK_THAT(others.scattered, WithinRel(parameters.all, 1e-12));
}

TEST_CASE("a gather of experts has the price of an all-gather among the ranks that hold the same") {
  const Experiment job = job_with(4);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const CollectiveModel network(job.cluster, {4, 1, 4});  // one on each node
  for (const WeightGather& gather : plan.stages[0].backward_gathers) {
    const Message& message = plan.kinds[gather.kind].rounds.back().message;
    REQUIRE(message.kind == MessageKind::ep_weights);
    CHECK(message.alone == network.price(Collective::all_gather, message.size).time);
  }
}

TEST_CASE("experts that one rank alone holds are neither gathered nor scattered") {
  const Experiment job = job_with(16);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const Volumes experts = volumes_of(plan, MessageKind::ep_weights, MessageKind::ep_gradients);
  CHECK(experts.gathered == 0.0);
  CHECK(experts.scattered == 0.0);
  CHECK(volumes_of(plan, MessageKind::dp_weights, MessageKind::dp_gradients).gathered > 0.0);
}

// Hybrid sharding: those with the same experts among the ranks that hold one copy of all else
// gather and scatter; between copies the parts are added up.
TEST_CASE("experts are sharded inside the groups that hold one copy, and summed between copies") {
  const auto [ep, tp, shard] =
      GENERATE(std::tuple{2, 1, 4}, std::tuple{4, 1, 8}, std::tuple{4, 2, 4}, std::tuple{4, 1, 4},
               std::tuple{2, 4, 1});  // the last one shards experts alone
  Experiment job = job_with(ep, tp);
  job.layout.shard = shard;
  REQUIRE(check(job).empty());
  const int parts = tp * shard / ep;
  CHECK(job.layout.expert_shards() == parts);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const double held = static_cast<double>(experts_of_model) / ep;
  const Volumes experts = volumes_of(plan, MessageKind::ep_weights, MessageKind::ep_gradients);
  CHECK_THAT(experts.gathered, WithinRel(parts > 1 ? 2.0 * held : 0.0, 1e-12));
  CHECK_THAT(experts.scattered, WithinRel(parts > 1 ? held : 0.0, 1e-12));
  const Volumes between = volumes_of(plan, MessageKind::ep_weights, MessageKind::ep_replicas);
  CHECK_THAT(between.scattered, WithinRel(held / parts, 1e-12));
  // Of 16 ranks, `shard` of data parallelism hold one copy.
  CHECK(group_of(MessageKind::ep_gradients, job.layout, 4).ranks == parts);
  CHECK(group_of(MessageKind::ep_replicas, job.layout, 4).ranks == 16 / (tp * shard));
  const StepPrediction evaluated = evaluate(plan);
  const sim::SimulatedStep simulated = sim::simulate(plan, {});
  CHECK_THAT(simulated.prediction.step / evaluated.step, WithinRel(1.0, 1e-7));
  CHECK_THAT(simulated.prediction.dp_bytes / evaluated.dp_bytes, WithinRel(1.0, 1e-12));
  const Memory memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  const Others parameters = others_of(job);
  CHECK_THAT(memory.optimizer / 12_B, WithinRel(parameters.all / shard + held / parts, 1e-12));
}

// 14 bytes a parameter are divided by 16 for most, by the ranks that hold the same experts for
// these; what is gathered stands beside it in 2 bytes.
TEST_CASE("zero 3 divides the memory of experts among the ranks that hold the same ones") {
  const int ep = GENERATE(2, 16);
  const Experiment job = job_with(ep);
  const Memory memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  const Others parameters = others_of(job);
  const double experts = static_cast<double>(experts_of_model) / 16;  // ep x 16 / ep ranks
  CHECK_THAT(memory.optimizer / 12_B, WithinRel(parameters.all / 16 + experts, 1e-12));
  const double of_block = (parameters.all - parameters.root) / blocks +
                          (ep < 16 ? static_cast<double>(experts_of_model) / blocks / ep : 0.0);
  const double gathered = parameters.root + 2.0 * of_block;
  CHECK_THAT(memory.parameters / 2_B, WithinRel(parameters.all / 16 + experts + gathered, 1e-12));
}

TEST_CASE("the engines agree on sharded experts, and a mixture without ep is as before") {
  for (const auto& [ep, tp] : {std::pair{1, 1}, {2, 1}, {8, 1}, {16, 1}, {8, 2}}) {
    INFO("ep " << ep << ", tp " << tp);
    const Experiment job = job_with(ep, tp);
    const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
    const StepPrediction evaluated = evaluate(plan);
    const sim::SimulatedStep simulated = sim::simulate(plan, {});
    CHECK_THAT(simulated.prediction.step / evaluated.step, WithinRel(1.0, 1e-7));
    CHECK_THAT(simulated.prediction.dp_bytes / evaluated.dp_bytes, WithinRel(1.0, 1e-12));
    CHECK_THAT(evaluated.waterfall.total() / evaluated.step, WithinRel(1.0, 1e-12));
  }
  // Without ep experts are a part of their blocks, in the same messages.
  const Experiment job = job_with(1);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  CHECK(volumes_of(plan, MessageKind::ep_weights, MessageKind::ep_gradients).gathered == 0.0);
}

TEST_CASE("experts that one rank alone holds are in no bucket") {
  const int ep = GENERATE(4, 16);
  Experiment job = job_with(ep);
  job.software.bucket_copy_passes = 2;
  const Memory memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  const Others parameters = others_of(job);
  const double block = (parameters.all - parameters.root) / blocks +
                       (ep < 16 ? static_cast<double>(experts_of_model) / blocks / ep : 0.0);
  const double at_once = block + std::max(block, parameters.root);
  CHECK_THAT(memory.buckets / 2_B, WithinRel(at_once, 1e-12));
}
