// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "model/experiment.hpp"
#include "model/groups.hpp"
#include "model/layer_division.hpp"
#include "model/layout.hpp"
#include "model/memory.hpp"
#include "model/paired_pieces.hpp"
#include "model/pipeline.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// DualPipe: two copies of the weights, micro-batches from both ends, a forward and a backward as
// one (DeepSeek-V3, arXiv:2412.19437, section 3.2.1; github.com/deepseek-ai/DualPipe).

namespace {

// One piece after the other, each `work` and then a message of its half of the pair.
struct PairShape {
  int pieces{1};      // of a forward, and of the gradients of inputs
  Seconds work{};     // of each of them
  Seconds message{};  // after each of them
  Seconds weights{};  // gradients of weights
  double held{};      // of the units, by a message in flight
  double memory{};    // that work asks for, and messages
};

void add_pieces(const PairShape& shape, WorkKind kind, std::vector<Piece>& pieces) {
  for (int i = 0; i < shape.pieces; ++i) {
    Message message{MessageKind::ep_activations, Collective::all_to_all, 1_MB, shape.message};
    message.memory_share = shape.memory;
    pieces.push_back({{kind, shape.work, {}, shape.memory}, message});
  }
}

// Stages of two equal chunks.
StepPlan plan_of(const PairShape& shape, PipelineSchedule schedule, int pp, int micro_batches) {
  auto compute = std::make_shared<StageCompute>();
  for (int chunk = 0; chunk < 2; ++chunk) {
    compute->forward_chunks.push_back(compute->forward.size());
    add_pieces(shape, WorkKind::forward, compute->forward);
  }
  for (int chunk = 0; chunk < 2; ++chunk) {
    compute->backward_chunks.push_back(compute->backward.size());
    add_pieces(shape, WorkKind::backward, compute->backward);
  }
  for (int chunk = 0; chunk < 2; ++chunk) {
    compute->backward_chunks.push_back(compute->backward.size());
    compute->backward.push_back({{WorkKind::backward, shape.weights}, {}});
  }
  compute->forward_work = 2 * shape.pieces * shape.work;
  compute->backward_work = 2 * (shape.pieces * shape.work + shape.weights);
  compute->forward_messages = compute->backward_messages = 2 * shape.pieces * shape.message;
  compute->expert_messages = 2 * compute->forward_messages;
  StepPlan plan;
  plan.layout.schedule = schedule;
  plan.layout.virtual_stages = 2;
  plan.layout.pair_overlap = true;
  plan.layout.pp = pp;
  plan.layout.micro_batches = micro_batches;
  plan.exchange_share = shape.held;
  for (int s = 0; s < plan.layout.stages(); ++s) {
    StagePlan stage;
    stage.compute = compute;
    plan.stages.push_back(stage);
  }
  return plan;
}

PairSpan pair_of(const PairShape& shape) {
  const StepPlan plan = plan_of(shape, PipelineSchedule::dualpipe, 4, 8);
  return PairTimes(plan).run(0, 0, 0.0);
}

bool names(const Problems& problems, const std::string& path) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    return problem.path == path && !problem.help.empty();
  });
}

// 32 GPUs; with two copies of the weights half of dp, or twice the stages.
Experiment job_with(PipelineSchedule schedule, int pp, int dp) {
  Experiment job = test::small_job({.nodes = 8, .nic = 400_Gbps});
  TransformerShape shape = test::llama(16, 1024, 16, 16, 4096, 32000);
  shape.experts = {.count = 16, .per_token = 2, .width = 2048};
  job.model = shape;
  job.training.precision = job.training.gradient = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.pp = pp;
  job.layout.dp = dp;
  job.layout.ep = 4;
  job.layout.schedule = schedule;
  job.layout.virtual_stages = is_v_shaped(schedule) ? 2 : 1;
  job.layout.micro_batch = 1;
  job.layout.micro_batches = 32;
  return job;
}

}  // namespace

// B0 F0 B1 F1 W, one message at a time.
TEST_CASE("messages of either half of a pair hide behind the work of the other") {
  const PairSpan short_ones =
      pair_of({.pieces = 2, .work = 1_ms, .message = 1_ms, .weights = 1_ms});
  CHECK_THAT(short_ones.time, WithinRel(5e-3, 1e-12));  // all of the work
  CHECK_THAT(short_ones.effect.hidden_ep, WithinRel(4e-3, 1e-12));
  CHECK(short_ones.effect.slowed == 0.0);
  // B0 to 1, its message to 4; F0 to 2, its message to 7; B1 from 4, message from 7; F1 from 7,
  // message from 10 to 13, beside it the gradients of weights.
  const PairSpan long_ones = pair_of({.pieces = 2, .work = 1_ms, .message = 3_ms, .weights = 1_ms});
  CHECK_THAT(long_ones.time, WithinRel(13e-3, 1e-12));
  CHECK_THAT(long_ones.effect.hidden_ep, WithinRel(4e-3, 1e-12));
}

TEST_CASE("a message in flight holds compute units of the other half of a pair") {
  // B0 to 1; its message to 2; F0 beside it: 0.75 of it by 2, and with the message of nobody to
  // 2.25; then its own beside the gradients of weights, which then take 1/4 ms more at full rate.
  const PairSpan held =
      pair_of({.pieces = 1, .work = 1_ms, .message = 1_ms, .weights = 1_ms, .held = 0.25});
  CHECK_THAT(held.time, WithinRel(3.5e-3, 1e-12));
  CHECK_THAT(held.effect.slowed, WithinRel(0.5e-3, 1e-12));
  CHECK_THAT(held.effect.hidden_ep, WithinRel(2e-3, 1e-12));
}

TEST_CASE("work and message of a pair share the memory") {
  // The work beside a message runs at 0.75, within the 0.75 that its units weigh; the message has
  // the rest of what it asks for, a quarter of the memory.
  const PairSpan shared = pair_of(
      {.pieces = 1, .work = 4_ms, .message = 1_ms, .weights = 4_ms, .held = 0.25, .memory = 1.0});
  // F0 beside 4 ms of message: 3 of 4 ms done, 1 left. Then the weights, which ask for nothing,
  // beside a message that has the whole memory.
  CHECK_THAT(shared.time, WithinRel(4e-3 + 4e-3 + 1e-3 + 1e-3 + 3.25e-3, 1e-12));
}

// Table 2 of DeepSeek-V3: (PP/2 - 1)(F&B + B - 3 W), with F and B of a chunk and W of its backward.
// Of chunks with F = W and B = 2 W, messages that nothing hides included, as in figure 5 there.
TEST_CASE("DualPipe on PP GPUs is idle for (PP/2 - 1)(F&B + B - 3 W)") {
  const int pp = GENERATE(4, 8, 16);
  const double message =
      GENERATE(0.0, 0.125, 0.25, 0.5);  // of a forward, or of gradients of inputs
  constexpr double unit = 1e-3;
  const PairShape shape{
      .pieces = 1, .work = {(1 - message) * unit}, .message = {message * unit}, .weights = {unit}};
  const StepPlan plan = plan_of(shape, PipelineSchedule::dualpipe, pp, 3 * pp);
  const double pair = PairTimes(plan).run(0, 0, 0.0).time;
  CHECK_THAT(pair, WithinRel((3 - 2 * message) * unit, 1e-12));
  const StageCompute& compute = *plan.stages.front().compute;
  const Seconds alone = plan.layout.passes() * (compute.forward_time() + compute.backward_time());
  Seconds last;
  double least_work = 1e9;
  for (const StageEnd& end : pipeline_ends(plan)) {
    last = std::max(last, end.end);
    least_work = std::min(least_work, alone.si - end.pairs.hidden());
  }
  const double longest = last.si - least_work;
  CHECK_THAT(longest, WithinRel((pp / 2 - 1) * (pair + 2 * unit - 3 * unit), 1e-9));
}

TEST_CASE("a long DualPipe takes and hides what running every micro-batch of it does") {
  const double message = GENERATE(0.25, 1.5);
  const PairShape shape{
      .pieces = 2, .work = 1_ms, .message = {message * 1e-3}, .weights = 1_ms, .held = 0.1};
  const StepPlan plan = plan_of(shape, PipelineSchedule::dualpipe, 8, 2);
  ChunkDurations chunk{
      .forward = {2e-3 * (1 + message)}, .backward = {2e-3 * (1 + message)}, .weights = 1_ms};
  std::vector<StageDurations> stages(4);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages[s].chunks.assign(2, chunk);
    stages[s].send_forward = stages[s].send_backward = Seconds{0.4e-3 * static_cast<double>(s)};
  }
  constexpr int many = 1000;
  PairTimes pairs(plan);
  const auto expected =
      run_every_micro_batch(stages, many, PipelineSchedule::dualpipe, nullptr, &pairs);
  const auto spans = run_pipeline(stages, many, PipelineSchedule::dualpipe, &pairs);
  REQUIRE(usual_micro_batches(PipelineSchedule::dualpipe, 4, 2, many) < many / 10);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    CHECK_THAT(spans[s].end.si, WithinRel(expected[s].end.si, 1e-11));
    CHECK_THAT(spans[s].pairs.hidden(), WithinRel(expected[s].pairs.hidden(), 1e-9));
    CHECK_THAT(spans[s].pairs.slowed, WithinRel(expected[s].pairs.slowed, 1e-9));
    CHECK(expected[s].pairs.slowed > 0);
  }
}

TEST_CASE("without overlap DualPipe is the schedule in a V on half of the GPUs") {
  const PairShape shape{.pieces = 2, .work = 1_ms, .message = 0.3_ms, .weights = 1_ms};
  const auto end_of = [&](PipelineSchedule schedule, int pp, int micro_batches) {
    StepPlan plan = plan_of(shape, schedule, pp, micro_batches);
    plan.layout.pair_overlap = false;
    return pipeline_ends(plan).front().end;
  };
  CHECK(end_of(PipelineSchedule::dualpipe, 8, 24) == end_of(PipelineSchedule::dualpipe_v, 4, 12));
}

// From end to end the chunks of a micro-batch are PP GPUs, of which both copies of a stage are two.
TEST_CASE("in the middle of DualPipe a micro-batch goes on at the other copy of its stage") {
  constexpr int stages = 4;
  const auto to = [](bool forward, int chunk, int stage) {
    return consumer_of({forward, chunk, 3}, stage, stages, 2, PipelineSchedule::dualpipe);
  };
  CHECK(to(true, 0, 1).toward == Toward::next_stage);
  CHECK(to(true, 0, 3).toward == Toward::next_stage);
  CHECK(stage_after(3, stages, PipelineSchedule::dualpipe) == 3);
  CHECK(to(true, 0, 3).operation == Operation{true, 1, 3});
  CHECK(to(true, 1, 3).toward == Toward::previous_stage);
  CHECK(to(true, 1, 0).toward == Toward::same_stage);
  CHECK(to(false, 1, 3).operation == Operation{false, 0, 3});
  CHECK(to(false, 1, 3).toward == Toward::next_stage);
  CHECK(to(false, 0, 0).toward == Toward::nobody);
}

// Table 2: parameters twice, activations of PP + 1 chunks.
TEST_CASE("DualPipe holds every weight twice, and activations of PP + 1 chunks") {
  const Experiment one = job_with(PipelineSchedule::one_f_one_b, 8, 4);
  const Experiment two = job_with(PipelineSchedule::dualpipe, 8, 4);
  REQUIRE(check(one).empty());
  REQUIRE(check(two).empty());
  const auto parameters = [](const Experiment& job) {
    const PreparedExperiment prepared(job);
    const StepPlan plan = prepared.plan(job.plans.front());
    double sum = 0;
    for (const StagePlan& stage : plan.stages) {
      sum +=
          static_cast<double>(job.layout.copies()) * static_cast<double>(stage.compute->parameters);
    }
    return sum;
  };
  CHECK_THAT(parameters(two) / parameters(one), WithinRel(2.0, 1e-12));
  for (int s = 0; s < two.layout.stages(); ++s) {
    CHECK(2 * micro_batches_in_flight(two.layout, s) == 8 + 1);
  }
}

TEST_CASE("gradients of DualPipe are summed over both copies of the weights") {
  Experiment job = job_with(PipelineSchedule::dualpipe, 8, 4);
  job.layout.ep = 2;
  REQUIRE(check(job).empty());
  const Group data = data_group(job.layout, 4);
  CHECK(data.ranks == 8);
  CHECK(expert_data_group(job.layout, 4).ranks == 4);
  const PreparedExperiment prepared(job);
  const StepPrediction step = prepared.predict(job.plans.front());
  const double parameters =
      static_cast<double>(prepared.plan(job.plans.front()).stages.front().compute->parameters);
  CHECK(step.dp_bytes >= (parameters / 8) * 2_B);
  CHECK(step.pp_bytes > 0_B);
  job.layout.zero = 1;  // a rank has an eighth of the states
  job.training.optimizer_bytes_per_parameter = 12_B;
  REQUIRE(check(job).empty());
  const Memory shared = PreparedExperiment(job).predict(job.plans.front()).memory;
  job.layout.zero = 0;
  const Memory whole = PreparedExperiment(job).predict(job.plans.front()).memory;
  CHECK(whole.optimizer / shared.optimizer > 3.0);
}

TEST_CASE("what hides in pairs is less exposed, and the terms add up") {
  Experiment job = job_with(PipelineSchedule::dualpipe, 8, 4);
  const auto predicted = [&](bool overlap) {
    job.layout.pair_overlap = overlap;
    REQUIRE(check(job).empty());
    return PreparedExperiment(job).predict(job.plans.front());
  };
  const StepPrediction apart = predicted(false);
  const StepPrediction paired = predicted(true);
  CHECK(paired.step < apart.step);
  CHECK(paired.waterfall.exposed_ep < apart.waterfall.exposed_ep);
  CHECK(paired.ep_bytes == apart.ep_bytes);
  CHECK_THAT(paired.waterfall.total() / paired.step, WithinRel(1.0, 1e-9));
  CHECK_THAT(apart.waterfall.total() / apart.step, WithinRel(1.0, 1e-9));
}

// 61 blocks on 16 GPUs: every block once in a pipeline's copy, both parts of a stage apart.
TEST_CASE("parts of a model in DualPipe may be of unequal depth") {
  Experiment job = job_with(PipelineSchedule::dualpipe, 8, 4);
  std::get<TransformerShape>(job.model).layers = 13;
  if (GENERATE(false, true)) {
    job.layout.stage_layers = {1, 2, 3, 1, 1, 2, 2, 1};
  }
  REQUIRE(check(job).empty());
  const auto workload = workload_of(job);
  const auto division = divide_layers(*workload, job.layout);
  std::vector<int> blocks(8);
  for (std::size_t s = 0; s < 4; ++s) {
    const std::vector<std::size_t> starts = chunk_starts(*workload, division[s], job.layout);
    REQUIRE(starts.size() == 2);
    for (std::size_t i = 0; i < division[s].size(); ++i) {
      const std::size_t part = i < starts[1] ? s : 7 - s;
      blocks[part] += workload->layers[division[s][i]].recomputable ? 1 : 0;
    }
  }
  const std::vector<int> even{1, 2, 1, 2, 2, 1, 2, 2};
  CHECK(blocks == (job.layout.stage_layers.empty() ? even : job.layout.stage_layers));
  job.layout.stage_layers = {4, 4, 4, 1};
  CHECK_FALSE(check(job).empty());
}

TEST_CASE("layouts that DualPipe cannot have are refused, all at once and with a way out") {
  Experiment job = job_with(PipelineSchedule::dualpipe, 8, 4);
  job.layout.micro_batches = 31;
  job.layout.ep = 8;  // of the four ranks of a copy
  job.layout.zero = 3;
  job.layout.pair_overlap = true;
  const Problems problems = check(job);
  CHECK(names(problems, "layout.micro_batches"));
  CHECK(names(problems, "layout.ep"));
  CHECK(names(problems, "layout.pair_overlap"));
  for (const int pp : {2, 6}) {
    job = job_with(PipelineSchedule::dualpipe, pp, 4);
    CHECK_FALSE(check(job).empty());
  }
  job = job_with(PipelineSchedule::zb_v, 8, 4);
  job.layout.pair_overlap = true;
  CHECK(names(check(job), "layout.pair_overlap"));
}
