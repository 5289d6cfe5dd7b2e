// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "study/advice.hpp"
#include "study/break_even.hpp"
#include "study/plan_axes.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catalogue/mixture_job.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Compression of tokens on their way to the ranks of their experts and back.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

using test::compressed;
using test::mixture_job;

// DeepEP's tests at 031a5c4 (tests/test_intranode.py): bytes of an FP8 dispatch with a 4-byte scale
// for 128 elements, over those in BF16.
constexpr double deepep_fp8_factor = (1 + 4.0 / 128) / 2;

CompressionPlan fp8_dispatch() {
  return compressed(test::method("fp8_block"), Traffic::ep_dispatch, true, true);
}

StepPlan planned(Experiment job, const CompressionPlan& plan) {
  job = test::with_plans(std::move(job), {plan});
  const Problems problems = check(job);
  INFO((problems.empty() ? "" : problems.front().message));
  REQUIRE(problems.empty());
  return PreparedExperiment(job).plan(job.plans.back());
}

StepPlan uncompressed(const Experiment& job) { return PreparedExperiment(job).plan(job.plans[0]); }

std::vector<Message> to_experts_and_back(const std::vector<Piece>& pieces) {
  std::vector<Message> messages;
  for (const Piece& piece : pieces) {
    if (piece.message.kind == MessageKind::ep_activations && piece.message.size > 0_B) {
      messages.push_back(piece.message);
    }
  }
  return messages;
}

const StageCompute& first(const StepPlan& plan) { return *plan.stages.front().compute; }

std::string problem_of(const Experiment& job, const CompressionPlan& plan) {
  const Problems problems = check(test::with_plans(job, {plan}));
  return problems.empty() ? "" : problems.front().path + ": " + problems.front().message;
}

// Every method whose file lists tokens on the way to experts.
std::vector<Method> methods_for_tokens() {
  std::vector<Method> methods;
  for (const auto& [name, profile] : test::catalogue()) {
    const std::vector<std::string>& traffic = profile.notes.traffic;
    if (std::find(traffic.begin(), traffic.end(), "ep_dispatch") != traffic.end()) {
      methods.push_back(profile.profile.value);
    }
  }
  return methods;
}

}  // namespace

TEST_CASE("FP8 dispatch sends the bytes that DeepEP counts, and combine goes as it is") {
  const Experiment job = mixture_job();
  const auto before = to_experts_and_back(first(uncompressed(job)).forward);
  const auto after = to_experts_and_back(first(planned(job, fp8_dispatch())).forward);
  REQUIRE(before.size() == after.size());
  REQUIRE(before.size() == 2 * test::mixtures);
  for (std::size_t i = 0; i < before.size(); i += 2) {
    CHECK(after[i].collective == Collective::all_to_all);
    CHECK_THAT(after[i].size / before[i].size, WithinRel(deepep_fp8_factor, 1e-12));
    CHECK(after[i].alone < before[i].alone);
    CHECK(after[i + 1] == before[i + 1]);
  }
}

// Forward: dispatch, combine. Backward: gradients of outputs to the experts, those of tokens back.
TEST_CASE("dispatch is what goes to experts, combine what comes back, forward and backward") {
  const bool dispatches = GENERATE(true, false);
  const bool forward = GENERATE(true, false);
  const bool recomputed = GENERATE(true, false);
  Experiment job = mixture_job();
  job.layout.recompute = recomputed ? Recompute::full : Recompute::none;
  const StepPlan before = uncompressed(job);
  const StepPlan after = planned(
      job, compressed(test::method("fp8_block"),
                      dispatches ? Traffic::ep_dispatch : Traffic::ep_combine, forward, !forward));
  const auto shrunk = [&](const std::vector<Piece>& now, const std::vector<Piece>& then) {
    std::string text;
    const auto messages = to_experts_and_back(now);
    const auto dense = to_experts_and_back(then);
    REQUIRE(messages.size() == dense.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      text += messages[i].size < dense[i].size ? '-' : '=';
    }
    return text;
  };
  const std::string mine = dispatches ? "-=" : "=-";
  const auto repeated = [](const std::string& one) {
    std::string all;
    for (int i = 0; i < test::mixtures; ++i) {
      all += one;
    }
    return all;
  };
  CHECK(shrunk(first(after).forward, first(before).forward) == repeated(forward ? mine : "=="));
  // Computed again a layer is sent again as it was forward.
  const std::string again = recomputed ? (forward ? mine : "==") : "";
  CHECK(shrunk(first(after).backward, first(before).backward) ==
        repeated(again + (forward ? "==" : mine)));
}

TEST_CASE("a token is encoded once for all its experts, and what comes back once for each") {
  const double load = GENERATE(1.0, 1.25);
  Experiment job = mixture_job();
  job.layout.expert_imbalance = load;
  const double tokens = test::mixture_tokens * test::mixture_hidden;
  const double copies = test::mixture_experts_of_token * tokens;
  const auto bytes = [&](Traffic traffic, WorkKind kind) {
    const Experiment with =
        test::with_plans(job, {compressed(test::method("fp8_block"), traffic, true, false)});
    std::vector<double> found;
    for (const CodecPass& pass : PreparedExperiment(with).codec_passes(with.plans.back())) {
      if (pass.work.kind == kind) {
        found.push_back(pass.cost.bytes / 1_B);
      }
    }
    REQUIRE(found.size() == 1);
    return found.front();
  };
  // Reads 2 bytes an element and writes 1 + 4 / 128 of them, or the other way round.
  constexpr double each = 2 + 1 + 4.0 / 128;
  using enum WorkKind;
  CHECK_THAT(bytes(Traffic::ep_dispatch, encode), WithinRel(each * tokens, 1e-12));
  CHECK_THAT(bytes(Traffic::ep_dispatch, decode), WithinRel(each * load * copies, 1e-12));
  CHECK_THAT(bytes(Traffic::ep_combine, encode), WithinRel(each * load * copies, 1e-12));
  CHECK_THAT(bytes(Traffic::ep_combine, decode), WithinRel(each * copies, 1e-12));
}

TEST_CASE("without a pipeline the step changes by codecs and messages, nothing of them hidden") {
  Experiment job = mixture_job();
  job.layout.micro_batches = 3;
  const Experiment with = test::with_plans(job, {fp8_dispatch()});
  const PreparedExperiment prepared(with);
  StepPlan before = prepared.plan(with.plans.front());
  StepPlan after = prepared.plan(with.plans.back());
  for (StepPlan* plan : {&before, &after}) {
    plan->stages.front().buckets.clear();  // gradients are hidden by more or less
  }
  const StageCompute& now = first(after);
  const Seconds codec = 3 * (now.forward_codec.total() + now.backward_codec.total());
  const Seconds messages = 3 * (now.expert_messages - first(before).expert_messages);
  CHECK(codec > 0_s);
  CHECK(messages < 0_s);
  CHECK_THAT((evaluate(after).step - evaluate(before).step).si,
             WithinAbs((codec + messages).si, 1e-12));
  CHECK_THAT((evaluate(after).waterfall.exposed_ep - evaluate(before).waterfall.exposed_ep).si,
             WithinAbs(messages.si, 1e-12));
}

TEST_CASE("the engines agree on compressed tokens in random mixtures, to the tick") {
  const std::vector<Method> methods = methods_for_tokens();
  REQUIRE(methods.size() >= 4);
  int compared = 0;
  int pipelines = 0;
  int divided = 0;
  for (int seed = 1; seed <= 300; ++seed) {
    const test::RandomMixture random =
        test::random_mixture(static_cast<std::uint64_t>(seed), methods);
    const Experiment job = test::with_plans(random.job, {random.plan});
    INFO("seed " << seed << ", " << random.plan.label);
    if (!check(job).empty()) {
      continue;
    }
    StepPlan step = PreparedExperiment(job).plan(job.plans.back());
    const double with_gradients = sim::simulate(step, {}).prediction.step / evaluate(step).step;
    CHECK_THAT(with_gradients, WithinAbs(1.0, 1e-3));
    step.send_share = 0;  // nothing is contended
    for (StagePlan& stage : step.stages) {
      stage.buckets.clear();
    }
    const sim::SimulatedStep simulated = sim::simulate(step, {});
    const StepPrediction evaluated = evaluate(step);
    const double ticks = std::abs(simulated.prediction.step.si - evaluated.step.si) * 1e12;
    CHECK(ticks <= static_cast<double>(simulated.path_activities));
    CHECK(codec_time(step) > 0_s);  // of some stage, not always the last to end
    CHECK_THAT(simulated.prediction.waterfall.encode.si,
               WithinRel(evaluated.waterfall.encode.si, 1e-6));
    CHECK_THAT(simulated.prediction.waterfall.exposed_ep.si,
               WithinRel(evaluated.waterfall.exposed_ep.si, 1e-6));
    CHECK_THAT(evaluated.waterfall.total().si, WithinRel(evaluated.step.si, 1e-9));
    ++compared;
    pipelines += job.layout.pp > 1 ? 1 : 0;
    divided += job.layout.etp > 1 ? 1 : 0;
  }
  CHECK(compared >= 150);
  CHECK(pipelines >= 30);
  CHECK(divided >= 10);
}

TEST_CASE("the break-even wire ratio of FP8 dispatch is that of what it compresses") {
  const Experiment job = test::with_plans(mixture_job(), {fp8_dispatch()});
  const std::vector<BreakEven> found = break_evens(job, {.points_per_decade = 2});
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].wire_ratio_now, WithinRel(1 / deepep_fp8_factor, 1e-9));
}

TEST_CASE("what a codec keeps of tokens is counted by what it encodes") {
  Method keeps = test::method("fp8_block");
  const auto formula = [&](const char* text) {
    return Expression::parse(text, formula_names(keeps.parameters)).expression;
  };
  keeps.state_bytes = formula("4 * n");
  keeps.saved_bytes = formula("n");
  const auto kept = [&](Traffic traffic) {
    const Experiment job =
        test::with_plans(mixture_job(), {compressed(keeps, traffic, true, true)});
    const PreparedExperiment prepared(job);
    const Memory before = prepared.predict(job.plans.front()).memory;
    const Memory after = prepared.predict(job.plans.back()).memory;
    return std::pair{after.codec_state - before.codec_state,
                     after.activations - before.activations};
  };
  const double tokens = test::mixtures * test::mixture_tokens * test::mixture_hidden;
  const double copies = test::mixture_experts_of_token * tokens;
  // State of both directions, one micro-batch of forward saved.
  CHECK(kept(Traffic::ep_dispatch) == std::pair{8 * tokens * 1_B, tokens * 1_B});
  CHECK(kept(Traffic::ep_combine) == std::pair{8 * copies * 1_B, copies * 1_B});
}

TEST_CASE("tokens that nobody sends, or that a method cannot send apart, are refused") {
  const auto dispatch = [](const Method& method, const BlockRange& blocks = {}) {
    return compressed(method, Traffic::ep_dispatch, true, false, blocks);
  };
  const Method fp8 = test::method("fp8_block");
  const Experiment job = mixture_job();
  CHECK(problem_of(job, dispatch(fp8)).empty());
  CHECK_THAT(problem_of(mixture_job({.ep = 1}), dispatch(fp8)),
             ContainsSubstring("ep is 1: no tokens are sent to experts of other ranks"));
  // The first block has an ordinary feed-forward.
  CHECK_THAT(problem_of(job, dispatch(fp8, {0, 0})),
             ContainsSubstring("none of the blocks that `fp8_block` is to compress sends tokens"));
  CHECK_THAT(problem_of(job, dispatch(fp8, {1, 6})), ContainsSubstring("has blocks 0 to 5"));
  const char* apart = "does not divide into as many equal parts";
  CHECK_THAT(problem_of(job, dispatch(test::method("nvfp4"))), ContainsSubstring(apart));
  CHECK_THAT(problem_of(job, dispatch(test::method("activation_quantization"))),
             ContainsSubstring(apart));
  CHECK_THAT(problem_of(job, dispatch(test::method("fp8_block", {{"group", 96}}))),
             ContainsSubstring(apart));
  CHECK_THAT(problem_of(job, dispatch(test::method("autoencoder"))),
             ContainsSubstring("those of tokens come back from experts in other messages"));
  const Method divides = test::method("flash_communication", {{"bits", 8}, {"group", 16}});
  CHECK(problem_of(job, dispatch(divides)).empty());
  Experiment narrow = job;
  narrow.training.precision = Precision::fp8;
  narrow.cluster.gpu.peak[Precision::fp8] = 200_TFLOPps;
  narrow.cluster.gpu.peak[Precision::bf16] = 100_TFLOPps;
  // fp8 products read casts of tokens that stand in 16 bits: half of them is saved all the same.
  CHECK(problem_of(narrow, dispatch(fp8)).empty());
}

TEST_CASE("advice chooses how to compress tokens on the way to experts and back each by itself") {
  Experiment job = test::with_plans(
      mixture_job({.nic = 1_Gbps}),
      {fp8_dispatch(), compressed(test::method("flash_communication", {{"bits", 4}}),
                                  Traffic::ep_combine, true, true)});
  AdviceOptions options;
  options.draws = 16;
  const Advice advice = advise(job, options);
  REQUIRE(advice.advised > 0);
  const CompressionPlan& plan = advice.compared.plans[advice.advised];
  std::vector<Traffic> traffic;
  for (const ActivationCompression& of : plan.activations) {
    traffic.push_back(of.traffic);
  }
  CHECK(traffic == std::vector{Traffic::ep_dispatch, Traffic::ep_combine});
  CHECK_THAT(plan.label, ContainsSubstring("fp8_block:group=128,traffic=ep_dispatch"));
}
