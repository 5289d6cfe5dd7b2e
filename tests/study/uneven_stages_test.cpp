// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "model/chunks_alive.hpp"
#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/layer_division.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/problem_paths.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::problems_of;

// Stages of given sizes (layout.stage_layers).

namespace {

constexpr int blocks = 14;

// Two tokens of vocabulary for each of a block's weights: the head is as much work as some blocks.
Experiment job_with(std::vector<int> stage_layers) {
  Experiment job = test::small_job({.nic = 400_Gbps});
  job.model = test::gpt(blocks, 1024, 16, 512, 64000);
  job.training.precision = Precision::fp16;
  job.software.fused_attention = true;
  job.layout.pp = 4;
  job.layout.dp = 4;
  job.layout.micro_batches = 16;
  job.layout.stage_layers = std::move(stage_layers);
  return job;
}

Seconds work_of(const StagePlan& stage) {
  return stage.compute->forward_work + stage.compute->backward_work;
}

}  // namespace

TEST_CASE("stages hold the blocks that they are given, and the ends of the model") {
  const Experiment job = job_with({5, 4, 3, 2});
  const auto stages = divide_layers(*workload_of(job), job.layout);
  REQUIRE(stages.size() == 4);
  CHECK(stages[0] == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(stages[1] == std::vector<std::size_t>{6, 7, 8, 9});
  CHECK(stages[2] == std::vector<std::size_t>{10, 11, 12});
  CHECK(stages[3] == std::vector<std::size_t>{13, 14, 15});
}

TEST_CASE("even stages given outright are those of no stages given") {
  Experiment even = job_with({4, 4, 4, 4});
  even.model = test::gpt(16, 1024, 16, 512, 64000);
  Experiment silent = even;
  silent.layout.stage_layers.clear();
  CHECK(PreparedExperiment(even).predict(even.plans[0]).step ==
        PreparedExperiment(silent).predict(silent.plans[0]).step);
}

// m - 1 micro-batches pass the slowest stage one after the other.
TEST_CASE("the slowest stage sets the pace, so fewer blocks beside the head save time") {
  const Experiment head_heavy = job_with({3, 3, 4, 4});
  const Experiment balanced = job_with({4, 4, 4, 2});
  const PreparedExperiment slow(head_heavy);
  const PreparedExperiment fast(balanced);
  const auto slowest = [](const StepPlan& plan) {
    Seconds most;
    for (const StagePlan& stage : plan.stages) {
      most = std::max(most, work_of(stage));
    }
    return most;
  };
  const Seconds less =
      slowest(slow.plan(head_heavy.plans[0])) - slowest(fast.plan(balanced.plans[0]));
  REQUIRE(less > 0_s);
  const Seconds saved =
      slow.predict(head_heavy.plans[0]).step - fast.predict(balanced.plans[0]).step;
  CHECK_THAT(saved / (15 * less), WithinRel(1.0, 0.05));
}

TEST_CASE("stages that do not add up to the model are refused, all reasons at once") {
  using Paths = std::vector<std::string>;
  const std::string path = "layout.stage_layers";
  CHECK(problems_of(job_with({4, 4, 4, 2})) == Paths{});
  CHECK(problems_of(job_with({4, 4, 4, 4})) == Paths{path});
  CHECK(problems_of(job_with({14, 0, 0, 0})) == Paths{path + ".1", path + ".2", path + ".3"});
  CHECK(problems_of(job_with({7, 6})) == Paths{path, path});  // entries, sum
  Experiment chunks = job_with({4, 4, 4, 2});
  chunks.layout.virtual_stages = 2;
  CHECK(problems_of(chunks) == Paths{path});  // entries: eight chunks
  chunks.layout.stage_layers = {4, 4, 4, 2, 1, 0, 1, 1};
  CHECK(problems_of(chunks) == Paths{path + ".5", path});  // no layer, sum
}

TEST_CASE(
    "chunks hold the blocks that they are given, in the order in which a sample passes them") {
  struct Case {
    PipelineSchedule schedule;
    std::size_t second_part[4];  // of each stage
  };
  for (const Case& given : {Case{PipelineSchedule::one_f_one_b, {4, 5, 6, 7}},
                            Case{PipelineSchedule::zb_v, {7, 6, 5, 4}},
                            Case{PipelineSchedule::dualpipe_v, {7, 6, 5, 4}}}) {
    Experiment job = job_with({3, 2, 1, 2, 1, 2, 1, 2});
    job.layout.schedule = given.schedule;
    job.layout.virtual_stages = 2;
    REQUIRE(check(job).empty());
    const auto workload = workload_of(job);
    const auto division = divide_layers(*workload, job.layout);
    const auto blocks_in = [&](const std::vector<std::size_t>& layers, std::size_t begin,
                               std::size_t end) {
      return std::count_if(layers.begin() + static_cast<std::ptrdiff_t>(begin),
                           layers.begin() + static_cast<std::ptrdiff_t>(end),
                           [&](std::size_t layer) { return workload->layers[layer].recomputable; });
    };
    for (std::size_t s = 0; s < 4; ++s) {
      const std::vector<std::size_t> starts = chunk_starts(*workload, division[s], job.layout);
      REQUIRE(starts.size() == 2);
      CHECK(blocks_in(division[s], 0, starts[1]) == job.layout.stage_layers[s]);
      CHECK(blocks_in(division[s], starts[1], division[s].size()) ==
            job.layout.stage_layers[given.second_part[s]]);
    }
  }
}

// 14 blocks in eight parts: six of two and two of one.
TEST_CASE(
    "a V of layers that do not divide is as even as it can be, and interleaved it is refused") {
  Experiment job = job_with({});
  job.layout.virtual_stages = 2;
  const Problems problems = check(job);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().help ==
        "set virtual_stages to 1, or pp to a divisor of the layers, or give the layers of every "
        "chunk as stage_layers");
  job.layout.schedule = PipelineSchedule::zb_v;
  REQUIRE(check(job).empty());
  Experiment stated = job;
  stated.layout.stage_layers = {1, 2, 2, 2, 1, 2, 2, 2};
  CHECK(PreparedExperiment(job).predict(job.plans[0]).step ==
        PreparedExperiment(stated).predict(stated.plans[0]).step);
  job.model = test::gpt(7, 1024, 16, 512, 64000);
  REQUIRE(check(job).size() == 1);
  CHECK(check(job).front().help == "set pp to 3 at most, or choose a schedule without chunks");
}

TEST_CASE("the engines agree on chunks of unequal depth in every schedule that has some") {
  struct Case {
    PipelineSchedule schedule;
    int pp;
    bool pairs;
  };
  for (const Case& given :
       {Case{PipelineSchedule::one_f_one_b, 4, false}, Case{PipelineSchedule::zb_v, 4, false},
        Case{PipelineSchedule::dualpipe_v, 4, false}, Case{PipelineSchedule::dualpipe_v, 4, true},
        Case{PipelineSchedule::dualpipe, 8, true}}) {
    for (const std::vector<int>& parts :
         {std::vector<int>{3, 2, 1, 2, 1, 2, 1, 2}, std::vector<int>{1, 1, 1, 1, 1, 1, 1, 7}}) {
      Experiment job = job_with(parts);
      job.layout.schedule = given.schedule;
      job.layout.virtual_stages = 2;
      job.layout.pp = given.pp;
      job.layout.dp = 16 / given.pp;
      job.layout.pair_overlap = given.pairs;
      REQUIRE(check(job).empty());
      const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
      const Seconds simulated = sim::simulate(plan, {}).prediction.step;
      CHECK_THAT(simulated / evaluate(plan).step, WithinRel(1.0, 1e-3));
    }
  }
}

// The order that a stage runs, looked at after every operation.
TEST_CASE("unequal chunks are held as the order of a stage has them alive") {
  for (const PipelineSchedule schedule :
       {PipelineSchedule::one_f_one_b, PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v}) {
    Experiment job = job_with({1, 1, 1, 7, 1, 1, 1, 1});
    job.layout.schedule = schedule;
    job.layout.virtual_stages = 2;
    for (int stage = 0; stage < 4; ++stage) {
      const Bytes sizes[] = {3_GB, 1_GB};
      const StageSchedule order(stage, 4, job.layout.micro_batches, 2, schedule);
      Bytes alive;
      Bytes most;
      for (int i = 0; i < order.size(); ++i) {
        const Bytes size = sizes[order[i].chunk];
        alive += order[i].is_forward ? size : completes(order[i], schedule) ? -1.0 * size : 0_B;
        most = std::max(most, alive);
      }
      const std::vector<ChunksAlive> moments = most_alive(job.layout, stage);
      CHECK_THAT(held(moments, sizes) / most, WithinRel(1.0, 1e-12));
    }
  }
}

// As many of its second chunk, with the head, as it holds at once: one, for the head is last.
TEST_CASE("the first stage of a V holds the logits of one micro-batch") {
  Experiment job = job_with({1, 2, 2, 2, 1, 2, 2, 2});
  job.layout.schedule = PipelineSchedule::zb_v;
  job.layout.virtual_stages = 2;
  Experiment wide = job;
  std::get<TransformerShape>(wide.model).vocabulary = 512000;
  const auto activations = [](const Experiment& of) {
    return PreparedExperiment(of).predict(of.plans[0]).memory.activations;
  };
  const auto logits = [](const Experiment& of) {
    return workload_of(of)->layers.back().activation_per_sample;
  };
  const Bytes more = job.layout.micro_batch * (logits(wide) - logits(job));
  CHECK_THAT((activations(wide) - activations(job)) / more, WithinRel(1.0, 1e-9));
}
