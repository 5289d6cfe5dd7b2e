// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "study/break_even.hpp"
#include "study/plan_axes.hpp"
#include "study/spread.hpp"
#include "tests/catalogue/methods.hpp"
#include "tests/catalogue/transformer_job.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

// Compression of activations on their way between ranks that share a model.

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using test::compressed;

namespace {

constexpr Bytes dense = 33554432_B;  // 32 x 512 x 1024 values of 2 bytes

// As its implementation does it.
std::optional<CompressionPlan> usual_plan(const MethodProfile& profile, Traffic traffic) {
  const std::vector<std::string>& known = profile.notes.traffic;
  const std::string name(name_of(traffic));
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return std::nullopt;
  }
  const auto usual = profile.notes.directions.find(name);
  const Directions directions =
      usual == profile.notes.directions.end() ? Directions{} : usual->second;
  return compressed(profile.profile.value, traffic, directions.forward, directions.backward);
}

Experiment with(Experiment job, const CompressionPlan& plan) {
  job.cluster.gpu.architecture = Architecture::hopper;  // NCCL adds every format there
  return test::with_plans(std::move(job), {plan});
}

StepPlan planned(const Experiment& job) {
  INFO(job.plans.back().label);
  const Problems problems = check(job);
  INFO((problems.empty() ? "" : problems.front().message));
  REQUIRE(problems.empty());
  return PreparedExperiment(job).plan(job.plans.back());
}

// Of the blocks: what is not compressed in the job goes in messages of another size.
std::vector<Message> tensor_messages(const StepPlan& plan, bool forward) {
  std::vector<Message> messages;
  for (const StagePlan& stage : plan.stages) {
    for (const Piece& piece : forward ? stage.compute->forward : stage.compute->backward) {
      if (piece.message.kind == MessageKind::tp_activations && piece.message.size > 0_B) {
        messages.push_back(piece.message);
      }
    }
  }
  return messages;
}

}  // namespace

TEST_CASE("codecs make no pass that is in no piece of the plan") {
  // The whole sum is decoded once for each rank, of its halves each rank decodes a part.
  for (const Traffic traffic : {Traffic::tp_activations, Traffic::pp_activations}) {
    Experiment job =
        with(test::bert_large_job(2, 2),
             compressed(test::method("activation_quantization"), traffic, true, false));
    job.layout.sequence_parallel = true;
    const StepPlan plan = planned(job);
    const auto passes = PreparedExperiment(job).codec_passes(job.plans.back());
    CHECK_FALSE(passes.empty());
    for (const CodecPass& pass : passes) {
      const auto runs = [&](const Piece& piece) { return piece.work == pass.work; };
      CHECK(std::any_of(plan.stages.begin(), plan.stages.end(), [&](const StagePlan& stage) {
        const StageCompute& compute = *stage.compute;
        return std::any_of(compute.forward.begin(), compute.forward.end(), runs) ||
               std::any_of(compute.backward.begin(), compute.backward.end(), runs);
      }));
    }
  }
}

TEST_CASE("messages of MCBench's fine-tuning have their published sizes") {
  const auto size = [](const char* name, const std::map<std::string, double>& parameters) {
    const StepPlan plan =
        planned(with(test::bert_large_job(2, 1), compressed(test::method(name, parameters),
                                                            Traffic::tp_activations, true, false)));
    return tensor_messages(plan, true).at(1).size;  // the first one is of the embedding
  };
  const StepPlan plain = planned(with(
      test::bert_large_job(2, 1),
      compressed(test::method("autoencoder"), Traffic::tp_activations, true, false, {23, 23})));
  CHECK(tensor_messages(plain, true).at(1).size == dense);
  CHECK(size("autoencoder", {{"dim", 50}}) == 1638400_B);
  CHECK(size("autoencoder", {{"dim", 100}}) == 3276800_B);
  // Gathered from two ranks, with an fp16 scale for each of 1,024 channels.
  CHECK(size("activation_quantization", {{"bits", 8}}) == 2 * (16777216_B + 2048_B));
  CHECK(size("activation_quantization", {{"bits", 4}}) == 2 * (8388608_B + 2048_B));
  CHECK(size("activation_quantization", {{"bits", 2}}) == 2 * (4194304_B + 2048_B));
}

TEST_CASE("Top-K of MCBench sends ten bytes a value forward and two back") {
  const Method method = test::method("activation_topk", {{"k", 100000}});
  const StepPlan plan = planned(
      with(test::bert_large_job(1, 2), compressed(method, Traffic::pp_activations, true, true)));
  CHECK(plan.stages[0].send_forward.size == 1000000_B);
  CHECK(plan.stages[1].send_backward.size == 200000_B);
}

TEST_CASE("quantised activations go forward between stages, their gradients back as they are") {
  const auto job = [](const char* name, bool backward) {
    return planned(with(test::bert_large_job(1, 2),
                        compressed(test::method(name), Traffic::pp_activations, true, backward)));
  };
  const StepPlan quantised = job("activation_quantization", false);
  CHECK(quantised.stages[0].send_forward.size == 16777216_B + 2048_B);
  CHECK(quantised.stages[1].send_backward.size == dense);
  const StepPlan encoded = job("autoencoder", true);
  CHECK(encoded.stages[0].send_forward.size == 1638400_B);
  CHECK(encoded.stages[1].send_backward.size == 1638400_B);
}

TEST_CASE("compressing forward sums of the last half of the layers saves a quarter of the bytes") {
  // 24 layers, two sums forward and two backward in each; 24 of 96 go as 1.6 MB.
  const auto bytes = [](const StepPlan& plan) {
    Bytes sum;
    for (const bool forward : {true, false}) {
      for (const Message& message : tensor_messages(plan, forward)) {
        sum += message.size;
      }
    }
    return sum;
  };
  const Experiment job =
      with(test::bert_large_job(2, 2),
           compressed(test::method("autoencoder"), Traffic::tp_activations, true, false, {12, 23}));
  const PreparedExperiment prepared(job);
  const Bytes before = bytes(prepared.plan(job.plans.front()));
  CHECK(before - bytes(planned(job)) == 24 * (dense - 1638400_B));
}

TEST_CASE("an auto-encoder costs two products a sum forward and four in backward") {
  const Method method = test::method("autoencoder", {{"dim", 50}});
  const Experiment job =
      with(test::bert_large_job(2, 1), compressed(method, Traffic::tp_activations, true, false));
  const StepPlan plan = planned(job);
  const StageCompute& compute = *plan.stages[0].compute;
  const Gpu& gpu = job.cluster.gpu;
  const double product =
      2.0 * 16384 * 1024 * 50 / (gpu.peak[Precision::fp16].si * method.law.gemm_efficiency);
  const auto kernel = [&](double products) {
    const double bytes = 2.0 * products * (16384.0 * 1024 + 50 * (16384 + 1024));
    const double cached = std::min(bytes, products * gpu.l2.si);
    const double memory = gpu.memory_bandwidth.si;
    const double time = products * (gpu.law.launch.si + product) +
                        cached / (memory * method.law.resident_efficiency) +
                        (bytes - cached) / (memory * method.law.memory_efficiency);
    return std::max(time, products * method.law.dispatch.si);
  };
  CHECK_THAT(compute.forward_codec.encode.si, WithinRel(48 * kernel(1), 1e-9));
  CHECK_THAT(compute.forward_codec.decode.si, WithinRel(48 * kernel(1), 1e-9));
  CHECK_THAT(compute.backward_codec.encode.si, WithinRel(48 * kernel(2), 1e-9));
  CHECK_THAT(compute.backward_codec.decode.si, WithinRel(48 * kernel(2), 1e-9));
}

TEST_CASE("with one micro-batch a codec between two stages is on the critical path, both ways") {
  const Experiment job =
      with(test::bert_large_job(1, 2, 1),
           compressed(test::method("autoencoder"), Traffic::pp_activations, true, true));
  const PreparedExperiment prepared(job);
  StepPlan before = prepared.plan(job.plans.front());
  StepPlan after = prepared.plan(job.plans.back());
  Seconds codec;
  Seconds sends;
  for (std::size_t s = 0; s < 2; ++s) {
    const StageCompute& compute = *after.stages[s].compute;
    codec += compute.forward_codec.total() + compute.backward_codec.total();
  }
  sends += after.stages[0].send_forward.alone - before.stages[0].send_forward.alone;
  sends += after.stages[1].send_backward.alone - before.stages[1].send_backward.alone;
  CHECK(codec > 0_s);
  CHECK(sends < 0_s);
  CHECK_THAT((evaluate(after).step - evaluate(before).step).si,
             WithinAbs((codec + sends).si, 1e-12));
}

TEST_CASE("the engines agree on every method that compresses activations") {
  int compared = 0;
  for (const auto& [name, profile] : test::catalogue()) {
    for (const Traffic traffic : {Traffic::tp_activations, Traffic::pp_activations}) {
      const auto plan = usual_plan(profile, traffic);
      for (const bool sequence_parallel : {false, true}) {
        Experiment job = test::bert_large_job(2, 2);
        job.layout.sequence_parallel = sequence_parallel;
        if (!plan || (sequence_parallel && name == "activation_powersgd")) {
          continue;  // sums whole factors
        }
        INFO(name << " of " << name_of(traffic) << (sequence_parallel ? ", scattered" : ""));
        StepPlan step = planned(with(job, *plan));
        step.send_share = 0;  // nothing is contended
        const sim::SimulatedStep simulated = sim::simulate(step, {});
        const StepPrediction evaluated = evaluate(step);
        const double ticks = std::abs(simulated.prediction.step.si - evaluated.step.si) * 1e12;
        CHECK(ticks <= static_cast<double>(simulated.path_activities));
        // The first stage ends the step: it encodes what goes forward, and decodes what comes back.
        const bool forward = plan->activations.front().forward;
        CHECK((forward ? evaluated.waterfall.encode : evaluated.waterfall.decode) > 0_s);
        CHECK_THAT(simulated.prediction.waterfall.encode.si,
                   WithinRel(evaluated.waterfall.encode.si, 1e-6));
        CHECK_THAT(simulated.prediction.waterfall.decode.si,
                   WithinRel(evaluated.waterfall.decode.si, 1e-6));
        CHECK_THAT(evaluated.waterfall.total().si, WithinRel(evaluated.step.si, 1e-9));
        ++compared;
      }
    }
  }
  CHECK(compared >= 30);
}

TEST_CASE("gradients and activations are compressed in one plan, each by its own method") {
  Experiment job = test::bert_large_job(2, 2);
  job.layout.dp = 2;
  job.cluster.nodes = 2;
  CompressionPlan both =
      compressed(test::method("autoencoder"), Traffic::tp_activations, true, false);
  both.method = test::method("powersgd");
  both.activations.push_back(
      {test::method("activation_quantization"), Traffic::pp_activations, true, false, {}});
  const StepPlan plan = planned(with(job, both));
  CHECK(plan.stages[0].send_forward.size == 16777216_B + 2048_B);
  CHECK(plan.kinds.front().rounds.size() > 1);
  // Each codec's own uncertainty: pieces know their method.
  bool of_sums = false;
  bool of_sends = false;
  for (const Piece& piece : plan.stages[0].compute->forward) {
    if (is_codec(piece.work.kind)) {
      of_sums = of_sums || piece.work.method == 1;
      of_sends = of_sends || piece.work.method == 2;
      CHECK(piece.work.method > 0);
    }
  }
  CHECK(of_sums);
  CHECK(of_sends);
}

TEST_CASE("draws move a codec of activations by its own latent, and nothing else by it") {
  const Experiment job =
      with(test::bert_large_job(2, 2),
           compressed(test::method("autoencoder"), Traffic::tp_activations, true, false));
  const StepPlan plan = planned(job);
  Ensemble ensemble({{plan, {{0.2, 1}}}}, 0.1);
  Draw draw;
  draw.codecs = {0.0, 1.5};
  const StepPlan slower = ensemble.scaled(0, draw);
  const StageCompute& before = *plan.stages[0].compute;
  const StageCompute& after = *slower.stages[0].compute;
  CHECK_THAT(after.forward_codec.encode / before.forward_codec.encode,
             WithinRel(std::exp(0.3), 1e-12));
  CHECK_THAT(after.backward_codec.decode / before.backward_codec.decode,
             WithinRel(std::exp(0.3), 1e-12));
  CHECK(after.forward_work == before.forward_work);
  CHECK(after.forward_messages == before.forward_messages);
  CHECK(ensemble.step(0, {}) == evaluate(plan).step);
}

TEST_CASE("break-evens of compressed activations: what they send, and what their codecs take") {
  const CompressionPlan sums =
      compressed(test::method("autoencoder"), Traffic::tp_activations, true, false, {12, 23});
  const Experiment job = with(test::bert_large_job(2, 2), sums);
  const std::vector<BreakEven> found = break_evens(job, {.points_per_decade = 2});
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].wire_ratio_now, WithinRel(dense / 1638400_B, 1e-9));
  CHECK_FALSE(found[0].bandwidth);  // one node
  // Of the second stage, which holds these blocks.
  const StepPlan plan = planned(job);
  const StageCompute& compute = *plan.stages[1].compute;
  const Seconds codec =
      job.layout.micro_batches * (compute.forward_codec.total() + compute.backward_codec.total());
  CHECK(codec > 0_s);
  CHECK_THAT(found[0].codec_time_now / codec, WithinRel(1.0, 1e-12));
  // At the end of the interval nothing is gained but the band.
  REQUIRE(found[0].codec_time->intervals.size() == 1);
  const Seconds end = found[0].codec_time->intervals[0].high;
  const StepPlan at_end = stretched_codec(planned(job), end / codec);
  const Seconds rival = evaluate(PreparedExperiment(job).plan(job.plans.front())).step;
  CHECK_THAT(rival / evaluate(at_end).step, WithinAbs(1.0 + noise_band, 1e-3));
}

TEST_CASE("a codec of activations that takes no time is on no axis of its time") {
  Method free = *test::shrink(2, 0).method;
  free.granularity = Granularity::tensor;
  const Experiment job =
      with(test::bert_large_job(2, 2), compressed(free, Traffic::pp_activations, true, true));
  CHECK(codec_time(planned(job)) == 0_s);
  const BreakEven found = break_evens(job, {.points_per_decade = 2}).at(0);
  CHECK_FALSE(found.codec_time);
  CHECK(found.wire_ratio);
  CHECK(found.codec_time_now == 0_s);
}

TEST_CASE("what codecs of activations keep is counted in the memory of the fullest GPU") {
  const Experiment job =
      with(test::bert_large_job(2, 1),
           compressed(test::method("autoencoder"), Traffic::tp_activations, true, false));
  const PreparedExperiment prepared(job);
  const Memory before = prepared.predict(job.plans.front()).memory;
  const Memory after = prepared.predict(job.plans.back()).memory;
  // 48 pairs of 1,024 x 50 matrices; inputs of both, of one micro-batch.
  CHECK(after.codec_state - before.codec_state == 48 * 2 * 1024 * 50 * 2_B);
  CHECK(after.activations - before.activations == 48 * (dense + 1638400_B));
}

TEST_CASE("with sequence parallelism parts are summed compressed, or exchanged and then added up") {
  const auto collectives = [](const char* name) {
    Experiment job = test::bert_large_job(2, 1);
    job.layout.sequence_parallel = true;
    const StepPlan plan =
        planned(with(job, compressed(test::method(name), Traffic::tp_activations, true, false)));
    const std::vector<Message> messages = tensor_messages(plan, true);
    return std::vector<Message>{messages.at(2), messages.at(3)};  // after the embedding's two
  };
  const std::vector<Message> summed = collectives("autoencoder");
  CHECK(summed[0].collective == Collective::reduce_scatter);
  CHECK(summed[0].size == 1638400_B);
  CHECK(summed[1].collective == Collective::all_gather);
  CHECK(summed[1].size == 1638400_B);
  const std::vector<Message> exchanged = collectives("fp8_block");
  CHECK(exchanged[0].collective == Collective::all_to_all);
  CHECK(exchanged[0].size == 16777216_B + 16777216_B / 128 * 4);
  CHECK(exchanged[1].collective == Collective::all_gather);
  CHECK(exchanged[1].size == exchanged[0].size);
}

// MCBench draws the positions of Random-K one by one in Python: 0.6 us each where it was measured.
TEST_CASE("positions that the host draws cost every message of Random-K their time") {
  const auto step = [](bool drawn) {
    Method method = test::method("activation_randomk", {{"k", 160000}});
    if (!drawn) {
      method.rounds[0].encode.host_seconds = {};
    }
    return evaluate(
               planned(with(test::bert_large_job(2, 1, 4),
                            compressed(method, Traffic::tp_activations, true, false, {12, 23}))))
        .step;
  };
  // Two sums in the forward of each of 12 layers, of each of 4 micro-batches.
  CHECK_THAT((step(true) - step(false)) / 1_s, WithinRel(2 * 12 * 4 * 160000 * 0.6e-6, 1e-6));
}
