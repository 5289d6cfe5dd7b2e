// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Weights sharded over the data-parallel ranks of every stage of a pipeline (zero 3, pp > 1), let
// go after use or kept through the step (layout.reshard).

namespace {

constexpr int micro_batches = 8;

// 16 GPUs on nodes of four, stages of four ranks or fewer.
Experiment job_with(PipelineSchedule schedule, bool reshard, int chunks = 1, int pp = 4) {
  Experiment job = test::small_job();
  job.model = test::gpt(8, 512, 8, 256, 32000);
  job.layout.pp = pp;
  job.layout.dp = 16 / pp;
  job.layout.schedule = schedule;
  job.layout.virtual_stages = chunks;
  job.layout.micro_batches = micro_batches;
  job.layout.zero = 3;
  job.layout.reshard = reshard;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  job.training.optimizer_bytes_per_parameter = 12_B;
  return job;
}

// What one rank of a stage gathers and scatters in a step, over what it computes with.
double passes(const Experiment& job, std::size_t stage) {
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const double gatherings = plan.gathers_once ? 1.0 : micro_batches;
  const double reductions = plan.reduces_every_micro_batch ? micro_batches : 1.0;
  double elements = 0;
  for (const auto* gathers :
       {&plan.stages[stage].forward_gathers, &plan.stages[stage].backward_gathers}) {
    for (const WeightGather& gather : *gathers) {
      elements += gatherings * static_cast<double>(plan.kinds[gather.kind].elements);
    }
  }
  for (const Bucket& bucket : plan.buckets(stage)) {
    elements += reductions * static_cast<double>(plan.kind(bucket).elements);
  }
  return elements / static_cast<double>(plan.stages[stage].compute->parameters);
}

}  // namespace

// Rajbhandari et al. 2020, section 7.2.2: three times the parameters a pass. In a pipeline nothing
// outlives an operation, so that every stage moves that in every micro-batch.
TEST_CASE("a stage that reshards moves three times its parameters in every micro-batch") {
  const auto schedule = GENERATE(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,
                                 PipelineSchedule::zb_h1, PipelineSchedule::zb_v);
  const int chunks = is_v_shaped(schedule) ? 2 : 1;
  const Experiment job = job_with(schedule, true, chunks);
  REQUIRE(check(job).empty());
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CHECK_THAT(passes(job, stage), WithinRel(3.0 * micro_batches, 1e-12));
  }
}

// torch.distributed.pipelining: no reshard and no reduction before the last backward.
TEST_CASE("a stage that keeps its weights moves twice its parameters in a step") {
  const Experiment job = job_with(PipelineSchedule::one_f_one_b, false, 2);
  REQUIRE(check(job).empty());
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CHECK_THAT(passes(job, stage), WithinRel(2.0, 1e-12));
  }
}

TEST_CASE("without a pipeline weights are kept from forward to backward of a micro-batch") {
  const Experiment job = job_with(PipelineSchedule::one_f_one_b, false, 1, 1);
  REQUIRE(check(job).empty());
  CHECK_THAT(passes(job, 0), WithinRel(2.0 * micro_batches, 1e-12));
}

TEST_CASE("messages of a sharded pipeline are what the prediction counts") {
  const bool reshard = GENERATE(true, false);
  const Experiment job = job_with(PipelineSchedule::one_f_one_b, reshard);
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans[0]);
  std::vector<double> of_stages;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const double tied = plan.sums_tied(s) ? plan.tied_gradients.size / 2_B : 0;
    of_stages.push_back(passes(job, s) * static_cast<double>(plan.stages[s].compute->parameters) +
                        tied);
  }
  const double counted = prepared.predict(plan).dp_bytes / 2_B;
  CHECK(std::any_of(of_stages.begin(), of_stages.end(),
                    [&](double elements) { return std::abs(counted / elements - 1) < 1e-12; }));
}

TEST_CASE("the engines agree on sharded pipelines of every schedule") {
  const auto schedule =
      GENERATE(PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe, PipelineSchedule::zb_h1,
               PipelineSchedule::zb_h2, PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v);
  const bool reshard = GENERATE(true, false);
  const bool overlap = GENERATE(true, false);
  for (const int chunks : {1, 2}) {
    Experiment job = job_with(schedule, reshard, chunks);
    job.training.overlap = overlap;
    if (!check(job).empty()) {
      continue;  // chunks that the schedule does not have
    }
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans[0]);
    const StepPrediction evaluated = prepared.predict(plan);
    const sim::SimulatedStep simulated = sim::simulate(plan, {});
    CHECK_THAT(simulated.prediction.step / evaluated.step, WithinRel(1.0, 1e-3));
    CHECK_THAT(evaluated.waterfall.total() / evaluated.step, WithinRel(1.0, 1e-12));
  }
}

// Where neither gathers nor scatters take time a sharded pipeline is a pipeline.
TEST_CASE("on links of no latency and endless bandwidth sharding costs a pipeline nothing") {
  for (const bool reshard : {true, false}) {
    const Experiment job = job_with(PipelineSchedule::one_f_one_b, reshard, 2);
    const PreparedExperiment prepared(job);
    StepPlan plan = prepared.plan(job.plans[0]);
    for (BucketKind& kind : plan.kinds) {
      for (BucketRound& round : kind.rounds) {
        round.message.alone = {};
      }
    }
    plan.reserved_share = 0;
    StepPlan whole = plan;
    for (StagePlan& stage : whole.stages) {
      stage.forward_gathers.clear();
      stage.backward_gathers.clear();
      stage.buckets.clear();
    }
    CHECK_THAT(evaluate(plan).step / evaluate(whole).step, WithinRel(1.0, 1e-9));
  }
}

// 14 bytes a parameter over the ranks of a stage, and 2 for what is whole: two units, or all.
TEST_CASE("kept weights and gradients stand whole beside the rank's part of the states") {
  const auto memory_of = [](bool reshard) {
    const Experiment job = job_with(PipelineSchedule::one_f_one_b, reshard);
    return PreparedExperiment(job).predict(job.plans[0]).memory;
  };
  const Experiment job = job_with(PipelineSchedule::one_f_one_b, false);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  // The first stage, with embedding and most activations, is the fullest.
  const auto parameters = static_cast<double>(plan.stages[0].compute->parameters);
  const Memory kept = memory_of(false);
  CHECK_THAT(kept.parameters / 2_B, WithinRel(1.25 * parameters, 1e-12));
  CHECK_THAT(kept.gradients / 2_B, WithinRel(parameters, 1e-12));
  const Memory let_go = memory_of(true);
  const auto workload = workload_of(job);
  double units = 0;  // the embedding and the block after it
  for (const std::size_t layer : {std::size_t{0}, std::size_t{1}}) {
    for (const ParameterTensor& tensor : workload->layers[layer].parameters) {
      units += static_cast<double>(tensor.elements());
    }
  }
  CHECK_THAT(let_go.parameters / 2_B, WithinRel(0.25 * parameters + units, 1e-12));
  CHECK_THAT(let_go.gradients / 2_B, WithinRel(0.25 * parameters + units, 1e-12));
  CHECK_THAT(let_go.optimizer / kept.optimizer, WithinRel(1.0, 1e-12));
}
