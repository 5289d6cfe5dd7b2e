// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "sim/step.hpp"
#include "sim/topology_platform.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

// One word embedding on two stages: Megatron-LM adds up the gradients of both
// (megatron/core/distributed/finalize_model_grads.py at NVIDIA/Megatron-LM@00c2c0a).

namespace {

constexpr std::int64_t hidden = 512;
constexpr std::int64_t vocabulary = 32001;  // odd: padded for two tensor-parallel ranks

// 16 GPUs in nodes of four.
Experiment job_with(int pp, int tp, bool tied = true) {
  Experiment job = test::small_job();
  TransformerShape shape = test::gpt(8, hidden, 8, 256, vocabulary);
  shape.tied_embeddings = tied;
  job.model = shape;
  job.layout.pp = pp;
  job.layout.tp = tp;
  job.layout.dp = 16 / (pp * tp);
  job.layout.micro_batches = 8;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.training.optimizer_bytes_per_parameter = 12_B;
  return job;
}

StepPlan plan_of(const Experiment& job) {
  REQUIRE(check(job).empty());
  return PreparedExperiment(job).plan(job.plans[0]);
}

StepPrediction predicted(const Experiment& job) {
  return PreparedExperiment(job).predict(job.plans[0]);
}

Bytes of_table(std::int64_t rows, Bytes element) {
  return static_cast<double>(rows * hidden) * element;
}

}  // namespace

TEST_CASE("the ends of a pipeline sum their part of the padded table, in the dtype of gradients") {
  Experiment job = job_with(4, 2);
  CHECK(plan_of(job).tied_gradients.size == of_table(16001, 2_B));
  CHECK(plan_of(job).tied_gradients.collective == Collective::all_reduce);
  CHECK(plan_of(job_with(4, 1)).tied_gradients.size == of_table(vocabulary, 2_B));
  job.training.gradient = Precision::fp32;
  CHECK(plan_of(job).tied_gradients.size == of_table(16001, 4_B));
  // The buffer, though each of the two data-parallel ranks has the sum of its half alone.
  job.layout.zero = 1;
  CHECK(plan_of(job).tied_gradients.size == of_table(16001, 4_B));
  // The buffer is divided too.
  job.layout.zero = 3;
  CHECK(plan_of(job).tied_gradients.size == of_table(16001, 4_B) / 2);
}

TEST_CASE("the message is counted with the gradients of the two stages that send it") {
  const StepPlan plan = plan_of(job_with(4, 1));
  CHECK(plan.sums_tied(0));
  CHECK_FALSE(plan.sums_tied(1));
  CHECK_FALSE(plan.sums_tied(2));
  CHECK(plan.sums_tied(3));
  const Bytes more = predicted(job_with(4, 1)).dp_bytes - predicted(job_with(4, 1, false)).dp_bytes;
  CHECK(more == of_table(vocabulary, 2_B));
}

TEST_CASE("interleaved, the first chunk and the last one are on different ranks") {
  Experiment job = job_with(4, 1);
  job.layout.virtual_stages = 2;
  CHECK(plan_of(job).tied_gradients.size == of_table(vocabulary, 2_B));
}

TEST_CASE("nothing is summed where nothing is tied, or both ends are one rank") {
  CHECK(plan_of(job_with(4, 1, false)).tied_gradients.alone == 0_s);
  CHECK(plan_of(job_with(1, 2)).tied_gradients.alone == 0_s);
  for (const PipelineSchedule schedule : {PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v}) {
    Experiment job = job_with(4, 1);
    job.layout.schedule = schedule;
    job.layout.virtual_stages = 2;
    CHECK(plan_of(job).tied_gradients.alone == 0_s);
    Experiment untied = job;
    std::get<TransformerShape>(untied.model).tied_embeddings = false;
    // Nor is anything copied: the first stage has one table more where nothing is tied.
    CHECK(plan_of(untied).stages[0].compute->parameters ==
          plan_of(job).stages[0].compute->parameters + vocabulary * hidden);
  }
  // A BERT without a head that predicts words.
  Experiment job = job_with(4, 1);
  job.model = test::bert_base();
  CHECK(plan_of(job).tied_gradients.alone == 0_s);
  std::get<TransformerShape>(job.model).masked_head = true;
  CHECK(plan_of(job).tied_gradients.size == 30522.0 * 768.0 * 2_B);
}

TEST_CASE("the last stage holds, sums and updates what it would untied; the model does not grow") {
  const Experiment tied = job_with(4, 1);
  const Experiment untied = job_with(4, 1, false);
  const StepPlan with = plan_of(tied);
  const StepPlan without = plan_of(untied);
  CHECK(with.stages[3].compute->parameters == without.stages[3].compute->parameters);
  CHECK(with.stages[3].optimizer == without.stages[3].optimizer);
  CHECK(with.buckets(3).size() == without.buckets(3).size());
  CHECK(predicted(tied).memory.total() == predicted(untied).memory.total());
  const auto& shape = std::get<TransformerShape>(tied.model);
  CHECK(workload_of(tied)->parameters() == parameter_count(shape));
  CHECK(workload_of(untied)->parameters() == parameter_count(shape) + vocabulary * hidden);
}

// 1F1B: the first stage has its gradients last, so nobody waits for the last one.
TEST_CASE("a tied pipeline takes the untied one's time and that of the sum, exposed") {
  const Experiment job = job_with(4, 1);
  const StepPrediction tied = predicted(job);
  const StepPrediction untied = predicted(job_with(4, 1, false));
  const Seconds sum = plan_of(job).tied_gradients.alone;
  CHECK_THAT((tied.step - untied.step) / sum, WithinRel(1.0, 1e-9));
  CHECK_THAT((tied.waterfall.exposed_dp - untied.waterfall.exposed_dp) / sum, WithinRel(1.0, 1e-9));
  CHECK_THAT((tied.dp_communication - untied.dp_communication) / sum, WithinRel(1.0, 1e-9));
  CHECK_THAT((tied.hidden_dp - untied.hidden_dp) / 1_s, WithinAbs(0.0, 1e-12));
  CHECK_THAT(tied.waterfall.total() / tied.step, WithinRel(1.0, 1e-9));
}

TEST_CASE("the sum is priced as any two ranks' at that distance") {
  const auto alone = [](const Experiment& job) {
    const Message message = plan_of(job).tied_gradients;
    const CollectiveModel law(job.cluster, ends_group(job.layout, job.cluster.gpus_per_node));
    CHECK(message.alone == law.price(Collective::all_reduce, message.size).time);
    return message.alone;
  };
  Experiment inside = job_with(2, 1);
  inside.cluster.nodes = 1;
  inside.layout.dp = 2;
  const Seconds in_node = alone(inside);
  CHECK(alone(job_with(2, 1)) > in_node);
  CHECK(alone(job_with(4, 1)) > in_node);
}

TEST_CASE("more bandwidth never makes a tied pipeline slower") {
  Seconds before = 1e9_s;
  for (const double gigabits : {1.0, 5.0, 10.0, 40.0, 100.0, 400.0}) {
    Experiment job = job_with(4, 1);
    job.cluster.nic = gigabits * 1_Gbps;
    const Seconds step = predicted(job).step;
    CHECK(step <= before);
    before = step;
  }
}

TEST_CASE("a changed job sums what one prepared so would") {
  const Experiment small = job_with(4, 1);
  Experiment fast = job_with(4, 2);
  fast.layout.tp = 1;
  fast.layout.dp = 4;
  fast.cluster.nic = 100_Gbps;
  PreparedExperiment prepared(small);
  prepared.change(numbers_of(fast));
  CHECK(prepared.plan(fast.plans[0]).tied_gradients == plan_of(fast).tied_gradients);
  Training wide = small.training;
  wide.gradient = Precision::fp32;
  const PreparedExperiment widened(prepared, wide, 4);
  Experiment fast_wide = fast;
  fast_wide.training = wide;
  CHECK(widened.plan(fast.plans[0]).tied_gradients == plan_of(fast_wide).tied_gradients);
}

TEST_CASE("the simulator sends the sum over the links of both ends, and ends with the prediction") {
  for (const int chunks : {1, 2}) {
    Experiment job = job_with(4, 1);
    job.layout.virtual_stages = chunks;
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans[0]);
    const sim::Platform platform(job.cluster, job.layout);
    const sim::Route route = platform.route(plan.tied_gradients, 4, sim::Direction::inside);
    // A ring of two passes all of it once each way, of the four pairs that have a rank in a node.
    Bytes through_nics;
    int nics = 0;
    for (const sim::LinkLoad& load : route.loads) {
      const bool nic = platform.links()[load.link].name.starts_with("NICs");
      nics += nic ? 1 : 0;
      through_nics += nic ? load.bytes : 0_B;
    }
    CHECK(nics == 4);
    CHECK_THAT(through_nics / (16.0 * plan.tied_gradients.size), WithinRel(1.0, 1e-6));
    const StepPrediction predicted = prepared.predict(plan);
    const sim::SimulatedStep alone = sim::simulate(plan, {});
    CHECK_THAT(alone.prediction.step / predicted.step, WithinRel(1.0, 1e-3));
    CHECK(alone.prediction.dp_bytes == predicted.dp_bytes);
    // Stages reduce their gradients at once, over the same NICs.
    const sim::SimulatedStep shared = sim::simulate(plan, platform);
    CHECK(shared.prediction.step >= alone.prediction.step);
    CHECK(sim::estimate(plan, platform).events == shared.events);
  }
}

TEST_CASE("folded or not, rank by rank, the ends of a pipeline meet at one date") {
  Experiment job = job_with(4, 2);
  const StepPlan plan = plan_of(job);
  ClusterState state;
  state.slow_gpus = {{"", 15, 1.3}};  // on the last stage
  const auto run = [&](bool folds) {
    const sim::BuiltPlatform built =
        sim::build_platform(job.cluster, state, plan, {.folds = folds, .reduces = false});
    REQUIRE(built.problems.empty());
    CHECK(sim::estimate(plan, built.platform).events == sim::simulate(plan, built.platform).events);
    return sim::simulate(plan, built.platform).prediction.step;
  };
  CHECK(run(true) == run(false));
  CHECK(run(true) > predicted(job).step);
}
