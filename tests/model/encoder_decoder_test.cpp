// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/compute.hpp"
#include "model/experiment.hpp"
#include "model/training_numbers.hpp"
#include "tests/catch.hpp"
#include "tests/model/layers.hpp"
#include "tests/model/t5_jobs.hpp"

// An encoder with a decoder (T5), against sums written out here from its equations: s tokens of the
// encoder, t of the decoder, width h, heads of i = a d together, feed-forward f.

using namespace payoff;
using namespace payoff::test::t5_jobs;
using Catch::Matchers::WithinRel;
using test::layer_named;

namespace {

// A table of V tokens; attention of four matrices, once a block of the encoder and twice one of the
// decoder; feed-forwards of two; a norm before each of them and behind each stack; 32 distances a
// head and stack.
double parameters_of(const Sizes& x) {
  const double attention = 4 * x.h * x.i() + x.h;
  const double feed_forward = 2 * x.h * x.f + x.h;
  return 32128 * x.h + x.layers * (3 * attention + 2 * feed_forward) + 2 * x.h + 2 * 32 * x.a;
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
