// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/compute.hpp"
#include "model/experiment.hpp"
#include "model/memory.hpp"
#include "model/stage_compute.hpp"
#include "model/training_numbers.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"
#include "tests/study/experiments.hpp"

// An encoder with a decoder (T5), against sums written out here from its equations: s tokens of the
// encoder, t of the decoder, width h, heads of i = a d together, feed-forward f.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

struct Sizes {
  double layers, h, f, a, d;
  double i() const { return a * d; }
};

TransformerShape shape_of(const Sizes& sizes) {
  const auto whole = [](double size) { return std::llround(size); };
  return test::t5(whole(sizes.layers), whole(sizes.h), whole(sizes.f), whole(sizes.a),
                  whole(sizes.d));
}

constexpr Sizes small{6, 512, 2048, 8, 64};
constexpr Sizes base{12, 768, 3072, 12, 64};
constexpr Sizes large{24, 1024, 4096, 16, 64};
constexpr Sizes xl{24, 1024, 16384, 32, 128};
constexpr Sizes xxl{24, 1024, 65536, 128, 128};

// A table of V tokens; attention of four matrices, once a block of the encoder and twice one of the
// decoder; feed-forwards of two; a norm before each of them and behind each stack; 32 distances a
// head and stack.
double parameters_of(const Sizes& x) {
  const double attention = 4 * x.h * x.i() + x.h;
  const double feed_forward = 2 * x.h * x.f + x.h;
  return 32128 * x.h + x.layers * (3 * attention + 2 * feed_forward) + 2 * x.h + 2 * 32 * x.a;
}

Flops layer_flops(const Layer& layer) {
  Flops sum{};
  for (const Operator& op : layer.forward) {
    sum += forward_flops(op);
  }
  return sum;
}

const Layer& layer_named(const Workload& workload, const std::string& name) {
  for (const Layer& layer : workload.layers) {
    if (layer.name == name) {
      return layer;
    }
  }
  FAIL("no layer " << name);
  return workload.layers.front();
}

Experiment job_of(const TransformerShape& shape, int tp, bool sequence_parallel = false) {
  Experiment job = test::small_job();
  job.model = shape;
  job.layout.tp = tp;
  job.layout.dp = job.cluster.gpus() / tp;
  job.layout.sequence_parallel = sequence_parallel;
  job.training.precision = Precision::fp16;
  job.training.gradient = Precision::fp16;
  return job;
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

Seconds step_of(const Experiment& job) {
  return PreparedExperiment(job).predict(job.plans.front()).step;
}

std::string problem_of(const Experiment& job) {
  const Problems problems = check(job);
  return problems.empty() ? "" : problems.front().path + ": " + problems.front().message;
}

}  // namespace

// Raffel et al. 2020, section 3.7: 60, 220 and 770 million, 2.8 and 11 billion, rounded; the large
// one is counted smaller by everybody (737.7 million in Hugging Face's checkpoint).
TEST_CASE("T5 has the published numbers of parameters at all of its sizes") {
  const std::pair<Sizes, double> sizes[] = {
      {small, 60e6}, {base, 220e6}, {large, 770e6}, {xl, 2.8e9}, {xxl, 11e9}};
  for (const auto& [size, published] : sizes) {
    const double count = static_cast<double>(parameter_count(shape_of(size)));
    CHECK(count == parameters_of(size));
    CHECK_THAT(count, WithinRel(published, 0.05));
  }
  CHECK(parameter_count(shape_of(large)) == 737'668'096);
}

TEST_CASE("a gated feed-forward has a third matrix, an untied head its own table") {
  TransformerShape shape = shape_of(base);
  shape.gated = true;
  const std::int64_t gates = 2 * 12 * 768 * 3072;
  CHECK(parameter_count(shape) == parameter_count(shape_of(base)) + gates);
  shape.tied_embeddings = false;
  CHECK(parameter_count(shape) == parameter_count(shape_of(base)) + gates + 32128 * 768);
}

TEST_CASE("each stack has one table of distances, divided with the heads") {
  const auto tables = [](int tp) {
    std::vector<std::string> found;
    for (const Layer& layer : transformer_workload(shape_of(base), tp, false, 2_B).layers) {
      for (const ParameterTensor& tensor : layer.parameters) {
        if (tensor.rows == 32 && tensor.columns == 12 / tp) {
          found.push_back(layer.name);
        }
      }
    }
    return found;
  };
  CHECK(tables(1) == std::vector<std::string>{"encoder block 0", "decoder block 0"});
  CHECK(tables(4) == tables(1));
}

TEST_CASE("arithmetic of a sample follows the equations of encoder and decoder") {
  const Sizes x = xl;
  TransformerShape shape = shape_of(x);
  shape.decoder.layers = 18;
  const double s = 512;
  const double t = 114;
  const double encoder = 8 * s * x.h * x.i() + 4 * s * s * x.i() + 4 * s * x.h * x.f;
  const double own = 8 * t * x.h * x.i() + 4 * t * t * x.i();
  const double cross = 4 * t * x.h * x.i() + 4 * s * x.h * x.i() + 4 * t * s * x.i();
  const double decoder = own + cross + 4 * t * x.h * x.f;
  const double head = 2 * t * x.h * 32128;
  const auto work = [&](Recompute recompute) {
    Experiment job = job_of(shape, 1);
    job.layout.recompute = recompute;
    return training_work(job);
  };
  const double forward = x.layers * encoder + 18 * decoder + head;
  CHECK_THAT(work(Recompute::none).model / 1_flop, WithinRel(3 * forward, 1e-12));
  CHECK_THAT((work(Recompute::full).hardware - work(Recompute::full).model) / 1_flop,
             WithinRel(forward - head, 1e-12));
  const double scores = x.layers * 4 * s * s * x.i() + 18 * 4 * t * (t + s) * x.i();
  CHECK_THAT((work(Recompute::selective).hardware - work(Recompute::none).model) / 1_flop,
             WithinRel(scores, 1e-9));
  // Tokens are those of the input, as its authors count them.
  CHECK(work(Recompute::none).tokens == s);
}

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

// By tensor, in 16 bits, with masks of a byte: of each of three parts the input of the norm and
// that of the first product, and the mask behind the last one (5 h a token); queries, keys, values
// and their sums; of the feed-forward what stands before relu and behind the mask, and the mask.
TEST_CASE("a block of the decoder keeps what its three parts read") {
  const double s = 512;
  const double t = 114;
  const Sizes x = xl;
  const double shared = 3 * 5 * t * x.h;
  const double divided = (8 + 4) * t * x.i() + 4 * s * x.i() + 5 * t * x.f;
  const double scores = 5 * x.a * t * (t + s);
  const auto block = [&](int tp, bool sequence_parallel) {
    return layer_named(transformer_workload(shape_of(x), tp, sequence_parallel, 2_B),
                       "decoder block 7");
  };
  CHECK_THAT(block(1, false).selective_activation_per_sample / 1_B,
             WithinRel(shared + divided, 1e-12));
  CHECK_THAT(block(1, false).activation_per_sample / 1_B,
             WithinRel(shared + divided + scores, 1e-12));
  CHECK_THAT(block(4, false).activation_per_sample / 1_B,
             WithinRel(shared + (divided + scores) / 4, 1e-12));
  CHECK_THAT(block(4, true).activation_per_sample / 1_B,
             WithinRel((shared + divided + scores) / 4, 1e-12));
  CHECK(block(4, true).boundary_per_sample == t * x.h * 2_B);
}

// Input of the norm, its output, and two masks (of the output and of the decoder's vectors).
TEST_CASE("the output of the encoder is kept once, whatever is recomputed") {
  const Workload workload = transformer_workload(shape_of(base), 1, false, 2_B);
  const Layer& between = layer_named(workload, "decoder embedding");
  CHECK_THAT(between.activation_per_sample / 1_B,
             WithinRel((2 + 2 + 1) * 512 * base.h + 114 * base.h, 1e-12));
  CHECK_FALSE(between.recomputable);
  CHECK(between.selective_activation_per_sample == between.activation_per_sample);
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

TEST_CASE("longer samples of either stack take longer, and more memory") {
  const Experiment job = job_of(shape_of(base), 2);
  const auto predicted = [&](std::int64_t source, std::int64_t decoded) {
    Experiment other = job;
    auto& shape = std::get<TransformerShape>(other.model);
    shape.sequence = source;
    shape.decoder.sequence = decoded;
    return PreparedExperiment(other).predict(other.plans.front());
  };
  const StepPrediction plain = predicted(512, 114);
  for (const StepPrediction& longer : {predicted(1024, 114), predicted(512, 228)}) {
    CHECK(longer.step > plain.step);
    CHECK(longer.memory.activations > plain.memory.activations);
    CHECK(longer.dp_bytes == plain.dp_bytes);
  }
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
