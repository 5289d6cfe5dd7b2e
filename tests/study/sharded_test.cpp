// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/weight_plan.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Weights sharded over the data-parallel ranks (zero 3, FSDP), all of them or groups (HSDP).

namespace {

Experiment sharded(Experiment job, int shard = 0) {
  job.layout.zero = 3;
  job.layout.shard = shard;
  return job;
}

Experiment gpt_job() {
  Experiment job = test::small_job();
  job.model = test::gpt(12, 1024, 16, 512, 32000);
  job.layout.micro_batch = 2;
  return sharded(std::move(job));
}

std::int64_t gathered(const StepPlan& plan, const std::vector<WeightGather>& gathers) {
  std::int64_t sum = 0;
  for (const WeightGather& gather : gathers) {
    sum += plan.kinds[gather.kind].elements;
  }
  return sum;
}

Bytes sent(const StepPlan& plan, MessageKind kind) {
  Bytes sum;
  for (const Bucket& bucket : plan.buckets(0)) {
    for (const BucketRound& round : plan.kind(bucket).rounds) {
      sum += round.message.kind == kind ? round.message.size : Bytes{};
    }
  }
  return sum;
}

}  // namespace

// Rajbhandari et al. 2020, section 7.2.2: an all-gather before forward, another before backward and
// a reduce-scatter of the gradients: 3 times the parameters, where an all-reduce moves 2 times.
TEST_CASE(
    "a step with sharded weights gathers every weight twice and scatters every gradient once") {
  Experiment job = sharded(test::small_job());
  job.training.bucket = 1_MiB;  // a unit a layer
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  const StagePlan& stage = plan.stages[0];
  const std::int64_t parameters = 12 * (std::int64_t{2048} * 2048 + 2048);
  CHECK(gathered(plan, stage.forward_gathers) == parameters);
  CHECK(gathered(plan, stage.backward_gathers) == parameters);
  CHECK(sent(plan, MessageKind::dp_gradients) == static_cast<double>(parameters) * 4_B);
  CHECK(sent(plan, MessageKind::dp_replicas) == 0_B);
  CHECK(stage.forward_gathers.size() == 12);
  CHECK(stage.gather_weights.size == 0_B);
}

// torch.distributed.fsdp keeps the root (what no block holds) from forward to backward.
TEST_CASE("the root of a transformer is gathered once, its blocks twice") {
  const Experiment job = gpt_job();
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  const StagePlan& stage = plan.stages[0];
  std::int64_t blocks = 0;
  for (const Layer& layer : prepared.workload().layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      blocks += layer.recomputable ? tensor.elements() : 0;
    }
  }
  CHECK(gathered(plan, stage.forward_gathers) == prepared.workload().parameters());
  CHECK(gathered(plan, stage.backward_gathers) == blocks);
  CHECK(stage.backward_gathers.size() == 12);
  CHECK(plan.buckets(0).size() == 13);
  CHECK(plan.buckets(0).back().ready_after + 1 == static_cast<int>(stage.compute->backward.size()));
}

TEST_CASE("weights are gathered in the order in which they are needed") {
  Experiment job = gpt_job();
  job.layout.recompute = GENERATE(Recompute::none, Recompute::full);
  const StagePlan stage = PreparedExperiment(job).plan(job.plans[0]).stages[0];
  const auto earlier = [](const WeightGather& a, const WeightGather& b) {
    return a.needed_by < b.needed_by;
  };
  for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
    CHECK(std::is_sorted(gathers->begin(), gathers->end(), earlier));
  }
  // Recomputation needs the weights before backward does.
  const std::size_t first = stage.backward_gathers.front().needed_by;
  CHECK(stage.compute->backward[first].work.kind ==
        (job.layout.recompute == Recompute::full ? WorkKind::recompute : WorkKind::backward));
}

TEST_CASE("a table of layers is cut into units of a bucket's size") {
  Experiment job = sharded(test::small_job());
  job.training.bucket = 40_MB;  // 16.8 MB a layer: three of them reach it
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  CHECK(plan.stages[0].forward_gathers.size() == 4);
  CHECK(plan.buckets(0).size() == 4);
}

// Zhao et al. 2023 (PyTorch FSDP), section 3.2.2: hybrid sharding scatters inside the group, then
// all-reduces the parts between groups.
TEST_CASE("copies of the model add up the part of the gradient that each rank keeps") {
  const Experiment job = sharded(test::small_job(), 4);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const Bytes gradients = 12.0 * (2048 * 2048 + 2048) * 4_B;
  CHECK(sent(plan, MessageKind::dp_gradients) == gradients);
  CHECK(sent(plan, MessageKind::dp_replicas) == gradients / 4.0);
}

TEST_CASE("sharding inside a node leaves only the parts to the network") {
  // 4 ranks a node on a fabric of 150 GB/s, 10 Gb/s between nodes.
  const Experiment inside = sharded(test::small_job(), 4);
  const Experiment across = sharded(test::small_job());
  CHECK(PreparedExperiment(inside).predict(inside.plans[0]).step <
        PreparedExperiment(across).predict(across.plans[0]).step);
}

TEST_CASE("a shard of the whole data-parallel group is no hybrid") {
  const Experiment all = sharded(test::small_job());
  const Experiment named = sharded(test::small_job(), 16);
  CHECK(PreparedExperiment(all).predict(all.plans[0]).step ==
        PreparedExperiment(named).predict(named.plans[0]).step);
}

TEST_CASE("the optimizer updates what the rank keeps") {
  const Experiment whole = test::small_job();
  const Experiment part = sharded(test::small_job(), 4);
  const Seconds one = PreparedExperiment(whole).plan(whole.plans[0]).stages[0].optimizer.alone;
  const Seconds quarter = PreparedExperiment(part).plan(part.plans[0]).stages[0].optimizer.alone;
  const Seconds launch = whole.cluster.gpu.law.launch;
  CHECK_THAT((quarter - launch) / (one - launch), WithinRel(0.25, 0.01));
}

TEST_CASE("a GPU holds its part of all weights, and whole only those in use and fetched ahead") {
  Experiment job = sharded(test::small_job());
  job.training.bucket = 1_MiB;
  const Memory memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  const double layer = 2048 * 2048 + 2048;
  CHECK_THAT(memory.parameters / 4_B, WithinRel(12 * layer / 16 + 2 * layer, 1e-12));
  CHECK_THAT(memory.optimizer / 4_B, WithinRel(12 * layer / 16, 1e-12));
}

// A block of hidden 1,024: query-key-value 3.1, attention output 1.0, MLP 4.2 and 4.2 M parameters.
TEST_CASE("messages of a unit carry matrices up to the bucket of the software") {
  Experiment job = gpt_job();
  const auto plan_with = [&](std::int64_t bucket) {
    job.software.gather_bucket = bucket;
    job.software.scatter_bucket = bucket;
    return PreparedExperiment(job).plan(job.plans[0]);
  };
  const auto messages = [](const StepPlan& plan) {
    return plan.kinds[plan.stages[0].backward_gathers.front().kind].rounds.size();
  };
  const StepPlan whole = plan_with(0);
  CHECK(messages(whole) == 1);
  CHECK(messages(plan_with(1)) == 4);          // each matrix fills it
  CHECK(messages(plan_with(4'000'000)) == 3);  // 3.1 + 1.0, 4.2, 4.2
  CHECK(messages(plan_with(5'000'000)) == 2);  // 3.1 + 1.0 + 4.2, 4.2
  CHECK(messages(plan_with(50'000'000)) == 1);
  // Backward meets the MLP first: 4.2, 4.2, then 1.0 + 3.1 where that does not exceed the bucket.
  const auto scatters = [&](std::int64_t bucket) {
    const std::vector<Bucket> buckets = plan_with(bucket).buckets(0);
    return std::count_if(buckets.begin(), buckets.end(), [&](const Bucket& bucket_of) {
      return bucket_of.ready_after == buckets.front().ready_after;
    });
  };
  CHECK(scatters(0) == 1);
  CHECK(scatters(4'000'000) == 4);
  CHECK(scatters(5'000'000) == 3);
  for (const std::int64_t bucket : {1, 4'000'000, 5'000'000}) {
    const StepPlan plan = plan_with(bucket);
    CHECK(evaluate(plan).dp_bytes == evaluate(whole).dp_bytes);
  }
}

TEST_CASE("layouts that cannot be sharded are refused, all at once") {
  Experiment job = sharded(test::small_job(), 3);
  job.layout.pp = 2;
  job.layout.dp = 8;
  const Problems problems = check_layout(job.layout, job.cluster, 12);
  const auto names = [&](const char* path) {
    return std::any_of(problems.begin(), problems.end(),
                       [&](const Problem& problem) { return problem.path == path; });
  };
  CHECK_FALSE(names("layout.zero"));  // zero 3 in a pipeline
  CHECK(names("layout.shard"));       // 3 does not divide 8
  job.layout = {.dp = 16, .zero = 0, .shard = 4, .reshard = false};
  const Problems without = check_layout(job.layout, job.cluster, 12);
  REQUIRE(without.size() == 2);
  CHECK(without[0].path == "layout.reshard");
  CHECK(without[1].path == "layout.shard");
}

// NVIDIA/apex pull request 1723: parameters of fp8 products gathered as bytes; else 16 bits of
// them.
TEST_CASE("weights of fp8 products are gathered in 16 bits, or in fp8 where they are kept so") {
  const int zero = GENERATE(1, 3);
  Experiment job = gpt_job();
  job.layout.zero = zero;
  const auto gathered_bytes = [&](Precision precision, bool in_fp8) {
    job.training.precision = precision;
    job.software.fp8_weights = in_fp8;
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans[0]);
    Bytes sum = plan.stages[0].gather_weights.size;
    for (const WeightGather& gather : plan.stages[0].forward_gathers) {
      for (const BucketRound& round : plan.kinds[gather.kind].rounds) {
        sum += round.message.size;
      }
    }
    return sum;
  };
  const Bytes sixteen_bit = gathered_bytes(Precision::fp16, false);
  CHECK(gathered_bytes(Precision::fp16, true) == sixteen_bit);
  CHECK(gathered_bytes(Precision::fp8, false) == sixteen_bit);
  CHECK(2 * gathered_bytes(Precision::fp8, true) == sixteen_bit);
}

// A message on its way and the next one: of two blocks, or of a block and the root, which comes
// last.
TEST_CASE("buckets of sharded gradients hold two units, not all of them") {
  const int shard = GENERATE(0, 1, 4);  // groups of one reduce by unit too
  Experiment job = gpt_job();
  job.layout.shard = shard;
  job.software.bucket_copy_passes = 2;
  double root = 0;
  double block = 0;
  const auto workload = workload_of(job);
  for (const Layer& layer : workload->layers) {
    for (const ParameterTensor& tensor : layer.parameters) {
      const auto elements = static_cast<double>(tensor.elements());
      root += layer.recomputable ? 0.0 : elements;
      block += layer.recomputable ? elements / 12 : 0.0;
    }
  }
  const Memory memory = PreparedExperiment(job).predict(job.plans[0]).memory;
  const Bytes expected = (block + std::max(root, block)) * element_size(job.training.gradient);
  CHECK_THAT(memory.buckets / expected, WithinRel(1.0, 1e-12));
}

TEST_CASE("of a step with sharded weights, messages are waited for or hidden") {
  const Bandwidth network = GENERATE(1_Gbps, 25_Gbps, 400_Gbps);
  Experiment job = gpt_job();
  job.cluster.nic = network;
  const StepPrediction step = PreparedExperiment(job).predict(job.plans[0]);
  REQUIRE(step.waterfall.exposed_dp > 0_s);
  CHECK_THAT((step.waterfall.exposed_dp + step.hidden_dp) / step.dp_communication,
             WithinRel(1.0, 1e-9));
}

// With groups of one rank (`shard` 1) every rank holds all of it, as without zero.
TEST_CASE("groups of one rank shard nothing: what they send and hold is that of zero 0") {
  const int zero = GENERATE(1, 2, 3);
  const int micro_batches = GENERATE(1, 3);
  const bool reshard = GENERATE(true, false);
  if (zero < 3 && !reshard) {
    return;
  }
  Experiment job = gpt_job();
  job.layout.micro_batches = micro_batches;
  job.layout.zero = 0;
  const StepPrediction whole = PreparedExperiment(job).predict(job.plans[0]);
  job.layout.zero = zero;
  job.layout.shard = 1;
  job.layout.reshard = reshard;
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  const StepPrediction prediction = prepared.predict(plan);
  CHECK_THAT(prediction.dp_bytes / whole.dp_bytes, WithinRel(1.0, 1e-12));
  CHECK_THAT(prediction.memory.parameters / whole.memory.parameters, WithinRel(1.0, 1e-12));
  CHECK_THAT(prediction.memory.gradients / whole.memory.gradients, WithinRel(1.0, 1e-12));
  CHECK_THAT(prediction.memory.optimizer / whole.memory.optimizer, WithinRel(1.0, 1e-12));
  CHECK_THAT(sim::simulate(plan, {}).prediction.step / prediction.step, WithinRel(1.0, 1e-7));
}

TEST_CASE("sizes of groups that are refused have neighbours that are not") {
  const auto answer = [](ParallelLayout layout, int nodes, int gpus = 8) {
    Cluster cluster;
    cluster.gpus_per_node = gpus;
    cluster.nodes = nodes;
    layout.zero = 3;
    const Problems problems = check_layout(layout, cluster, 12);
    return problems.size() == 1 && problems[0].path == "layout.shard" ? problems[0].help : "";
  };
  CHECK(answer({.dp = 16, .shard = 3}, 2) == "choose 2 or 4");
  CHECK(answer({.dp = 16, .shard = 99}, 2) == "choose 8 or 16");
  CHECK(answer({.dp = 24, .shard = 12}, 3) ==
        "choose 8 or 24");  // 12 ranks are one node and a half
  CHECK(answer({.dp = 16, .ep = 8, .shard = 2}, 2) == "choose 8");
  CHECK(answer({.dp = 16, .ep = 8, .shard = 3}, 2) == "choose 8");
  CHECK(answer({.dp = 8, .tp = 2, .ep = 8, .shard = 3, .sequence_parallel = true}, 2) ==
        "choose 4");
}

TEST_CASE("what follows from other ranks that are refused waits for them") {
  const auto refused = [](ParallelLayout layout) {
    Cluster cluster;
    cluster.gpus_per_node = 8;
    cluster.nodes = 2;
    layout.zero = 3;
    std::vector<std::string> paths;
    for (const Problem& problem : check_layout(layout, cluster, 12)) {
      paths.push_back(problem.path);
    }
    return paths;
  };
  using Paths = std::vector<std::string>;
  CHECK(refused({.dp = 4, .shard = 3}) == Paths{"layout.dp"});
  // No group of the 8 ranks of a stage holds what 16 divide.
  CHECK(refused({.dp = 8, .pp = 2, .ep = 8, .etp = 2, .shard = 4}) == Paths{"layout.ep"});
}
