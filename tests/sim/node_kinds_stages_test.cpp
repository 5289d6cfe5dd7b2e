// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "model/node_kinds.hpp"
#include "model/rank_order.hpp"
#include "sim/platform.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/problem_paths.hpp"
#include "tests/sim/node_kinds.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::gpt_job;
using payoff::test::make_faster;
using payoff::test::on_kind;
using payoff::test::problems_of;
using payoff::test::settle;
using payoff::test::simulated;
using payoff::test::split;
using payoff::test::step_of;
using payoff::test::with_fast_half;

// What each stage of one GPT on nodes of two kinds gets of its own nodes.

// With stages outermost the fast half has two of four stages; with replicas outermost each stage
// has replicas on both halves, and the slow ones are waited for.
TEST_CASE("which stages gain from faster nodes is the order's doing") {
  const Experiment slow = gpt_job(4);
  const Experiment fast = with_fast_half(slow, 3);
  Experiment slow_replicas = slow;
  slow_replicas.layout.order = {Degree::tp, Degree::pp, Degree::dp, Degree::cp};
  Experiment fast_replicas = fast;
  fast_replicas.layout.order = slow_replicas.layout.order;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CHECK(kinds_of_stage(fast.cluster, fast.layout, stage) == std::vector<std::size_t>{stage / 2});
    CHECK(kinds_of_stage(fast.cluster, fast_replicas.layout, stage) ==
          std::vector<std::size_t>{0, 1});
  }
  CHECK(step_of(fast) < step_of(slow));
  CHECK(step_of(fast_replicas) == step_of(slow_replicas));
  const auto by_events = [](const Experiment& job) {
    return simulated(PreparedExperiment(job).plan(job.plans[0]), job).prediction.step;
  };
  CHECK(by_events(fast) < by_events(slow));
  CHECK(by_events(fast_replicas) == by_events(slow_replicas));
}

TEST_CASE("each stage computes, encodes and updates as on nodes of its own kind") {
  const Experiment job = test::with_plans(with_fast_half(gpt_job(4), 3), {test::shrink(8, 4)});
  REQUIRE(check(job).empty());
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[1]);
  for (std::size_t s = 0; s < 4; ++s) {
    const Experiment alone = on_kind(job, s / 2);
    const StepPlan alike = PreparedExperiment(alone).plan(alone.plans[1]);
    CHECK(*plan.stages[s].compute == *alike.stages[s].compute);
    CHECK(plan.stages[s].optimizer == alike.stages[s].optimizer);
    REQUIRE(plan.buckets(s).size() == alike.buckets(s).size());
    for (std::size_t b = 0; b < plan.buckets(s).size(); ++b) {
      const BucketKind& mine = plan.kind(plan.buckets(s)[b]);
      const BucketKind& theirs = alike.kind(alike.buckets(s)[b]);
      CHECK(mine.rounds[0].encode == theirs.rounds[0].encode);
      CHECK(mine.rounds[0].message == theirs.rounds[0].message);
      CHECK(mine.decode == theirs.decode);
    }
  }
}

// Where the second stage and two sends fit beside the first stage, that one is never idle between
// the first micro-batch and the last (one forward, one backward).
TEST_CASE("a micro-batch more takes as long as the slow kind's stage works on it") {
  Experiment job = with_fast_half(gpt_job(2), 4);
  job.layout.stage_layers = {12, 4};
  const auto with = [&](int micro_batches) {
    job.layout.micro_batches = micro_batches;
    return step_of(job);
  };
  const Seconds more = with(21) - with(20);
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const StageCompute& slow = *plan.stages[0].compute;
  const StageCompute& fast = *plan.stages[1].compute;
  REQUIRE(fast.forward_time() + fast.backward_time() + plan.stages[0].send_forward.alone +
              plan.stages[1].send_backward.alone <
          slow.forward_time() + slow.backward_time());
  const double beside_sends = 1 / (1 - plan.sends_on(0));
  const Seconds alone = slow.forward_time() + slow.backward_time();
  CHECK(more >= 0.999 * alone);
  CHECK(more <= beside_sends * alone);
}

TEST_CASE("more layers on the fast kind save time") {
  Experiment even = with_fast_half(gpt_job(2), 3);
  even.layout.stage_layers = {8, 8};
  Experiment uneven = even;
  uneven.layout.stage_layers = {5, 11};
  CHECK(step_of(uneven) < 0.9 * step_of(even));
}

TEST_CASE("replicas on two kinds go at the pace of the slower GPU and of the narrower NIC") {
  const Experiment job = gpt_job(1);
  const bool slow_first = GENERATE(true, false);
  Experiment gpus = job;
  gpus.cluster = split(job.cluster, {2, 2});
  make_faster(gpus.cluster.kinds[slow_first ? 1 : 0].gpu, 2.5);
  settle(gpus.cluster);
  CHECK(step_of(gpus) == step_of(job));
  CHECK(simulated(PreparedExperiment(gpus).plan(gpus.plans[0]), gpus).prediction.step ==
        simulated(PreparedExperiment(job).plan(job.plans[0]), job).prediction.step);

  Experiment nics = job;
  nics.cluster = split(job.cluster, {2, 2});
  nics.cluster.kinds[slow_first ? 0 : 1].nic = 10_Gbps;
  settle(nics.cluster);
  Experiment narrow = job;
  narrow.cluster.nic = 10_Gbps;
  CHECK(step_of(nics) == step_of(narrow));

  // One kind has the slower GPU, the other the narrower NIC: both are waited for.
  Experiment both = nics;
  make_faster(both.cluster.kinds[slow_first ? 0 : 1].gpu, 2.5);
  settle(both.cluster);
  CHECK(step_of(both) == step_of(narrow));
}

TEST_CASE("a send between kinds takes what it takes between the slower nodes") {
  Experiment job = gpt_job(4);
  job.cluster = split(job.cluster, {2, 2});
  job.cluster.kinds[1].nic = 25_Gbps;
  const StepPlan plan = PreparedExperiment(job).plan(job.plans[0]);
  const auto sends_on = [&](std::size_t kind) {
    const Experiment alone = on_kind(job, kind);
    return PreparedExperiment(alone).plan(alone.plans[0]).stages[0].send_forward.alone;
  };
  const Seconds fast = sends_on(0);
  const Seconds slow = sends_on(1);
  REQUIRE(fast < slow);
  CHECK(plan.stages[0].send_forward.alone == fast);
  CHECK(plan.stages[1].send_forward.alone == slow);  // to the other kind
  CHECK(plan.stages[2].send_backward.alone == slow);
  CHECK(plan.stages[2].send_forward.alone == slow);
}

TEST_CASE("the sum that both ends hold is bound by the narrower one") {
  Experiment job = gpt_job(2);
  std::get<TransformerShape>(job.model).tied_embeddings = true;
  job.cluster = split(job.cluster, {2, 2});
  job.cluster.kinds[1].nic = 25_Gbps;
  const Experiment narrow = on_kind(job, 1);
  REQUIRE(copies_embedding(job));
  CHECK(PreparedExperiment(job).plan(job.plans[0]).tied_gradients ==
        PreparedExperiment(narrow).plan(narrow.plans[0]).tied_gradients);
}

TEST_CASE("each stage has to fit the memory of its own GPU") {
  Experiment job = with_fast_half(gpt_job(2), 1);
  const Memory alike = PreparedExperiment(job).predict(job.plans[0]).memory;
  Cluster& last = job.cluster.kinds[1];
  last.gpu.memory = 0.5 * alike.total();
  const Memory small = PreparedExperiment(job).predict(job.plans[0]).memory;
  CHECK(small.capacity == last.gpu.memory);
  CHECK_FALSE(small.fits());
  last.gpu.memory = 1000_GB;
  const Memory large = PreparedExperiment(job).predict(job.plans[0]).memory;
  CHECK(large.capacity == job.cluster.kinds[0].gpu.memory);
  // A stage on both kinds has to fit the smaller one.
  Experiment replicas = gpt_job(1);
  replicas.cluster = split(replicas.cluster, {1, 3});
  replicas.cluster.kinds[1].gpu.memory = 7_GB;
  CHECK(PreparedExperiment(replicas).predict(replicas.plans[0]).memory.capacity == 7_GB);
}

// Pieces and buckets of equal stages are alike, whatever their GPUs: units are not.
TEST_CASE("a kind's units are a stage's own in both engines") {
  Experiment job = gpt_job(4);
  job.cluster = split(job.cluster, {2, 2});
  job.cluster.kinds[1].gpu.compute_units = 30;
  const PreparedExperiment prepared(job);
  StepPlan plan = prepared.plan(job.plans[0]);
  CHECK(plan.reserved_on(0) < plan.reserved_on(3));
  CHECK(plan.sends_on(0) < plan.sends_on(3));
  const Seconds right = prepared.predict(plan).step;
  CHECK_THAT(sim::simulate(plan, {}).prediction.step / right, WithinRel(1.0, 1e-3));
  std::swap(plan.units.front(), plan.units.back());
  const Seconds wrong = evaluate(plan).step;
  CHECK(std::abs(wrong / right - 1) > 1e-6);
  CHECK_THAT(sim::simulate(plan, {}).prediction.step / wrong, WithinRel(1.0, 1e-3));
}

TEST_CASE("the simulator's links are those of each stage's nodes, the narrowest of several") {
  Experiment job = gpt_job(2);
  job.cluster = split(job.cluster, {1, 3});
  job.cluster.kinds[1].nic = 25_Gbps;
  job.cluster.kinds[1].fabric.per_gpu = 50_GBps;
  const sim::Platform both(job.cluster, job.layout);
  const auto capacity = [](const sim::Platform& platform, const std::string& name) {
    for (const sim::Link& link : platform.links()) {
      if (link.name == name) {
        return link.capacity;
      }
    }
    return Bandwidth{};
  };
  CHECK(capacity(both, "NICs out of the node of stage 0") == 25_Gbps);
  Experiment apart = job;
  apart.cluster.kinds[0].nodes = 2;
  apart.cluster.kinds[1].nodes = 2;
  const sim::Platform two(apart.cluster, apart.layout);
  CHECK(capacity(two, "NICs out of the node of stage 0") == 100_Gbps);
  CHECK(capacity(two, "NICs out of the node of stage 1") == 25_Gbps);
  CHECK(capacity(two, "switch out of the GPU of stage 0") == 150_GBps);
  CHECK(capacity(two, "switch out of the GPU of stage 1") == 50_GBps);
}

TEST_CASE("a prepared job on several kinds changes as if it had been prepared so") {
  Experiment job = with_fast_half(gpt_job(4), 2);
  PreparedExperiment prepared(job);
  JobNumbers numbers = numbers_of(job);
  numbers.micro_batch = 2;
  numbers.micro_batches = 12;
  numbers.bucket = 4_MiB;
  prepared.change(numbers);
  Experiment other = job;
  set_numbers(numbers, other);
  CHECK(prepared.predict(job.plans[0]).step == step_of(other));
  // A line rate is one of all NICs.
  numbers.nic = 10_Gbps;
  prepared.change(numbers);
  set_nic_rate(other.cluster, 10_Gbps);
  CHECK(prepared.predict(job.plans[0]).step == step_of(other));
  // And a remedy of it.
  Training training = job.training;
  training.bucket = 8_MiB;
  const PreparedExperiment remedy(PreparedExperiment(job), training, 4);
  job.training.bucket = 8_MiB;
  job.layout.micro_batches = 4;
  CHECK(remedy.predict(job.plans[0]).step == step_of(job));
}

TEST_CASE("what nodes of several kinds cannot do is refused, all reasons at once") {
  using Paths = std::vector<std::string>;
  Experiment job = with_fast_half(gpt_job(2), 2);
  CHECK(problems_of(job) == Paths{});
  Experiment counts = job;
  counts.cluster.kinds[1].nodes = 3;
  CHECK(problems_of(counts) == Paths{"cluster.node_kinds"});
  Experiment several = job;
  several.cluster.kinds[1].gpus_per_node = 8;
  several.cluster.kinds[1].network.name = "another";
  several.cluster.kinds[1].fabric.spans_nodes = true;
  CHECK(problems_of(several) == Paths(3, "cluster.node_kinds.1"));
  Experiment twins = job;
  twins.cluster.kinds[1].network.name = "net-nogdr";
  twins.cluster.kinds[1].network.twin = "net";
  CHECK(problems_of(twins) == Paths{});
  Experiment precision = job;
  precision.cluster.kinds[1].gpu.peak[Precision::fp16] = {};
  CHECK(problems_of(precision) == Paths{"training.precision"});
  Experiment host = test::with_plans(job, {test::shrink(4, 2)});
  CHECK(problems_of(host) == Paths{});
  host.plans[1].method->host.emplace();
  CHECK(problems_of(host) == Paths{"compress.0"});
}

TEST_CASE("peaks and powers are means over all GPUs") {
  Experiment job = gpt_job(2);
  job.cluster = split(job.cluster, {1, 3});
  make_faster(job.cluster.kinds[1].gpu, 3);
  job.cluster.kinds[0].gpu.power = {300};
  job.cluster.kinds[1].gpu.power = {700};
  CHECK_THAT(mean_peak(job.cluster, Precision::fp16) / 250_TFLOPps, WithinRel(1.0, 1e-12));
  CHECK_THAT(mean_power(job.cluster).si, WithinRel(600.0, 1e-12));
  job.cluster.kinds[1].gpu.power = {};
  CHECK(mean_power(job.cluster) == Watts{});
}
