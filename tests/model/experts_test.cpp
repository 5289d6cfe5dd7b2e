// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "model/compute.hpp"
#include "model/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::deepseek_v2;
using payoff::test::deepseek_v3;
using payoff::test::mixtral_8x7b;

// Mixtures of experts and latent attention.

namespace {

Flops work_of(const Layer& layer) {
  Flops sum;
  for (const Operator& op : layer.forward) {
    sum += forward_flops(op);
  }
  return sum;
}

double forward_work(const TransformerShape& shape) {
  Flops sum;
  for (const Layer& layer : transformer_workload(shape, 1, false, 2_B).layers) {
    sum += work_of(layer);
  }
  return sum / 1_flop;
}

// Two for every multiply-add: all active weights but norms and the table of tokens, and scores of
// `width` elements a head over the whole square of the sequence.
double work_of_weights(const TransformerShape& shape, std::int64_t vectors, std::int64_t width) {
  const auto weights = static_cast<double>(active_parameter_count(shape) -
                                           shape.vocabulary * shape.hidden - vectors);
  const auto s = static_cast<double>(shape.sequence);
  const auto scores = static_cast<double>(shape.layers * shape.heads * width);
  return 2 * s * weights + 2 * s * s * scores;
}

Layer last_block(const TransformerShape& shape, int tp, const ExpertParts& experts) {
  const Workload workload = transformer_workload(shape, tp, tp > 1, 2_B, {}, experts);
  return workload.layers.at(static_cast<std::size_t>(shape.layers));
}

}  // namespace

// keras-team/keras-hub lists 46,702,792,704 parameters of Mixtral 8x7B; Mistral AI's announcement
// (2023-12-11): "46.7B total parameters but only uses 12.9B parameters per token".
TEST_CASE("Mixtral 8x7B has 46.7 billion parameters, 12.9 of which work on a token") {
  CHECK(parameter_count(mixtral_8x7b()) == 46'702'792'704);
  CHECK_THAT(static_cast<double>(active_parameter_count(mixtral_8x7b())), WithinRel(12.9e9, 0.004));
}

// DeepSeek-V3's README_WEIGHTS.md: 671B, 36.7B of them activated, 0.9B for the embedding among
// them, whose table (927 million) only looks up; the abstract of arXiv:2412.19437 rounds to 37B.
// DeepSeek-V2 (arXiv:2405.04434, abstract): 236B, 21B activated.
TEST_CASE("DeepSeek-V3 has 671 billion parameters and DeepSeek-V2 236, 37 and 21 at work") {
  CHECK_THAT(static_cast<double>(parameter_count(deepseek_v3())), WithinRel(671e9, 0.0008));
  CHECK_THAT(static_cast<double>(active_parameter_count(deepseek_v3()) - 129280 * 7168),
             WithinRel(36.7e9, 0.003));
  CHECK_THAT(static_cast<double>(parameter_count(deepseek_v2())), WithinRel(236e9, 0.002));
  CHECK_THAT(static_cast<double>(active_parameter_count(deepseek_v2())), WithinRel(21e9, 0.02));
}

TEST_CASE("a dense model works on every token with all its parameters") {
  const TransformerShape dense = test::gpt(4, 256, 4, 512, 1000);
  CHECK(active_parameter_count(dense) == parameter_count(dense));
}

TEST_CASE("the arithmetic of a token is that of its active weights and of its scores") {
  const TransformerShape mixtral = mixtral_8x7b();
  CHECK_THAT(forward_work(mixtral),
             WithinRel(work_of_weights(mixtral, (2 * 32 + 1) * 4096, 128 + 128), 1e-12));
  // Queries and keys of 192 elements, values of 128; norms of the two narrow vectors too.
  const TransformerShape deepseek = deepseek_v3();
  const std::int64_t norms = (2 * 61 + 1) * 7168 + 61 * (1536 + 512);
  CHECK_THAT(forward_work(deepseek), WithinRel(work_of_weights(deepseek, norms, 192 + 128), 1e-12));
}

// A row of weights, and what it multiplies with every token's input.
TEST_CASE("a gate of the shared experts is one column of weights in every mixture block") {
  const TransformerShape plain = deepseek_v3();
  TransformerShape gated = plain;
  gated.experts.shared_gate = true;
  CHECK(parameter_count(gated) - parameter_count(plain) == (61 - 3) * 7168);
  const double more = 2.0 * static_cast<double>(plain.sequence) * (61 - 3) * 7168;
  CHECK_THAT(forward_work(gated) - forward_work(plain), WithinRel(more, 1e-8));
}

TEST_CASE("ranks divide the experts, not the tokens that these compute in all") {
  const TransformerShape shape = mixtral_8x7b();
  const Layer whole = last_block(shape, 1, {1, 1});
  const Layer part = last_block(shape, 1, {4, 1});
  CHECK_THAT(work_of(part) / work_of(whole), WithinRel(1.0, 1e-12));
  const auto experts = [](const Layer& layer) {
    std::int64_t sum = 0;
    for (const ParameterTensor& tensor : layer.parameters) {
      sum += tensor.of_expert ? tensor.elements() : 0;
    }
    return sum;
  };
  CHECK(experts(whole) == 0);  // summed over the same ranks as all others
  CHECK(experts(part) == 2 * 3 * 4096 * 14336);
}

// All ranks wait for the one with most tokens: it computes, keeps and sends `load` times the mean.
TEST_CASE("the busiest rank sets the arithmetic, the memory and the messages of the experts") {
  const TransformerShape shape = mixtral_8x7b();
  const Layer even = last_block(shape, 1, {4, 1});
  const Layer uneven = last_block(shape, 1, {4, 1.5});
  const double tokens = static_cast<double>(shape.sequence) * 2;
  const double more = 0.5 * tokens * 2 * 3 * 4096 * 14336;
  CHECK_THAT((work_of(uneven) - work_of(even)) / 1_flop, WithinRel(more, 1e-12));
  CHECK_THAT((uneven.activation_per_sample - even.activation_per_sample) / 1_B,
             WithinRel(0.5 * tokens * 2 * (2 * 4096 + 3 * 14336), 1e-12));
  REQUIRE(even.experts);
  CHECK_THAT(even.experts->bytes_per_sample / 1_B, WithinRel(tokens * 4096 * 2, 1e-12));
  CHECK_THAT(uneven.experts->bytes_per_sample / even.experts->bytes_per_sample,
             WithinRel(1.5, 1e-12));
}

TEST_CASE("ranks of a tensor group send different tokens to whole experts") {
  const TransformerShape shape = deepseek_v2();
  const Layer alone = last_block(shape, 1, {8, 1});
  const Layer divided = last_block(shape, 4, {8, 1});
  CHECK_THAT(4 * (divided.experts->bytes_per_sample / alone.experts->bytes_per_sample),
             WithinRel(1.0, 1e-12));
  const Operator& product = alone.forward.at(alone.experts->before);
  const Operator& fewer = divided.forward.at(divided.experts->before);
  CHECK(product.columns == fewer.columns);
  CHECK(product.batch_per_sample == 160 / 8);
  CHECK_THAT(4 * fewer.rows_per_sample, WithinRel(product.rows_per_sample, 1e-12));
  // Attention and the shared experts are divided by tensor parallelism, the experts are not.
  CHECK(divided.syncs.size() == 2);
}

TEST_CASE("the first blocks of DeepSeek-V3 have an ordinary feed-forward") {
  const Workload workload = transformer_workload(deepseek_v3(), 1, false, 2_B, {}, {64, 1});
  std::size_t mixtures = 0;
  for (const Layer& layer : workload.layers) {
    mixtures += layer.experts ? 1U : 0U;
  }
  CHECK(mixtures == 61 - 3);
  CHECK_FALSE(workload.layers.at(3).experts);
  CHECK(workload.layers.at(4).experts);
}
