// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/evaluate.hpp"
#include "sim/step.hpp"
#include "sim/trace.hpp"
#include "tests/catch.hpp"
#include "tests/sim/host_plans.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/study/experiments.hpp"

// Codecs that run on the host, in both engines: copies, cores and messages between hosts take none
// of the GPU's units, and each of them takes one thing at a time.

using namespace payoff;
using Catch::Matchers::WithinAbs;

namespace {

// One stage: forward, then backward in equal pieces, a bucket of this kind after each.
StepPlan replica(const std::vector<Seconds>& backward, const BucketKind& kind) {
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 1_ms);
  plan.stages.front().compute = std::make_shared<StageCompute>(test::compute_of({10_ms}, backward));
  plan.overlap = true;
  plan.kinds = {kind};
  for (std::size_t piece = 0; piece < backward.size(); ++piece) {
    plan.stages.front().buckets.push_back({static_cast<int>(piece), 0});
  }
  return plan;
}

double both(const StepPlan& plan) {
  const double simulated = sim::simulate(plan, {}).prediction.step / 1_ms;
  CHECK_THAT(evaluate(plan).step / 1_ms, WithinAbs(simulated, 1e-6));
  return simulated;
}

std::vector<Seconds> terms(const Waterfall& w) {
  return {w.forward,      w.recompute,   w.backward,
          w.interference, w.encode,      w.decode,
          w.host,         w.bucket_copy, w.exposed_pp + w.bubble,
          w.exposed_tp,   w.exposed_dp,  w.optimizer,
          w.exposed_cp,   w.exposed_ep};
}

bool one_stage_ends_last(const sim::SimulatedStep& step) {
  std::vector<Seconds> ends = step.place_ends;
  std::sort(ends.begin(), ends.end());
  return ends.size() == 1 || ends[ends.size() - 2] / ends.back() < 1 - 1e-6;
}

// Relative, of the step and of the terms of its waterfall.
double difference(const StepPlan& plan) {
  const sim::SimulatedStep simulated = sim::simulate(plan, {});
  const StepPrediction evaluated = evaluate(plan);
  double most = std::abs(simulated.prediction.step / evaluated.step - 1);
  const std::vector<Seconds> ours = terms(simulated.prediction.waterfall);
  const std::vector<Seconds> theirs = terms(evaluated.waterfall);
  for (std::size_t i = 0; i < ours.size() && one_stage_ends_last(simulated); ++i) {
    most = std::max(most, std::abs((ours[i] - theirs[i]) / evaluated.step));
  }
  return most;
}

}  // namespace

TEST_CASE("what a bucket does on the host follows its piece, one thing after the other") {
  // 10 forward, 5 backward, filled 1, copied 2, encoded 3, sent 4, decoded 5, copied 2, emptied 1.
  const StepPlan plan = replica({5_ms}, test::simple_on_host(1_ms, 2_ms, 3_ms, 4_ms, 5_ms, 1_ms));
  CHECK_THAT(both(plan), WithinAbs(33, 1e-9));
  const Waterfall w = evaluate(plan).waterfall;
  CHECK_THAT(w.encode / 1_ms, WithinAbs(2 + 3, 1e-9));  // copies are the codec's
  CHECK_THAT(w.decode / 1_ms, WithinAbs(5 + 2, 1e-9));
  CHECK_THAT(w.exposed_dp / 1_ms, WithinAbs(4, 1e-9));
  CHECK_THAT(w.bucket_copy / 1_ms, WithinAbs(2, 1e-9));
}

TEST_CASE("cores encode and decode in turn, beside a backward pass that they do not slow") {
  // Ready at 20 and 30 (backward goes on undisturbed); copied by 21, 31; encoded by 25, 35; sent by
  // 26, 36; the first is decoded from 26 to 36, when the second has long waited for the cores; that
  // is encoded from 36 to 40, sent by 41, decoded by 51, copied back by 52.
  StepPlan plan = replica({10_ms, 10_ms}, test::simple_on_host(0_s, 1_ms, 4_ms, 1_ms, 10_ms, 0_s));
  plan.reserved_share = 0.3;  // of messages by GPUs, of which there are none
  CHECK_THAT(both(plan), WithinAbs(52, 1e-9));
  CHECK_THAT(evaluate(plan).waterfall.interference / 1_ms, WithinAbs(0, 1e-9));
}

TEST_CASE("a copy takes the bandwidth that it moves from work that wants all of it") {
  // Beside a copy of 20 ms that moves a tenth, work of 10 ms that is bound by its memory takes
  // 10 / 0.9.
  BucketKind kind = test::simple_on_host(0_s, 20_ms, 0_s, 0_s, 0_s, 0_s);
  kind.rounds.front().host.copy_memory_share = 0.1;
  StepPlan plan = replica({5_ms, 10_ms}, kind);
  auto compute = std::make_shared<StageCompute>(*plan.stages.front().compute);
  compute->backward[1].work.memory_share = 1.0;
  plan.stages.front().compute = compute;
  plan.stages.front().buckets.resize(1);
  (void)both(plan);
  CHECK_THAT(evaluate(plan).waterfall.interference / 1_ms, WithinAbs(10 / 0.9 - 10, 1e-9));
}

TEST_CASE("the engines agree on a thousand random plans whose codecs run on the host") {
  int with_terms = 0;
  int plans = 0;
  double worst = 0;
  const auto compare = [&](test::RandomPlan random, const char* what, std::uint64_t seed) {
    test::put_on_host(random.plan, seed);
    const double most = difference(random.plan);
    INFO(what << " of seed " << seed << ": " << most);
    CHECK(most <= 1e-3);
    worst = std::max(worst, most);
    ++plans;
    with_terms += one_stage_ends_last(sim::simulate(random.plan, {})) ? 1 : 0;
  };
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    compare(test::random_replicas(seed), "replicas", seed);
  }
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    compare(test::random_pipeline(seed), "pipeline", seed);
  }
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    compare(test::random_v_pipeline(seed), "V", seed);
  }
  std::printf("on the host: %d plans, of %d the waterfall too, worst %.1e\n", plans, with_terms,
              worst);
  CHECK(plans == 1000);
  CHECK(with_terms >= 900);
}

TEST_CASE("plans that say something else of the host are found to differ") {
  int copies = 0;
  int cores = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    test::RandomPlan random = test::random_replicas(seed);
    test::put_on_host(random.plan, seed);
    const Seconds simulated = sim::simulate(random.plan, {}).prediction.step;
    const auto differs = [&](const StepPlan& plan) {
      return std::abs(evaluate(plan).step / simulated - 1) > 1e-3;
    };
    StepPlan without_memory = random.plan;
    StepPlan without_cores = random.plan;  // every copy does its pass's work
    for (std::size_t k = 0; k < random.plan.kinds.size(); ++k) {
      const auto change = [](HostWork& of, HostWork& other) {
        of.copy_memory_share = 0.0;
        if (other.from_gpu || other.to_gpu) {
          other.copy += other.work;
          other.work = {};
        }
      };
      change(without_memory.kinds[k].host_decode, without_cores.kinds[k].host_decode);
      for (std::size_t r = 0; r < random.plan.kinds[k].rounds.size(); ++r) {
        change(without_memory.kinds[k].rounds[r].host, without_cores.kinds[k].rounds[r].host);
      }
    }
    copies += differs(without_memory) ? 1 : 0;
    cores += differs(without_cores) ? 1 : 0;
  }
  std::printf(
      "planted: copies move nothing: found in %d of 500; encoder and decoder do not wait "
      "for each other: in %d\n",
      copies, cores);
  CHECK(copies > 0);
  CHECK(cores > 100);
}

TEST_CASE("stages of a pipeline on one node share its cores") {
  // Backward ends at 3 ms on stage 1 and at 4 on stage 0; each encoder alone takes all cores for
  // 100 ms. From 4 on both have half: the first one ends at 4 + 2 x 99, the other one 1 ms later.
  StepPlan plan = test::pipeline(2, 1, 1, 1_ms, 1_ms);
  plan.layout.dp = 2;
  plan.overlap = true;
  plan.kinds = {test::simple_on_host(0_s, 0_s, 100_ms, 0_s, 0_s, 0_s)};
  for (StagePlan& stage : plan.stages) {
    if (&stage == &plan.stages[stage.like]) {
      stage.buckets = {{0, 0}};
    }
  }
  CHECK_THAT(evaluate(plan).step / 1_ms, WithinAbs(104, 1e-9));
  const Cluster cluster = test::small_job({.nodes = 1}).cluster;
  REQUIRE(cluster.gpus_per_node == 4);
  sim::Platform platform(cluster, plan.layout);
  platform.add_hosts(2 * 1_MB / 100_ms);  // of both GPUs of a stage
  const sim::SimulatedStep step = sim::simulate(plan, platform);
  CHECK_THAT(step.prediction.step / 1_ms, WithinAbs(203, 1e-4));
  const auto late = std::max_element(
      step.links.begin(), step.links.end(),
      [](const sim::LinkUse& a, const sim::LinkUse& b) { return a.max_delay < b.max_delay; });
  CHECK(late->name == "cores of the node of stage 0");
  CHECK_THAT(late->max_delay / 1_ms, WithinAbs(99, 1e-4));
}

TEST_CASE("events of codecs on the host are counted before they run") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    test::RandomPlan random = test::random_replicas(seed);
    test::put_on_host(random.plan, seed);
    CHECK(sim::estimate(random.plan).events == sim::simulate(random.plan, {}).events);
  }
}

TEST_CASE("a timeline shows copies, cores and messages between hosts on tracks of their own") {
  std::ostringstream out;
  sim::TraceWriter trace(out);
  const StepPlan plan = replica({5_ms}, test::simple_on_host(1_ms, 2_ms, 3_ms, 4_ms, 5_ms, 1_ms));
  (void)sim::simulate(plan, {}, {.trace = &trace});
  trace.finish();
  std::vector<std::string> names;
  const nlohmann::json timeline = nlohmann::json::parse(out.str());
  for (const auto& event : timeline.at("traceEvents")) {
    if (event.at("name") == "thread_name") {
      names.push_back(event.at("args").at("name"));
    }
  }
  CHECK(names == std::vector<std::string>{"compute", "copies to the host", "cores of the host",
                                          "messages between hosts", "copies to the GPU"});
}
