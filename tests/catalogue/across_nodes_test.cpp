// SPDX-License-Identifier: Apache-2.0
#include "model/across_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/size_threshold.hpp"
#include "sim/step.hpp"
#include "study/advice.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Gradients compressed on the way between nodes alone, by every method that can be used so.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

// Methods of gradients, with the name of each.
template <typename Visit>
void each_possible(Visit visit) {
  for (const auto& [name, profile] : test::catalogue()) {
    const std::vector<std::string>& traffic = profile.notes.traffic;
    const bool gradients = traffic.empty() || std::find(traffic.begin(), traffic.end(),
                                                        "dp_gradients") != traffic.end();
    if (gradients && not_across_nodes(profile.profile.value).empty()) {
      visit(name, profile.profile.value);
    }
  }
}

Experiment job_of(const Method& method, int nodes, int gpus_per_node) {
  CompressionPlan plan;
  plan.label = method.name;
  plan.method = method;
  Experiment job = test::with_plans(test::small_job({.nodes = nodes}), {plan});
  job.cluster.gpu.architecture = Architecture::hopper;  // NCCL adds every format there
  job.cluster.gpus_per_node = gpus_per_node;
  job.layout.dp = job.cluster.gpus();
  return job;
}

}  // namespace

TEST_CASE("the engines agree to the tick on every method between nodes") {
  int compared = 0;
  each_possible([&](const std::string& name, const Method& method) {
    INFO(name);
    Experiment job = job_of(across_nodes(method), 4, 4);
    const Problems problems = check(job);
    INFO((problems.empty() ? "" : problems.front().message));
    if (!problems.empty()) {
      return;  // every part is too small to be worth it
    }
    StepPlan plan = PreparedExperiment(job).plan(job.plans.back());
    plan.reserved_share = 0;
    const sim::SimulatedStep simulated = sim::simulate(plan, {});
    const Seconds evaluated = evaluate(plan).step;
    const double ticks = std::abs(simulated.prediction.step.si - evaluated.si) * 1e12;
    CHECK(ticks <= static_cast<double>(simulated.path_activities));
    ++compared;
  });
  CHECK(compared >= 45);
}

TEST_CASE("with one GPU a node a method between nodes is the method") {
  const std::vector<ParameterTensor> tensors{{512, 768, true}, {4096, 1, false}};
  const Workers group{8, 1};
  each_possible([&](const std::string& name, const Method& method) {
    INFO(name);
    const CallCost alone = compress(method, tensors, 4_B, group.all, group.in_node);
    const CallCost between = compress(across_nodes(method), tensors, 4_B, group.all, group.in_node);
    REQUIRE(between.rounds.size() == (alone.rounds.empty() ? 0 : alone.rounds.size() + 2));
    for (std::size_t round = 0; round < alone.rounds.size(); ++round) {
      CHECK(between.rounds[round + 1].message == alone.rounds[round].message);
      CHECK(between.rounds[round + 1].encode == alone.rounds[round].encode);
    }
    CHECK((alone.rounds.empty() || between.rounds.back().encode == alone.decode));
    CHECK(between.state == alone.state);
    CHECK(between.dense_message == alone.dense_message);
  });
}

// HiTopKComm (Shi et al., MLSys 2021): each GPU of a node picks of its part, so that all of them
// send between nodes what one would send of the whole.
TEST_CASE("the GPUs of a node send between nodes what one of them would send alone") {
  const std::vector<ParameterTensor> tensors{{4096, 1024, true}};
  const Method method = test::method("topk", {{"ratio", 0.01}});
  const double alone = test::sent(method, tensors, 4_B, {4, 1}) / 1_B;
  const CallCost cost = compress(across_nodes(method), tensors, 4_B, 32, 8);
  REQUIRE(cost.rounds.size() > 2);
  double between = 0;
  for (std::size_t round = 1; round + 1 < cost.rounds.size(); ++round) {
    CHECK(cost.rounds[round].among == Among::nodes);
    between += cost.rounds[round].message / 1_B;
  }
  CHECK_THAT(8 * between, WithinRel(alone, 1e-3));
  const RoundCost& summed = cost.rounds.front();
  CHECK(summed.among == Among::node);
  CHECK(summed.message / 1_B == 4.0 * 4096 * 1024);
  const RoundCost& gathered = cost.rounds.back();
  CHECK(gathered.among == Among::node);
  CHECK_THAT(8 * (gathered.message / 1_B), WithinRel(4.0 * 4096 * 1024, 1e-12));
  // In one node nothing is compressed.
  const CallCost inside = compress(across_nodes(method), tensors, 4_B, 8, 8);
  CHECK(inside.dense_message / 1_B == 4.0 * 4096 * 1024);
}

TEST_CASE("in one node a method between nodes leaves the step as it is") {
  Experiment job = job_of(across_nodes(test::method("topk", {{"ratio", 0.01}})), 1, 4);
  CHECK(check(job).empty());
  const PreparedExperiment prepared(job);
  const Seconds dense = prepared.predict(job.plans.front()).step;
  CHECK_THAT(prepared.predict(job.plans.back()).step / dense, WithinRel(1.0, 1e-9));
}

// BytePS compresses what has BYTEPS_MIN_COMPRESS_BYTES or more (byteps/common/global.cc).
TEST_CASE("what is smaller than a plan's threshold travels dense, with any method") {
  const std::vector<ParameterTensor> tensors{{512, 32, true}, {512, 31, true}};  // 64 KiB, 62 KiB
  each_possible([&](const std::string& name, const Method& method) {
    INFO(name);
    const Method some = from_size(method, 64_KiB);
    CHECK(check_method(some).empty());
    const CallCost all = compress(method, tensors, 4_B, 16, 4);
    const CallCost cost = compress(some, tensors, 4_B, 16, 4);
    if (method.granularity == Granularity::bucket) {
      CHECK(cost.dense_message == all.dense_message);  // both together are large enough
      CHECK(compress(from_size(method, 127_KiB), tensors, 4_B, 16, 4).rounds.empty());
    } else if (compress(method, {&tensors[0], 1}, 4_B, 16, 4).dense_message == 0_B) {
      CHECK(cost.dense_message == 62_KiB);
    }
  });
}

TEST_CASE("a plan between nodes alone is written as it is read") {
  CompressionPlan plan;
  plan.method = from_size(across_nodes(test::method("topk")), 64_KiB);
  CHECK_THAT(plan_text(plan), ContainsSubstring(",among=nodes,smallest=64 KiB"));
  plan.method = across_nodes(test::method("topk", {{"ratio", 0.01}}));
  CHECK_THAT(plan_text(plan), ContainsSubstring("ratio=0.01") && ContainsSubstring(",among=nodes"));
}

TEST_CASE("methods that say themselves who takes part in a round stay as they are") {
  CHECK(not_across_nodes(test::method("qgz")).find("in a node") != std::string::npos);
  CHECK(not_across_nodes(test::method("randomk_host")).find("in a node") != std::string::npos);
  CHECK(not_across_nodes(test::method("powersgd")).empty());
}
