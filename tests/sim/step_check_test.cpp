// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/plans.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/two_nodes.hpp"

// What a step will cost, and what of it is refused before it runs.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::WithinRel;
using payoff::sim::SimulatedStep;

namespace {

SimulatedStep simulated(const StepPlan& plan) {
  REQUIRE(sim::check(plan, {}).empty());
  return sim::simulate(plan, {});
}

}  // namespace

TEST_CASE("what cannot be simulated is refused with a number and advice") {
  StepPlan plan = test::pipeline(2, 1000, 1, 1_ms, 2_ms);
  sim::SimOptions options;
  options.event_limit = 1000;
  const Problems many = sim::check(plan, {}, options);
  REQUIRE(many.size() == 1);
  CHECK_THAT(many.front().message, ContainsSubstring("4000 events"));
  CHECK_FALSE(many.front().help.empty());

  options = {};
  options.memory_limit = 1_KB;
  const Problems large = sim::check(plan, {}, options);
  REQUIRE(large.size() == 1);
  CHECK_THAT(large.front().message, ContainsSubstring(" of memory, more than 0 MB"));
  CHECK_FALSE(large.front().help.empty());

  plan.stages[0].optimizer = {WorkKind::optimizer, Seconds{1e7}};  // 115 days
  CHECK(sim::check(plan, {}).size() == 1);

  Cluster cluster = test::two_nodes();
  cluster.nic = Bandwidth{0};
  CHECK(sim::check(test::pipeline(2, 1, 1, 1_ms, 1_ms), sim::Platform(cluster, {.dp = 8, .pp = 2}))
            .size() == 4);  // in and out of both nodes
  for (const Problem& problem : sim::check(sim::Platform(cluster, {.dp = 8, .pp = 2}))) {
    CHECK(problem.path == "cluster.inter.bandwidth");
    CHECK_THAT(problem.message,
               ContainsSubstring("`NICs ") && ContainsSubstring("the capacity is not positive"));
  }
}

TEST_CASE("a step is refused for the clock only where no order of its work could fit") {
  // 1,000 micro-batches of 5,000 s: 58 days on either stage, both at once.
  StepPlan plan = test::pipeline(2, 1000, 1, Seconds{2000}, Seconds{3000});
  CHECK_THAT(simulated(plan).prediction.step.si, WithinRel(1001 * 5000.0, 1e-12));
  // 116 days on each.
  const Problems work =
      sim::check(test::pipeline(2, 2000, 1, Seconds{2000}, Seconds{3000}), sim::Platform());
  REQUIRE(work.size() == 1);
  CHECK(work[0].path == "layout.micro_batches");
  // 58 days of work, and 116 of gradients beside it.
  test::add_bucket(plan, 1, 0, 0_s, test::gradients(Seconds{1e7}), 0_s);
  const Problems messages = sim::check(plan, sim::Platform());
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].path == "cluster.inter.bandwidth");
}

// Each of them alone 116 days, on two nodes: the price of what leaves a node follows from the links
// between nodes, of what does not from those inside.
TEST_CASE("beyond the clock the traffic that is too slow is named, under the links that it takes") {
  constexpr Seconds days_116{1e7};
  const auto refused = [](const StepPlan& plan) {
    const sim::Platform platform(test::two_nodes(), plan.layout);
    const Problems problems = sim::check(plan, platform);
    REQUIRE(problems.size() == 1);
    return problems.front();
  };
  const auto inside_and_between = [&](auto plant, const char* traffic) {
    for (const bool inside : {true, false}) {
      StepPlan plan = test::pipeline(inside ? 2 : 1, 1000, 1, 1_ms, 1_ms);
      plan.layout.dp = inside ? 8 : 16;
      plant(plan);
      const Problem problem = refused(plan);
      INFO(problem.message);
      CHECK(problem.path == (inside ? "cluster.intra.bandwidth" : "cluster.inter.bandwidth"));
      CHECK_THAT(problem.message, ContainsSubstring(traffic));
    }
  };
  inside_and_between(
      [&](StepPlan& plan) { test::add_bucket(plan, 0, 0, 0_s, test::gradients(days_116), 0_s); },
      "by gradient messages alone");
  inside_and_between(
      [&](StepPlan& plan) {
        plan.kinds.push_back({});
        Message gather = test::gradients(days_116 / 1000);
        gather.kind = MessageKind::dp_weights;
        plan.kinds.back().rounds.push_back({{WorkKind::encode, 0_s}, gather});
        plan.stages[0].forward_gathers.push_back({0, plan.kinds.size() - 1});
      },
      "by gathers of weights of 1000 micro-batches alone");
  inside_and_between(
      [&](StepPlan& plan) {
        plan.stages[0].gather_weights = test::gradients(days_116);
        plan.stages[0].gather_weights.kind = MessageKind::dp_weights;
      },
      "by gathers of weights");
}

TEST_CASE("activations that a step waits for add up over micro-batches, with its work") {
  // 8 ranks of a node exchange for 6,000 s, twice a micro-batch; 800 of them are 111 days.
  StepPlan plan = test::pipeline(1, 800, 1, 1_ms, 1_ms);
  plan.layout.tp = 8;
  plan.stages[0].compute =
      std::make_shared<const StageCompute>(test::compute_of({1_ms}, {1_ms}, Seconds{6000}));
  const Problems messages = sim::check(plan, sim::Platform(test::two_nodes(), plan.layout));
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].path == "cluster.intra.bandwidth");
  CHECK_THAT(messages[0].message,
             ContainsSubstring("by activation messages of 800 micro-batches alone"));
  // 56 days of them, and 74 of work.
  plan.stages[0].compute = std::make_shared<const StageCompute>(
      test::compute_of({Seconds{4000}}, {Seconds{4000}}, Seconds{3000}));
  const Problems both = sim::check(plan, sim::Platform(test::two_nodes(), plan.layout));
  REQUIRE(both.size() == 1);
  CHECK(both[0].path == "layout.micro_batches");
  CHECK_THAT(both[0].message, ContainsSubstring("by the work and the messages of one GPU"));
}

TEST_CASE("codecs add up to the work of their stream, which is the GPU's own or another one") {
  // 58 days of work, and of encoding and decoding 2 x 29.
  constexpr Seconds days_29{2.5e6};
  StepPlan plan = test::pipeline(1, 1000, 1, Seconds{2000}, Seconds{3000});
  test::add_bucket(plan, 0, 0, days_29, test::gradients(1_ms), days_29);
  plan.placement = Placement::side_stream;
  CHECK(sim::check(plan, sim::Platform()).empty());
  plan.placement = Placement::compute_stream;
  const Problems together = sim::check(plan, sim::Platform());
  REQUIRE(together.size() == 1);
  CHECK(together[0].path == "layout.micro_batches");
  // 116 days of codecs alone, wherever they run.
  test::add_bucket(plan, 0, 0, days_29, test::gradients(1_ms), days_29);
  for (const Placement placement : {Placement::compute_stream, Placement::side_stream}) {
    plan.placement = placement;
    const Problems alone = sim::check(plan, sim::Platform());
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].path == "compress");
    CHECK_THAT(alone[0].message, EndsWith("by the encoders and decoders of one GPU alone"));
  }
}

TEST_CASE("a codec on the host is too much for the clock by its cores, or by its copies") {
  for (const bool cores : {true, false}) {
    StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 2_ms);
    test::add_bucket(plan, 0, 0, 0_s, test::gradients(1_ms), 0_s);
    HostWork& host = plan.kinds[0].rounds[0].host;
    host.any = true;
    (cores ? host.work : host.copy) = Seconds{9e6};
    CHECK(sim::check(plan, sim::Platform()).empty());  // 104 days
    plan.stages[0].buckets.push_back(plan.stages[0].buckets[0]);
    const Problems twice = sim::check(plan, sim::Platform());
    REQUIRE(twice.size() == 1);
    CHECK(twice[0].path == "compress");
    CHECK_THAT(twice[0].message, ContainsSubstring("of one GPU's host"));
  }
}

TEST_CASE("sends are too much for the clock where one is, all on one link, or one by one") {
  StepPlan plan = test::pipeline(2, 1000, 1, 1_ms, 1_ms);
  plan.layout.dp = 8;
  const auto send = [&](Seconds alone, Bytes size) {
    plan.stages[0].send_forward = {
        MessageKind::pp_activations, Collective::send_recv, size, alone, 0, 0};
    return sim::check(plan, sim::Platform(test::two_nodes(), plan.layout));
  };
  const Problems one = send(Seconds{1e7}, 1_MB);
  REQUIRE(one.size() == 1);
  CHECK(one[0].path == "cluster.inter.bandwidth");
  // The NIC takes all of these 10,000 s for the 8 ranks; they do not fit beside each other.
  const Problems all = send(Seconds{1e4}, Bytes{1e14});
  REQUIRE(all.size() == 1);
  CHECK(all[0].path == "cluster.inter.bandwidth");
  CHECK_THAT(all[0].message,
             ContainsSubstring("by sends between stages of 1000 micro-batches alone on `NICs"));
  // Of a megabyte each they fill no link, but go one at a time: 10,000,000 s, 116 days.
  const Problems queued = send(Seconds{1e4}, 1_MB);
  REQUIRE(queued.size() == 1);
  CHECK(queued[0].path == "cluster.inter.bandwidth");
  CHECK_THAT(queued[0].message, EndsWith("by sends between stages of 1000 micro-batches alone"));
  // 104 days fit, and there and back they do not wait for each other.
  CHECK(send(Seconds{9e3}, 1_MB).empty());
  plan.stages[1].send_backward = plan.stages[0].send_forward;
  CHECK(send(Seconds{9e3}, 1_MB).empty());
}

TEST_CASE("the refusal of memory names what takes most of it") {
  sim::SimOptions options;
  options.memory_limit = 1_KB;
  const auto blamed = [&](const StepPlan& plan) {
    const Problems problems = sim::check(plan, {}, options);
    REQUIRE(problems.size() == 1);
    return problems[0].path;
  };
  // 24 bytes for each of 4,000 operations, against 20 inputs on their way of 400.
  StepPlan queued = test::pipeline(2, 1000, 1, 1_ms, 2_ms);
  queued.layout.schedule = PipelineSchedule::gpipe;
  CHECK(blamed(queued) == "layout.micro_batches");
  CHECK(blamed(test::pipeline(8, 1, 1, 1_ms, 2_ms)) == "layout.pp");
  StepPlan plan = test::pipeline(1, 1, 1, 1_ms, 2_ms);
  for (std::size_t bucket = 0; bucket < 20; ++bucket) {
    test::add_bucket(plan, 0, 0, 0_s, test::gradients(1_ms), 0_s);
  }
  CHECK(blamed(plan) == "training.bucket");
}

TEST_CASE("the estimate of events is what happens") {
  for (int seed = 1; seed <= 200; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    for (const test::RandomPlan& random :
         {test::random_replicas(number), test::random_pipeline(number),
          test::random_v_pipeline(number)}) {
      INFO("seed " << seed << ", " << random.plan.stages.size() << " stages");
      CHECK(sim::estimate(random.plan).events == simulated(random.plan).events);
    }
  }
}

TEST_CASE("the estimate of memory counts what grows with the micro-batches") {
  // 1F1B and GPipe repeat themselves: the analytical answer keeps what a few micro-batches of each
  // stage take.
  constexpr int many = 1'048'576;
  const auto memory = [](PipelineSchedule schedule, int micro_batches) {
    StepPlan plan = test::pipeline(8, micro_batches, 1, 1_ms, 2_ms);
    plan.layout.schedule = schedule;
    return sim::estimate(plan).memory;
  };
  const Bytes repeated = memory(PipelineSchedule::one_f_one_b, many);
  CHECK(repeated == memory(PipelineSchedule::one_f_one_b, many / 2));
  // Few are all run: when and from where the input comes, 24 bytes, of 2 x 8 operations for each.
  // Of many what grows is what GPipe may have queued before a stage.
  const Bytes queued =
      memory(PipelineSchedule::gpipe, many) - memory(PipelineSchedule::gpipe, many / 2);
  CHECK(queued > 0_B);
  CHECK(queued < 2.0 * 8 * (many / 2) * 24_B);
  CHECK(memory(PipelineSchedule::gpipe, 96) - memory(PipelineSchedule::gpipe, 16) >=
        2.0 * 8 * (96 - 16) * 24_B);
  // Where backward is split every stage lists three operations for each micro-batch.
  CHECK(memory(PipelineSchedule::zb_h1, many) > repeated + 3.0 * 8 * many * 8_B);
}
