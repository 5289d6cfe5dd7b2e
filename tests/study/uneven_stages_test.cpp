// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/stage_compute.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

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

std::vector<std::string> problems_of(const Experiment& job) {
  std::vector<std::string> paths;
  for (const Problem& problem : check(job)) {
    paths.push_back(problem.path);
  }
  return paths;
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
  chunks.model = test::gpt(16, 1024, 16, 512, 64000);
  chunks.layout.virtual_stages = 2;
  CHECK(problems_of(chunks) == Paths{path, path});  // chunks, sum
}

// Two chunks belong to the schedule: one would be refused in its turn.
TEST_CASE("uneven stages in a V are refused with advice that is accepted") {
  Experiment job = job_with({4, 4, 4, 4});
  job.model = test::gpt(16, 1024, 16, 512, 64000);
  job.layout.schedule = PipelineSchedule::zb_v;
  job.layout.virtual_stages = 2;
  const Problems problems = check(job);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().help == "leave it out, or set schedule to one without chunks");
  Experiment without = job;
  without.layout.stage_layers.clear();
  CHECK(check(without).empty());
  Experiment another = job;
  another.layout.schedule = PipelineSchedule::zb_h1;
  another.layout.virtual_stages = 1;
  CHECK(check(another).empty());
}
