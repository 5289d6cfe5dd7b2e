// SPDX-License-Identifier: Apache-2.0
#include "study/scheduled_run.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "study/payoff.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using test::shrink;
using test::small_job;

namespace {

// Plan 1 compresses as two rounds, plan 2 sends less in one.
RunSchedule schedule(std::vector<RunPhase> phases) {
  return {{small_job().plans.front(), test::two_rounds(20, 2), shrink(100, 1)}, std::move(phases)};
}

RunPhase phase(std::size_t plan, double iterations) {
  RunPhase result;
  result.plan = plan;
  result.iterations = iterations;
  return result;
}

RunPayoff assess(std::vector<RunPhase> phases) {
  RunOptions options;
  options.draws = 32;
  return assess_run(small_job(), schedule(std::move(phases)), options);
}

Seconds step_of(std::size_t plan) {
  return PreparedExperiment(small_job()).predict(schedule({}).plans[plan]).step;
}

}  // namespace

TEST_CASE("a run takes the steps of its phases, each as long as it is predicted alone") {
  const RunPayoff run = assess({phase(1, 1000), phase(2, 3000)});
  CHECK_THAT(run.time.si, WithinRel((1000 * step_of(1) + 3000 * step_of(2)).si, 1e-12));
  CHECK_THAT(run.uncompressed.time.si, WithinRel((4000 * step_of(0)).si, 1e-12));
  CHECK(run.iterations == 4000);
  const Bytes sent = 1000 * run.phases[0].sending.sent + 3000 * run.phases[1].sending.sent;
  CHECK_THAT(run.sent.si, WithinRel(sent.si, 1e-12));
}

TEST_CASE("a run of one phase is judged as its plan is") {
  Experiment job = test::with_plans(small_job(), {test::two_rounds(20, 2)});
  AssessOptions options;
  options.draws = 32;
  const Payoff payoff = payoff::assess(job, options);
  const RunPayoff run = assess({phase(1, 500)});
  const Comparison& plan = payoff.plans[1].against_remedy;
  CHECK_THAT(run.against_remedy.speedup, WithinRel(plan.speedup, 1e-12));
  CHECK_THAT(run.against_remedy.speedup_low, WithinRel(plan.speedup_low, 1e-12));
  CHECK_THAT(run.against_remedy.speedup_high, WithinRel(plan.speedup_high, 1e-12));
  CHECK(run.verdict() == Payoff::verdict_of(payoff.plans[1]));
}

TEST_CASE("phases share their draws: an uncompressed run is as fast as itself in every draw") {
  const RunPayoff run = assess({phase(0, 100), phase(0, 300)});
  CHECK_THAT(run.against_uncompressed.speedup_low, WithinAbs(1.0, 1e-12));
  CHECK_THAT(run.against_uncompressed.speedup_high, WithinAbs(1.0, 1e-12));
  CHECK(run.time_low < run.time);
  CHECK(run.time < run.time_high);
}

TEST_CASE("iterations that convergence takes more cost the phase that needs them") {
  RunPhase slow = phase(2, 1000);
  slow.inflation = 0.25;
  const RunPayoff run = assess({phase(1, 1000), slow});
  CHECK(run.steps == 2250);
  CHECK_THAT(run.time.si, WithinRel((1000 * step_of(1) + 1250 * step_of(2)).si, 1e-12));
  CHECK_THAT(run.phases[1].against_uncompressed.speedup,
             WithinRel(step_of(0) / step_of(2) / 1.25, 1e-12));
}

TEST_CASE("the shares of a phase's steps are its expectation") {
  RunPhase mixed = phase(1, 1000);
  mixed.local_steps = 4;
  mixed.trigger_probability = 0.5;
  mixed.refresh = Refresh{2, 10};
  const StepShares shares = step_shares(mixed);
  CHECK_THAT(shares.refreshing, WithinAbs(0.1, 1e-15));
  CHECK_THAT(shares.sending, WithinAbs(0.9 / 8, 1e-15));
  CHECK_THAT(shares.silent, WithinAbs(0.9 * 7 / 8, 1e-15));
  const PhasePayoff result = assess({mixed}).phases.front();
  const Seconds expected = shares.sending * result.sending.step +
                           shares.silent * result.silent->step +
                           shares.refreshing * result.refreshing->step;
  CHECK_THAT(result.step.si, WithinRel(expected.si, 1e-12));
  CHECK(result.silent->sent == 0_B);
}

TEST_CASE("a silent step computes what a step computes, and nothing else") {
  const PreparedExperiment job(small_job());
  const StepPrediction whole = job.predict(schedule({}).plans[1]);
  const StepPrediction silent = evaluate(without_gradients(job.plan(schedule({}).plans[1])));
  CHECK(silent.waterfall.forward == whole.waterfall.forward);
  CHECK(silent.waterfall.backward == whole.waterfall.backward);
  CHECK(silent.waterfall.optimizer == whole.waterfall.optimizer);
  const Seconds computed = silent.waterfall.forward + silent.waterfall.backward +
                           silent.waterfall.optimizer + silent.waterfall.host;
  CHECK_THAT(silent.step.si, WithinRel(computed.si, 1e-12));
  CHECK(silent.dp_bytes == 0_B);
}

TEST_CASE("a silent step updates its weights where the software does so in backward, too") {
  Experiment job = small_job();
  const StepPlan plan = PreparedExperiment(job).plan(job.plans.front());
  const Seconds after = evaluate(without_gradients(plan)).waterfall.optimizer;
  job.software.optimizer_in_backward = true;
  const StepPrediction within =
      evaluate(without_gradients(PreparedExperiment(job).plan(job.plans.front())));
  // The same traffic, and a launch more for each bucket but one.
  const double more = static_cast<double>(plan.buckets(0).size()) - 1.0;
  const Seconds expected = after + more * job.cluster.gpu.law.launch;
  CHECK_THAT(within.waterfall.optimizer / expected, WithinRel(1.0, 1e-9));
  CHECK_THAT(within.waterfall.total() / within.step, WithinRel(1.0, 1e-12));
}

TEST_CASE("models are exchanged after the step, so nothing of it hides") {
  RunPhase local = phase(0, 1000);
  local.local_steps = 2;
  const PhasePayoff result = assess({local}).phases.front();
  CHECK(result.sending.step > step_of(0));
  const PreparedExperiment job(small_job());
  StepPlan alone = job.plan(small_job().plans.front());
  alone.overlap = false;
  CHECK_THAT(result.sending.step.si, WithinRel(evaluate(alone).step.si, 1e-12));
}

TEST_CASE("the more seldom models are exchanged, the shorter the run, down to silence") {
  Seconds last = 1e9_s;
  for (const double local_steps : {2.0, 8.0, 64.0}) {
    RunPhase local = phase(0, 1000);
    local.local_steps = local_steps;
    const RunPayoff run = assess({local});
    CHECK(run.time < last);
    CHECK(run.time > 1000 * run.phases.front().silent->step);
    last = run.time;
  }
}

TEST_CASE("sharded states know no silent steps") {
  RunPhase local = phase(0, 10);
  local.local_steps = 2;
  ParallelLayout layout;
  CHECK(check(schedule({local}), layout).empty());
  layout.zero = 1;
  const Problems problems = check(schedule({phase(0, 10), local}), layout);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().path == "run.phases.1.local_steps");
}

TEST_CASE("Accordion's runs took as long as the shares of their ranks say, within 1 %") {
  // Accordion (MLSys 2021, arXiv 2010.16248), tables 1 and 2: million floats sent and seconds, of
  // the higher and the lower rank and of the run that switches between them.
  struct Row {
    const char* network;
    double high_floats, high_seconds, low_floats, low_seconds, floats, seconds;
  };
  for (const Row& row : {Row{"ResNet-18, 10", 2418.4, 3509, 1350.4, 3386, 1571.8, 3398},
                         Row{"VGG-19, 10", 6752.0, 3613, 2074.9, 3158, 2945.1, 3220},
                         Row{"SENet, 10", 4361.3, 4689, 1392.6, 4134, 2264.4, 4298},
                         Row{"ResNet-18, 100", 2426.3, 3521, 1355.7, 3388, 1566.3, 3419},
                         Row{"DenseNet, 100", 3387.4, 13613, 2155.6, 12977, 2284.9, 13173},
                         Row{"SENet, 100", 2878.1, 5217, 1683.1, 4994, 2175.6, 5074}}) {
    INFO(row.network);
    constexpr double iterations = 300.0 * 98.0;
    const double share = (row.floats - row.low_floats) / (row.high_floats - row.low_floats);
    const RunPhase high = phase(1, share * iterations);
    const RunPhase low = phase(2, (1 - share) * iterations);
    const double predicted =
        high.steps() * row.high_seconds / iterations + low.steps() * row.low_seconds / iterations;
    CHECK_THAT(predicted, WithinRel(row.seconds, 0.01));
  }
}
