// SPDX-License-Identifier: Apache-2.0
#include "study/advice.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "profiles/read_experiment.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;

namespace {

Experiment example(const std::string& name, const std::vector<Setting>& settings) {
  const std::filesystem::path source = PAYOFF_SOURCE_DIR;
  SourceMap sources;
  Diagnostics diagnostics;
  const Library library(source / "profiles");
  auto read = read_experiment(source / "examples" / name / "experiment.yaml", settings,
                              {library, sources, diagnostics});
  REQUIRE(read);
  return read->experiment;
}

// BERT-Large with six ways to compress what two stages of two ranks send each other.
Experiment activations_job(const std::vector<Setting>& settings = {}) {
  return example("09-bert-large-activations", settings);
}

// Llama 2 with its weights sharded over a slow network.
Experiment sharded_job(const std::string& plans) {
  return example("04-llama2-7b-a100", {{1, "layout.zero=3"},
                                       {1, "cluster.inter.bandwidth=25 Gb/s"},
                                       {1, "cluster.nics_per_node=1"},
                                       {1, "compress=" + plans}});
}

const TrafficOptions& of_kind(const Advice& advice, Traffic traffic) {
  return *std::find_if(advice.kinds.begin(), advice.kinds.end(),
                       [&](const TrafficOptions& kind) { return kind.traffic == traffic; });
}

AdviceOptions few_draws() {
  AdviceOptions options;
  options.draws = 4;
  return options;
}

// The shortest step over every combination of what was offered, each put together here.
Seconds shortest_step(const Experiment& job, const Advice& advice) {
  Experiment alone = job;
  alone.plans.resize(1);
  const PreparedExperiment prepared(alone);
  std::vector<CompressionPlan> combined{job.plans.front()};
  for (const TrafficOptions& kind : advice.kinds) {
    const std::vector<CompressionPlan> before = combined;
    for (const CompressionPlan& plan : before) {
      for (const TrafficOption& option : kind.options) {
        CompressionPlan& more = combined.emplace_back(plan);
        more.method = option.plan.method ? option.plan.method : more.method;
        more.placement = option.plan.method ? option.plan.placement : more.placement;
        more.weights = option.plan.weights ? option.plan.weights : more.weights;
        more.activations.insert(more.activations.end(), option.plan.activations.begin(),
                                option.plan.activations.end());
      }
    }
  }
  CHECK(combined.size() == advice.combinations);
  Seconds shortest = prepared.predict(job.plans.front()).step;
  for (const CompressionPlan& plan : combined) {
    const StepPrediction prediction = prepared.predict(plan);
    shortest = prediction.memory.fits() ? std::min(shortest, prediction.step) : shortest;
  }
  return shortest;
}

}  // namespace

TEST_CASE("the advised plan is the fastest of all combinations") {
  const Experiment job = activations_job();
  const Advice advice = advise(job, few_draws());
  CHECK(advice.is_exact);
  CHECK(advice.evaluated == advice.combinations);
  CHECK(advice.step == shortest_step(job, advice));
  REQUIRE(advice.advised > 0);
  // Better than any plan that the experiment has: it takes one method for each kind.
  CHECK(advice.compared.plans[advice.advised].activations.size() == 2);
  CHECK(advice.payoff.plans[advice.advised].prediction.step <
        advice.payoff.plans[1].prediction.step);
}

TEST_CASE("the text of a plan reads back as that plan") {
  const Advice advice = advise(activations_job(), few_draws());
  REQUIRE(advice.advised > 0);
  const std::string text = advice.compared.plans[advice.advised].label;
  const Experiment again = activations_job({{1, "compress=[\"" + text + "\"]"}});
  REQUIRE(again.plans.size() == 2);
  CHECK(PreparedExperiment(again).predict(again.plans[1]).step == advice.step);
  CHECK(plan_text(again.plans[1]) == text);
}

TEST_CASE("a method of one's own is advised under the name of its file") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 1), test::sparse(0.1, 1)});
  job.plans[1].label = "methods/shrink.yaml:ratio=4";
  job.plans[2].label = "sparse:kept=0.1";
  const OwnFiles files = own_files(job);
  REQUIRE(files.size() == 1);
  CHECK(files.at("shrink") == "methods/shrink.yaml");
  CHECK(plan_text(job.plans[1], files) == "methods/shrink.yaml:passes=1,ratio=4");
  CHECK(plan_text(job.plans[2], files) == "sparse:kept=0.1,passes=1");
  const Advice advice = advise(job, few_draws());
  for (const TrafficOption& option : advice.kinds.front().options) {
    CHECK(option.plan.label.find("shrink:") == std::string::npos);
  }
}

TEST_CASE("improving one kind of traffic at a time finds what all combinations do, with fewer") {
  const Experiment job = activations_job();
  AdviceOptions options = few_draws();
  options.most_combinations = 1;
  const Advice fast = advise(job, options);
  const Advice exact = advise(job, few_draws());
  CHECK_FALSE(fast.is_exact);
  CHECK(fast.step == exact.step);
  CHECK(fast.evaluated < exact.evaluated);
}

TEST_CASE("no option exceeds the budget, and a budget of nothing leaves nothing to advise") {
  const Experiment job =
      test::with_plans(test::small_job(), {test::shrink(4, 1), test::shrink(40, 1)});
  AdviceOptions options = few_draws();
  options.budget.least_bits = 4;  // of 32: a ratio of 8
  const Advice within = advise(job, options);
  CHECK(within.kinds.front().options.size() == 3);  // of one ratio, in three places
  CHECK(within.kinds.front().over_budget == 3);
  for (const TrafficOption& option : within.kinds.front().options) {
    CHECK(option.bits >= 4);
    CHECK_THAT(option.ratio * option.bits, Catch::Matchers::WithinRel(32.0, 1e-9));
  }
  options.budget.most_ratio = 1;
  const Advice nothing = advise(job, options);
  CHECK(nothing.combinations == 1);
  CHECK(nothing.advised == 0);
  CHECK(nothing.compared.plans.size() == 1);
}

TEST_CASE("what makes the step longer is not advised") {
  const Experiment job =
      test::with_plans(test::small_job({.nic = 10'000_Gbps}), {test::shrink(2, 1000)});
  const Advice advice = advise(job, few_draws());
  CHECK(advice.advised == 0);
  CHECK(advice.step == advice.payoff.plans.front().prediction.step);
}

TEST_CASE("iterations that compression may cost are taken off what counts as a gain") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(10, 1)});
  AdviceOptions options = few_draws();
  options.budget.inflation = 0.5;
  const Advice advice = advise(job, options);
  CHECK(advice.payoff.band == 0.5);
  REQUIRE(advice.advised > 0);
  const PlanPayoff& plan = advice.payoff.plans[advice.advised];
  if (plan.against_remedy.speedup_high < 1.5) {
    CHECK(plan.against_remedy.verdict() != Verdict::pays);
  }
}

TEST_CASE("weights that are gathered are a kind of traffic, and advised together with gradients") {
  const Experiment job = sharded_job("[\"qwz:traffic=dp_weights\", qgz]");
  const Advice advice = advise(job, few_draws());
  CHECK(of_kind(advice, Traffic::dp_weights).options.size() == 1);
  CHECK(advice.step == shortest_step(job, advice));
  REQUIRE(advice.advised > 0);
  const CompressionPlan& plan = advice.compared.plans[advice.advised];
  CHECK(plan.weights);
  CHECK(plan.method);
  const Experiment again = sharded_job("[\"" + plan.label + "\"]");
  CHECK(PreparedExperiment(again).predict(again.plans[1]).step == advice.step);
}

TEST_CASE("what accuracy allows holds for weights by the bits that each is gathered in") {
  const Experiment job = sharded_job("[\"qwz:traffic=dp_weights\"]");
  const Advice any = advise(job, few_draws());
  const TrafficOption& bytes = of_kind(any, Traffic::dp_weights).options.front();
  // A byte and a scale of four for 4,096, of the two that a weight has.
  CHECK_THAT(bytes.bits, Catch::Matchers::WithinRel(8 + 32.0 / 4096, 1e-3));
  CHECK_THAT(bytes.ratio, Catch::Matchers::WithinRel(16 / (8 + 32.0 / 4096), 1e-3));
  AdviceOptions options = few_draws();
  options.budget.least_bits = 9;
  const Advice within = advise(job, options);
  CHECK(of_kind(within, Traffic::dp_weights).over_budget == 1);
  CHECK(within.fastest == 0);
}

TEST_CASE("tokens to experts have 16 bits where products are fp8, and are advised by those") {
  const Experiment job = example("13-deepseek-v3-fp8-dispatch",
                                 {{1, "training.precision=fp8"},
                                  {1, "compress=[\"fp8_block:group=128,traffic=ep_dispatch\"]"}});
  const Advice advice = advise(job, few_draws());
  REQUIRE_FALSE(of_kind(advice, Traffic::ep_dispatch).options.empty());
  const TrafficOption& option = of_kind(advice, Traffic::ep_dispatch).options.front();
  // A byte, and a scale of four for 128.
  CHECK_THAT(option.bits, Catch::Matchers::WithinRel(8 + 32.0 / 128, 1e-9));
  CHECK_THAT(option.ratio * option.bits, Catch::Matchers::WithinRel(16.0, 1e-9));
}

TEST_CASE("advised is never slower than the best plan as written") {
  const std::string plan = GENERATE(
      "\"qwz:traffic=dp_weights\"", "\"qwz:traffic=dp_weights + qgz\"",
      "\"qgz:placement=side_stream\"", "\"qgz:overlap=false\"",
      "\"qgz:placement=high_priority_stream + qwz:traffic=dp_weights\"", "qgz:bits=8, qgz");
  const Experiment job = sharded_job("[" + plan + "]");
  AdviceOptions options = few_draws();
  options.most_combinations = GENERATE(std::uint64_t{1}, std::uint64_t{4096});
  const Advice advice = advise(job, options);
  const PreparedExperiment prepared(job);
  Seconds best = prepared.predict(job.plans.front()).step;
  for (std::size_t i = 1; i < job.plans.size(); ++i) {
    best = std::min(best, prepared.predict(job.plans[i]).step);
  }
  INFO(plan);
  CHECK(advice.step <= best);
  CHECK(advice.payoff.plans[advice.fastest].prediction.step == advice.step);
  for (const PlanPayoff& compared : advice.payoff.plans) {
    CHECK(advice.step <= compared.prediction.step);
  }
}

TEST_CASE("a plan that the best remedy beats is the fastest one and not advised") {
  Experiment job = test::with_plans(test::small_job(), {test::shrink(1.3, 1)});
  const Advice advice = advise(job, few_draws());
  REQUIRE(advice.fastest > 0);
  const PlanPayoff& plan = advice.payoff.plans[advice.fastest];
  REQUIRE(plan.against_remedy.speedup < 1);  // 16-bit reduction halves what is sent
  CHECK(plan.against_uncompressed.speedup > 1);
  CHECK(advice.advised == 0);
}
