// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "model/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"

// What parts of a transformer move and keep, counted tensor by tensor.

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::gpt;
using payoff::test::llama;

namespace {

Layer block_of(const TransformerShape& shape, const ContextParts& context = {}) {
  return transformer_workload(shape, 1, false, 2_B, context).layers.at(1);
}

Bytes moved(const Layer& layer, OperatorKind kind) {
  Bytes sum;
  for (const Operator& op : layer.forward) {
    sum += op.kind == kind ? op.bytes_per_sample : 0_B;
  }
  return sum;
}

int kernels(const Layer& layer) {
  int sum = 0;
  for (const Operator& op : layer.forward) {
    sum += op.kind == OperatorKind::memory ? op.kernels : 0;
  }
  return sum;
}

}  // namespace

// The activation function reads both products of the first matrices, the second matrix reads what
// comes of them: three tensors of the inner width in 16 bits.
TEST_CASE("a gated feed-forward keeps three tensors of its inner width") {
  constexpr double tokens = 4096;  // of llama()
  const auto kept = [](std::int64_t inner) {
    return block_of(llama(2, 4096, 32, 32, inner, 32000)).activation_per_sample / 1_B;
  };
  CHECK_THAT(kept(12288) - kept(8192), WithinRel(3 * tokens * 4096 * 2, 1e-12));
}

// Reads the probabilities, writes what is left of them and a mask of a byte each.
TEST_CASE("dropout of attention moves five bytes a score in 16 bits") {
  constexpr double tokens = 512;
  constexpr double heads = 16;
  const Layer block = block_of(gpt(2, 1024, 16, 512, 50304));
  CHECK_THAT(moved(block, OperatorKind::attention) / 1_B,
             WithinRel(heads * tokens * tokens * (2 + 2 + 1), 1e-12));
}

// Of r blocks of keys the first one gives the output; each other one is added to it: two reads and
// a write of what the rank's own queries take.
TEST_CASE("a ring of r ranks adds r - 1 blocks of scores to the output of the first") {
  constexpr double tokens = 4096;
  constexpr double hidden = 4096;
  const TransformerShape shape = llama(2, 4096, 32, 32, 11008, 32000);
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    const TransformerShape alone = [&] {
      TransformerShape part = shape;
      part.sequence = shape.sequence / ranks;
      return part;
    }();
    const Layer ring = block_of(shape, {ranks, ContextExchange::ring});
    const Layer one = block_of(alone);
    CHECK_THAT((moved(ring, OperatorKind::memory) - moved(one, OperatorKind::memory)) / 1_B,
               WithinRel((ranks - 1) * 3 * tokens / ranks * hidden * 2, 1e-12));
    CHECK(kernels(ring) - kernels(one) == 2 * (ranks - 1));
  }
}

TEST_CASE("the mask of dropout behind the embedding has a byte an element in any precision") {
  for (const Bytes element : {2_B, 4_B}) {
    const Layer embedding =
        transformer_workload(gpt(2, 1024, 16, 512, 50304), 1, false, element).layers.front();
    CHECK(embedding.activation_per_sample == 512 * 1024 * 1_B);
  }
}

// Of the predicted positions: inputs of the dense layer, of its activation function, of the norm
// and of the decoder in 16 bits, and the logits in 32.
TEST_CASE("the masked head of BERT keeps four tensors of the hidden width and the logits") {
  TransformerShape shape = test::bert_base();
  shape.masked_head = true;
  for (const int positions : {20, 80}) {
    shape.head_positions = positions;
    const Layer head = transformer_workload(shape, 1, false, 2_B).layers.back();
    CHECK_THAT(head.activation_per_sample / 1_B,
               WithinRel(positions * (4 * 768.0 * 2 + 30522.0 * 4), 1e-12));
  }
}

// At least the logits in 32 bits are written, read, and written as probabilities; at most each of
// cast, maximum, sum of exponentials and loss reads and writes all of them.
TEST_CASE("a cross-entropy moves the logits three to eight times forward") {
  constexpr double tokens = 1024;
  constexpr double vocabulary = 50304;
  const Layer head =
      transformer_workload(gpt(2, 1024, 16, 1024, 50304), 1, false, 2_B).layers.back();
  const auto largest = std::max_element(
      head.forward.begin(), head.forward.end(),
      [](const Operator& a, const Operator& b) { return a.bytes_per_sample < b.bytes_per_sample; });
  const double logits = tokens * vocabulary * 4;
  CHECK(largest->bytes_per_sample / 1_B >= 3 * logits);
  CHECK(largest->bytes_per_sample / 1_B <= 8 * logits);
}
