// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "sim/incidence.hpp"
#include "sim/platform.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/problem_paths.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Ranks that divide the matrices of each expert (layout.etp).

namespace {

constexpr std::int64_t tokens = 2048;
constexpr std::int64_t hidden = 1024;
constexpr std::int64_t width = 2048;
constexpr int blocks = 6;
constexpr std::int64_t experts_of_model = std::int64_t{blocks} * 16 * 3 * width * hidden;

struct Degrees {
  int ep{1};
  int etp{1};
  int tp{1};
};

// 16 GPUs on nodes of four.
Experiment job_with(const Degrees& degrees) {
  Experiment job = test::small_job({.nic = 100_Gbps});
  TransformerShape shape = test::llama(blocks, hidden, 16, 16, 4096, 32000);
  shape.sequence = tokens;
  shape.experts = {.count = 16, .per_token = 2, .width = width};
  job.model = shape;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.micro_batch = 1;
  job.layout.tp = degrees.tp;
  job.layout.dp = 16 / degrees.tp;
  job.layout.sequence_parallel = degrees.tp > 1;
  job.layout.ep = degrees.ep;
  job.layout.etp = degrees.etp;
  return job;
}

StepPlan plan_of(const Experiment& job) {
  REQUIRE(check(job).empty());
  return PreparedExperiment(job).plan(job.plans[0]);
}

using Messages = std::vector<Message>;
using payoff::test::problems_of;

Messages tokens_of(const std::vector<Piece>& pieces) {
  Messages messages;
  for (const Piece& piece : pieces) {
    if (is_of_experts(piece.message.kind)) {
      messages.push_back(piece.message);
    }
  }
  return messages;
}

std::vector<Collective> collectives_of(const Messages& messages) {
  std::vector<Collective> collectives;
  for (const Message& message : messages) {
    collectives.push_back(message.collective);
  }
  return collectives;
}

std::vector<Collective> repeated(int times, const std::vector<Collective>& some) {
  std::vector<Collective> all;
  for (int i = 0; i < times; ++i) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Bytes reduced(const StepPlan& plan, MessageKind kind) {
  Bytes sum;
  for (const Bucket& bucket : plan.buckets(0)) {
    for (const BucketRound& round : plan.kind(bucket).rounds) {
      sum += round.message.kind == kind ? round.message.size : 0_B;
    }
  }
  return sum;
}

// Multiplications of all grouped products of a block.
double products_of_experts(const Experiment& job) {
  double sum = 0;
  const auto workload = workload_of(job);
  const Layer& block = workload->layers[1];
  for (std::size_t i = block.experts->before; i <= block.experts->after; ++i) {
    const Operator& op = block.forward[i];
    sum += op.kind == OperatorKind::gemm
               ? op.rows_per_sample * op.columns * op.depth * op.batch_per_sample
               : 0.0;
  }
  return sum;
}

std::vector<sim::Rank> ranks_of(sim::GroupKind kind, sim::Rank rank, const ParallelLayout& layout) {
  const sim::RankGroup group = sim::group_of(kind, rank, layout);
  std::vector<sim::Rank> ranks;
  for (sim::Rank i = 0; i < group.count; ++i) {
    ranks.push_back(group.first + i * group.stride);
  }
  return ranks;
}

}  // namespace

// Megatron-Core, MoEAlltoAllTokenDispatcher: all-to-all among the ranks that divide the experts,
// all-gather among those that divide each; reduce-scatter and all-to-all back. Gradients pass the
// same in the opposite order, a gather where forward has scattered.
TEST_CASE("tokens are gathered among the ranks that divide an expert, and sums scattered") {
  const int tp = GENERATE(1, 2);
  const StepPlan plan = plan_of(job_with({.ep = 4, .etp = 2, .tp = tp}));
  const StageCompute& compute = *plan.stages.front().compute;
  const Bytes own = 2.0 * tokens / tp * hidden * 2_B;
  for (const auto* pieces : {&compute.forward, &compute.backward}) {
    const Messages messages = tokens_of(*pieces);
    CHECK(collectives_of(messages) ==
          repeated(blocks, {Collective::all_to_all, Collective::all_gather,
                            Collective::reduce_scatter, Collective::all_to_all}));
    for (const Message& message : messages) {
      const bool between = message.kind == MessageKind::ep_activations;
      CHECK(between == (message.collective == Collective::all_to_all));
      CHECK_THAT(message.size / own, WithinRel(between ? 1.0 : 2.0, 1e-12));
    }
  }
}

// Singh et al. 2023, section 3: the ranks of a tensor group that have the same tokens, and divide
// the experts as they divide all else, add up outputs forward and gradients of inputs backward.
TEST_CASE("without sequence parallelism the ranks of a tensor group add up what experts give") {
  Experiment job = job_with({.ep = 2, .etp = 4, .tp = 4});
  job.layout.sequence_parallel = false;
  const StepPlan plan = plan_of(job);
  const StageCompute& compute = *plan.stages.front().compute;
  const Bytes all = 2.0 * tokens * hidden * 2_B;
  CHECK(collectives_of(tokens_of(compute.forward)) ==
        repeated(blocks, {Collective::all_to_all, Collective::all_reduce, Collective::all_to_all}));
  CHECK(collectives_of(tokens_of(compute.backward)) ==
        repeated(blocks, {Collective::all_to_all, Collective::all_reduce, Collective::all_to_all}));
  for (const Message& message : tokens_of(compute.forward)) {
    CHECK_THAT(message.size / all, WithinRel(1.0, 1e-12));
  }
}

TEST_CASE("experts divided by tensor parallelism alone send nothing to other experts") {
  const StepPlan plan = plan_of(job_with({.etp = 4, .tp = 4}));
  CHECK(collectives_of(tokens_of(plan.stages.front().compute->forward)) ==
        repeated(blocks, {Collective::all_gather, Collective::reduce_scatter}));
  // Their gradients are summed over the same ranks as all others, in the same buckets.
  CHECK(reduced(plan, MessageKind::ep_gradients) == 0_B);
  const auto all = static_cast<double>(plan.stages.front().compute->parameters);
  CHECK_THAT(reduced(plan, MessageKind::dp_gradients) / 2_B, WithinRel(all, 1e-12));
}

TEST_CASE("ranks compute and hold as much however experts are divided between as many") {
  const Experiment whole = job_with({.ep = 8});
  const Experiment divided = job_with({.ep = 2, .etp = 4});
  CHECK_THAT(products_of_experts(divided) / products_of_experts(whole), WithinRel(1.0, 1e-12));
  const StepPlan plan = plan_of(divided);
  const double held = static_cast<double>(experts_of_model) / 8;
  CHECK_THAT(static_cast<double>(plan.stages.front().compute->expert_parameters),
             WithinRel(held, 1e-12));
  CHECK_THAT(reduced(plan, MessageKind::ep_gradients) / 2_B, WithinRel(held, 1e-12));
  CHECK(payoff::group_of(MessageKind::ep_gradients, divided.layout, 4).ranks == 2);
}

// The inputs of an expert are gathered: kept for the gradients of its weights.
TEST_CASE("what is kept of experts is their gathered inputs, and the outputs of own tokens") {
  const auto kept = [](const Degrees& degrees) {
    const auto workload = workload_of(job_with(degrees));
    return workload->layers[1].activation_per_sample;
  };
  const Bytes own = 2.0 * tokens * hidden * 2_B;
  // Gate, value and their product: as many rows as ranks, as many times narrower.
  CHECK_THAT((kept({.ep = 2, .etp = 4}) - kept({.ep = 8})) / own, WithinRel(3.0, 1e-9));
}

// Groups of neighbours that divide an expert; of ranks 2 apart that hold all of them; of ranks 8
// apart that hold the same.
TEST_CASE("groups of experts are blocks of neighbours, the ranks that divide one innermost") {
  const ParallelLayout layout = job_with({.ep = 4, .etp = 2}).layout;
  using Ranks = std::vector<sim::Rank>;
  CHECK(ranks_of(sim::GroupKind::expert_tensor, 5, layout) == Ranks{4, 5});
  CHECK(ranks_of(sim::GroupKind::experts, 5, layout) == Ranks{1, 3, 5, 7});
  CHECK(ranks_of(sim::GroupKind::expert_gradients, 5, layout) == Ranks{5, 13});
  const Group tensor = expert_tensor_group(layout, 4);
  CHECK((tensor.ranks == 2 && tensor.ranks_per_node == 2 && tensor.rivals == 2));
  const Group experts = expert_group(layout, 4);
  CHECK((experts.ranks == 4 && experts.ranks_per_node == 2 && experts.rivals == 2));
  const Group same = expert_data_group(layout, 4);
  CHECK((same.ranks == 2 && same.ranks_per_node == 1 && same.rivals == 4));
}

TEST_CASE("the engines agree on divided experts, also on links that they share with gradients") {
  for (const Degrees& degrees : {Degrees{4, 2, 1}, Degrees{2, 4, 4}, Degrees{1, 2, 2}}) {
    for (const int zero : {0, 1, 3}) {
      INFO("ep " << degrees.ep << ", etp " << degrees.etp << ", zero " << zero);
      Experiment job = job_with(degrees);
      job.layout.zero = zero;
      const StepPlan plan = plan_of(job);
      const StepPrediction evaluated = evaluate(plan);
      const sim::SimulatedStep alone = sim::simulate(plan, {});
      CHECK_THAT(alone.prediction.step / evaluated.step, WithinRel(1.0, 1e-3));
      CHECK_THAT(alone.ep.bytes / evaluated.ep_bytes, WithinRel(1.0, 1e-12));
      CHECK_THAT(evaluated.waterfall.total() / evaluated.step, WithinRel(1.0, 1e-12));
      CHECK(evaluated.waterfall.exposed_ep > 0_s);
      const sim::SimulatedStep shared = sim::simulate(plan, {job.cluster, job.layout});
      CHECK(shared.prediction.step >= (1 - 1e-3) * evaluated.step);
    }
  }
}

TEST_CASE("experts that cannot be divided so are refused") {
  using Paths = std::vector<std::string>;
  CHECK(problems_of(job_with({.ep = 4, .etp = 2})) == Paths{});
  const Problems both = check(job_with({.etp = 3}));  // one field, one problem
  REQUIRE(both.size() == 1);
  CHECK(both[0].path == "layout.etp");
  CHECK(both[0].message.find("16 ranks of a stage") != std::string::npos);
  CHECK(both[0].message.find("columns of an expert") != std::string::npos);
  CHECK(problems_of(job_with({.ep = 16, .etp = 2})) == Paths{"layout.ep"});  // 32 ranks
  CHECK(problems_of(job_with({.etp = 0})) == Paths{"layout.etp"});
  Experiment dense = job_with({.etp = 2});
  dense.model = test::llama(blocks, hidden, 16, 16, 4096, 32000);
  CHECK(problems_of(dense) == Paths{"layout.etp"});
  Experiment other_tokens = job_with({.etp = 2, .tp = 4});
  other_tokens.layout.sequence_parallel = false;
  CHECK(problems_of(other_tokens) == Paths{"layout.sequence_parallel"});
}
