// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/experiment.hpp"
#include "model/layer_division.hpp"
#include "model/memory.hpp"
#include "tests/catch.hpp"
#include "tests/model/layers.hpp"
#include "tests/model/t5_jobs.hpp"

// How ranks divide an encoder with a decoder (T5): by heads, by blocks and by tokens, and what they
// send each other for it. s tokens of the encoder, t of the decoder, width h, heads of i together.

using namespace payoff;
using namespace payoff::test::t5_jobs;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using test::layer_named;

namespace {

Flops layer_flops(const Layer& layer) {
  Flops sum{};
  for (const Operator& op : layer.forward) {
    sum += forward_flops(op);
  }
  return sum;
}

// Bytes of tensor-parallel messages of one micro-batch, by collective.
struct Sent {
  Bytes reduced, gathered, scattered;
};
Sent sent(const std::vector<Piece>& pieces) {
  Sent sum;
  for (const Piece& piece : pieces) {
    const Message& message = piece.message;
    if (message.kind != MessageKind::tp_activations || message.size <= 0_B) {
      continue;
    }
    (message.collective == Collective::all_reduce   ? sum.reduced
     : message.collective == Collective::all_gather ? sum.gathered
                                                    : sum.scattered) += message.size;
  }
  return sum;
}

std::string problem_of(const Experiment& job) {
  const Problems problems = check(job);
  return problems.empty() ? "" : problems.front().path + ": " + problems.front().message;
}

}  // namespace

TEST_CASE("tensor parallelism divides the arithmetic of all blocks and their matrices") {
  const Workload whole = transformer_workload(shape_of(base), 1, false, 2_B);
  const Workload part = transformer_workload(shape_of(base), 4, false, 2_B);
  for (const char* name : {"encoder block 5", "decoder block 5"}) {
    const Layer& all = layer_named(whole, name);
    const Layer& one = layer_named(part, name);
    CHECK_THAT(4 * layer_flops(one) / layer_flops(all), WithinRel(1.0, 1e-12));
    for (std::size_t i = 0; i < all.parameters.size(); ++i) {
      const ParameterTensor& tensor = all.parameters[i];
      CHECK(one.parameters[i].elements() * (tensor.is_matrix ? 4 : 1) == tensor.elements());
    }
  }
}

// Shoeybi et al. 2019 for three parts of a block instead of two; keys and values need no sum
// forward, for all ranks have the encoder's output, and one for its gradient in every block.
TEST_CASE("a block of the decoder is summed three times forward and four times backward") {
  const double s = 512 * base.h * 2;
  const double t = 114 * base.h * 2;
  const double batch = 16;
  const PreparedExperiment prepared(job_of(shape_of(base), 4));
  const StepPlan plan = prepared.plan(prepared.experiment().plans.front());
  const StageCompute& stage = *plan.stages.front().compute;
  // Tables are divided too: sums of rows forward, and of what the head hands down.
  CHECK_THAT(sent(stage.forward).reduced / 1_B,
             WithinRel(batch * (s + 12 * 2 * s + t + 12 * 3 * t), 1e-12));
  CHECK_THAT(sent(stage.backward).reduced / 1_B,
             WithinRel(batch * (12 * 2 * s + 12 * (3 * t + s) + t), 1e-12));
}

TEST_CASE("with sequence parallelism every block of the decoder gathers the encoder's output") {
  const double s = 512 * base.h * 2;
  const double t = 114 * base.h * 2;
  const double batch = 16;
  const PreparedExperiment prepared(job_of(shape_of(base), 4, true));
  const StepPlan plan = prepared.plan(prepared.experiment().plans.front());
  const StageCompute& stage = *plan.stages.front().compute;
  const double ends = s + t;
  const double forward = 12 * 2 * s + 12 * 3 * t;
  CHECK_THAT(sent(stage.forward).scattered / 1_B, WithinRel(batch * (ends + forward), 1e-12));
  CHECK_THAT(sent(stage.forward).gathered / 1_B,
             WithinRel(batch * (ends + forward + 12 * s), 1e-12));
  CHECK_THAT(sent(stage.backward).scattered / 1_B,
             WithinRel(batch * (t + forward + 12 * s), 1e-12));
  CHECK_THAT(sent(stage.backward).gathered / 1_B, WithinRel(batch * (t + forward), 1e-12));
}

TEST_CASE("pieces of overlapped tensor parallelism divide the tokens of both stacks") {
  TransformerShape shape = shape_of(base);
  shape.decoder.sequence = 128;
  Experiment job = job_of(shape, 4, true);
  job.layout.tp_overlap = 4;
  REQUIRE(check(job).empty());
  CHECK(step_of(job) > 0_s);
  std::get<TransformerShape>(job.model).decoder.sequence = 114;
  job.layout.micro_batch = 1;
  CHECK_THAT(problem_of(job), ContainsSubstring("layout.tp_overlap: the 114 tokens"));
}

TEST_CASE("sizes of stages are of both stacks together") {
  Experiment job = job_of(shape_of(base), 1);
  job.layout.stage_layers = {12};
  CHECK_THAT(problem_of(job), ContainsSubstring("adds up to 12 layers, the model has 24"));
}

// Every boundary carries what either stack needs further on: the decoder's embedded tokens until
// there, the encoder's output from there on; gradients likewise.
TEST_CASE("stages of a pipeline hand on the tokens of encoder and decoder") {
  const bool tied = GENERATE(false, true);
  TransformerShape shape = shape_of(base);
  shape.tied_embeddings = tied;
  Experiment job = job_of(shape, 1);
  job.layout.micro_batch = 2;
  job.layout.pp = 4;
  job.layout.dp /= 4;
  job.layout.micro_batches = 8;
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const StepPlan plan = prepared.plan(job.plans.front());
  std::int64_t parameters = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Bytes both = 2 * (512 + 114) * base.h * 2_B;
    if (s + 1 < plan.stages.size()) {
      CHECK(plan.stages[s].send_forward.size == both);
      CHECK(plan.stages[s + 1].send_backward.size == both);
    }
    parameters += plan.stages[s].compute->parameters;
  }
  CHECK(parameters == parameter_count(shape) + (tied ? 32128 * 768 : 0));
  CHECK((plan.tied_gradients.size > 0_B) == tied);
}

TEST_CASE("blocks are divided evenly among the stages, whichever stack they are of") {
  Experiment job = job_of(shape_of(base), 1);
  job.layout.pp = 4;
  job.layout.dp /= 4;
  job.layout.micro_batches = 8;
  const auto blocks = [&](std::size_t stage) {
    int count = 0;
    const auto workload = workload_of(job);
    const auto division = divide_layers(*workload, job.layout);
    for (const std::size_t layer : division[stage]) {
      count += workload->layers[layer].recomputable ? 1 : 0;
    }
    return count;
  };
  for (std::size_t s = 0; s < 4; ++s) {
    CHECK(blocks(s) == 6);
  }
  // The stage that begins with the decoder has the norm of the encoder's output too.
  job.layout.stage_layers = {9, 3, 4, 8};
  REQUIRE(check(job).empty());
  CHECK(divide_layers(*workload_of(job), job.layout)[2].size() == 4 + 1);
}

// Each later stage of the decoder keeps the encoder's output that it got, once a micro-batch.
TEST_CASE("a stage of the decoder keeps the encoder's output beside what its blocks keep") {
  Experiment job = job_of(shape_of(base), 1);
  job.layout.pp = 4;
  job.layout.micro_batch = 1;
  const auto workload = workload_of(job);
  std::vector<const Layer*> last;
  Bytes blocks{};
  const auto division = divide_layers(*workload, job.layout);
  for (const std::size_t layer : division[3]) {
    last.push_back(&workload->layers[layer]);
    blocks += workload->layers[layer].activation_per_sample;
  }
  const Bytes kept = kept_activations(last, job.layout, false);
  CHECK_THAT((kept - blocks) / 1_B, WithinRel(512 * base.h * 2, 1e-9));
}

TEST_CASE("a stage of stated size holds all blocks and what stands between them") {
  Experiment job = job_of(shape_of(base), 1);
  const Seconds plain = step_of(job);
  job.layout.stage_layers = {24};
  REQUIRE(check(job).empty());
  CHECK(step_of(job) == plain);
}

// Eight ranks: an eighth of both sequences each, attention to the whole of either.
TEST_CASE("ranks of a context divide the arithmetic and the activations of both stacks evenly") {
  const auto exchange = GENERATE(ContextExchange::ring, ContextExchange::all_to_all);
  TransformerShape shape = shape_of(base);
  shape.heads = shape.kv_heads = 16;
  shape.decoder.sequence = 128;
  const Workload whole = transformer_workload(shape, 1, false, 2_B);
  const Workload part = transformer_workload(shape, 1, false, 2_B, {8, exchange});
  REQUIRE(part.layers.size() == whole.layers.size());
  for (std::size_t layer = 0; layer < whole.layers.size(); ++layer) {
    INFO(whole.layers[layer].name);
    CHECK_THAT(8 * (layer_flops(part.layers[layer]) / 1_flop),
               WithinRel(layer_flops(whole.layers[layer]) / 1_flop, 1e-12));
    CHECK_THAT(8 * (part.layers[layer].activation_per_sample / 1_B),
               WithinRel(whole.layers[layer].activation_per_sample / 1_B, 1e-12));
  }
  CHECK(part.parameters() == whole.parameters());
}

namespace {

Experiment context_job(int cp, ContextExchange exchange) {
  TransformerShape shape = shape_of(base);
  shape.heads = shape.kv_heads = 16;
  shape.decoder.sequence = 128;
  Experiment job = job_of(shape, 1);
  job.layout.cp = cp;
  job.layout.dp = job.cluster.gpus() / cp;
  job.layout.context_exchange = exchange;
  job.layout.micro_batch = 1;
  return job;
}

// Of one micro-batch, forward or backward, by the layers of the only stage.
Bytes context_bytes(const std::vector<Piece>& pieces) {
  Bytes sum;
  for (const Piece& piece : pieces) {
    sum += piece.message.kind == MessageKind::cp_activations ? piece.message.size : 0_B;
  }
  return sum;
}

}  // namespace

// Of s / p tokens of the encoder and t / p of the decoder, i wide: queries, keys, values and output
// of every attention to its own tokens; queries and output of the decoder's and keys and values of
// the encoder's where it attends to that.
TEST_CASE("cross-attention exchanges heads of both sequences") {
  const Experiment job = context_job(4, ContextExchange::all_to_all);
  REQUIRE(check(job).empty());
  const StepPlan plan = PreparedExperiment(job).plan(job.plans.front());
  const auto& shape = std::get<TransformerShape>(job.model);
  const double s = static_cast<double>(shape.sequence) / 4;
  const double t = static_cast<double>(shape.decoder.sequence) / 4;
  const double i = 16 * base.d;
  const double blocks = base.layers;
  const Bytes expected = blocks * (4 * s + 4 * t + 2 * t + 2 * s) * i * 2_B;
  CHECK_THAT(context_bytes(plan.stages[0].compute->forward) / expected, WithinRel(1.0, 1e-12));
  CHECK_THAT(context_bytes(plan.stages[0].compute->backward) / expected, WithinRel(1.0, 1e-12));
}

// On slow links all but one block of scores of each hop shows. Keys and values of the encoder's
// part go round for the decoder's queries; backward their gradients too, and then home.
TEST_CASE("in a ring the encoder's keys and values pass the decoder's queries") {
  Experiment job = context_job(4, ContextExchange::ring);
  job.cluster.fabric.per_gpu = job.cluster.fabric.pair = 1_GBps;
  REQUIRE(check(job).empty());
  const PreparedExperiment prepared(job);
  const Layer& block = layer_named(prepared.workload(), "decoder block 1");
  REQUIRE(block.contexts.size() == 2);
  const auto& shape = std::get<TransformerShape>(job.model);
  const Bytes of_encoder =
      2.0 * static_cast<double>(shape.sequence) / 4 * 16 * base.d * 2_B;  // keys and values
  CHECK(block.contexts[1].key_value_per_sample == of_encoder);
  const Operator& scores = block.forward.at(block.contexts[1].attention);
  CHECK(scores.rows_per_sample == static_cast<double>(shape.decoder.sequence) / 4);
  CHECK(scores.columns == static_cast<double>(shape.sequence));
  CHECK(scores.causal_fraction == 1.0);
}

TEST_CASE("the parts of both sequences have to be whole, causal ones two a rank") {
  Experiment job = context_job(4, ContextExchange::ring);
  auto& shape = std::get<TransformerShape>(job.model);
  shape.decoder.sequence = 12;  // 2 x 4 parts
  CHECK_THAT(problem_of(job), ContainsSubstring("layout.cp: the decoder's sequence of 12 tokens "
                                                "cannot be divided into 2 x cp 4 parts"));
  shape.sequence = 510;
  CHECK(check(job).size() == 2);
  shape.sequence = 508;  // not under a mask: as many parts as ranks
  shape.decoder.sequence = 16;
  CHECK(check(job).empty());
}
