// SPDX-License-Identifier: Apache-2.0
#include "study/survey.hpp"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "model/across_nodes.hpp"
#include "model/groups.hpp"
#include "study/plan_axes.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using test::shrink;
using test::small_job;

namespace {

// Of a job that 16-bit reduction does not help.
SurveyFinding finding(const CompressionPlan& plan, int times_the_batch = 1) {
  Experiment job = small_job({.nic = 1_Gbps, .gradient = Precision::fp16});
  job.layout.micro_batch *= times_the_batch;
  job.cluster.gpu.memory *= times_the_batch;
  return survey(test::with_plans(std::move(job), {plan})).at(0).finding;
}

}  // namespace

TEST_CASE("a free codec that sends a hundredth pays on a slow network") {
  CHECK(finding(shrink(100, 0)) == SurveyFinding::pays);
}

TEST_CASE("nothing is exposed where not even silence would pay") {
  CHECK(finding(shrink(100, 0), 100'000) == SurveyFinding::nothing_exposed);
}

TEST_CASE("a codec that takes longer than the messages is told to be the reason") {
  CHECK(finding(shrink(100, 1e6)) == SurveyFinding::codec);
}

TEST_CASE("what halves the bytes gains no more than 16-bit reduction") {
  const Experiment job = test::with_plans(small_job({.nic = 1_Gbps}), {shrink(2, 0)});
  CHECK(survey(job).at(0).finding == SurveyFinding::remedy_is_enough);
}

TEST_CASE("a payload that is gathered from all would pay if it were summed") {
  // Of 20 values of 2 B a ring sends about 80 B; one value and its position from each of the other
  // 15 workers are more, and summed on the way they would be less.
  CHECK(finding(test::sparse(0.05, 0)) == SurveyFinding::cannot_be_summed);
}

TEST_CASE("what sends nearly all bytes saves too little") {
  CHECK(finding(shrink(1.005, 0)) == SurveyFinding::too_little_saved);
}

TEST_CASE("findings go with the verdict of the same job") {
  const Experiment job = test::with_plans(small_job({.nic = 1_Gbps}),
                                          {shrink(100, 1), shrink(2, 0), test::sparse(0.05, 1)});
  AssessOptions options;
  options.draws = 64;
  const Payoff payoff = assess(job, options);
  const std::vector<SurveyedPlan> plans = survey(job);
  REQUIRE(plans.size() == 3);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const PlanPayoff& plan = payoff.plans[i + 1];
    CHECK(plans[i].label == plan.label);
    CHECK(plans[i].speedup == plan.against_uncompressed.speedup);
    CHECK((plans[i].finding == SurveyFinding::pays) == (Payoff::verdict_of(plan) == Verdict::pays));
  }
}

TEST_CASE("what nodes gather among each other would be summed among them, not among all ranks") {
  Experiment job = small_job({.nodes = 2});
  CompressionPlan plan = test::sparse(0.01, 1);
  REQUIRE(not_across_nodes(*plan.method).empty());
  plan.method = across_nodes(*plan.method);
  job = test::with_plans(std::move(job), {plan});
  const StepPlan gathered = PreparedExperiment(job).plan(job.plans[1]);
  const std::optional<StepPlan> summed = MessageSizes(job).all_reduced(gathered);
  REQUIRE(summed);
  const CollectiveModel between(
      job.cluster, part_across_nodes(data_group(job.layout, job.cluster.gpus_per_node)));
  std::size_t found = 0;
  for (std::size_t k = 0; k < gathered.kinds.size(); ++k) {
    for (std::size_t r = 0; r < gathered.kinds[k].rounds.size(); ++r) {
      const Message& before = gathered.kinds[k].rounds[r].message;
      const Message& after = summed->kinds[k].rounds[r].message;
      if (before.collective == Collective::all_gather && !before.in_node) {
        ++found;
        CHECK(after.size == before.size / 2.0);  // what one of two nodes sends
        CHECK(after.alone == between.price(Collective::all_reduce, after.size).time);
      } else {
        CHECK(after == before);
      }
    }
  }
  CHECK(found > 0);
}
