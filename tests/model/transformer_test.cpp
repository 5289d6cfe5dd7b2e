// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.hpp"

#include "model/compute.hpp"
#include "tests/catch.hpp"
#include "tests/model/shapes.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::gpt;
using payoff::test::llama;

namespace {

Flops layer_flops(const Layer& layer) {
  Flops sum{};
  for (const Operator& op : layer.forward) {
    sum += forward_flops(op);
  }
  return sum;
}

TransformerShape with_sequence(TransformerShape shape, std::int64_t sequence) {
  shape.sequence = sequence;
  return shape;
}

}  // namespace

// Counts of the published checkpoints, as Hugging Face transformers and torchvision report them.
TEST_CASE("parameter counts are those of the published checkpoints") {
  CHECK(parameter_count(test::bert_base()) == 109'482'240);
  CHECK(parameter_count(gpt(12, 768, 12, 1024, 50257)) == 124'439'808);             // GPT-2
  CHECK(parameter_count(gpt(48, 1600, 25, 1024, 50257)) == 1'557'611'200);          // GPT-2 XL
  CHECK(parameter_count(llama(32, 4096, 32, 32, 11008, 32000)) == 6'738'415'616);   // Llama-2-7B
  CHECK(parameter_count(llama(32, 4096, 32, 8, 14336, 128256)) == 8'030'261'248);   // Llama-3-8B
  CHECK(parameter_count(llama(80, 8192, 64, 8, 28672, 128256)) == 70'553'706'496);  // Llama-3-70B
  CHECK(parameter_count(test::vit_b_16()) == 86'567'656);
}

// Hugging Face BertForPreTraining, large: the encoder, the transform and decoder bias of the masked
// language model, and the next-sentence classifier.
TEST_CASE("BERT-large for pre-training has 336,226,108 parameters") {
  TransformerShape shape = test::bert_base();
  shape.layers = 24;
  shape.hidden = 1024;
  shape.heads = shape.kv_heads = 16;
  shape.feed_forward = 4096;
  CHECK(parameter_count(shape) == 335'141'888);
  shape.masked_head = true;
  CHECK(parameter_count(shape) == 336'226'108);
}

TEST_CASE("GPT-3 has 175 billion parameters") {
  const double count = static_cast<double>(parameter_count(gpt(96, 12288, 96, 2048, 50257)));
  CHECK_THAT(count, WithinRel(175e9, 0.01));
}

// Narayanan et al. 2021, equation 2: P = 12 L h^2 (1 + 13 / 12h + (V + s) / 12Lh), which forgets
// nothing but the two vectors of the final norm.
TEST_CASE("parameters follow equation 2 of Narayanan et al.") {
  const double layers = 24;
  const double hidden = 2304;
  const double vocabulary = 51200;
  const double sequence = 2048;
  const double formula =
      12 * layers * hidden * hidden *
      (1 + 13 / (12 * hidden) + (vocabulary + sequence) / (12 * layers * hidden));
  const std::int64_t count = parameter_count(gpt(24, 2304, 24, 2048, 51200));
  CHECK_THAT(static_cast<double>(count), WithinRel(formula + 2 * hidden, 1e-12));
}

// Narayanan et al. 2021, equation 3, for a batch of one: 96 s L h^2 (1 + s / 6h + V / 16Lh) counts
// the forward, its recomputation and a backward of twice the forward for the blocks, and no
// recomputation for the logits. Without recomputation 72 s L h^2 (1 + s / 6h + V / 12Lh).
TEST_CASE("arithmetic of a step follows equation 3 of Narayanan et al.") {
  const double s = 2048;
  const double layers = 40;
  const double h = 6144;
  const double v = 51200;
  const Workload workload = transformer_workload(gpt(40, 6144, 48, 2048, 51200), 1, false, 2_B);
  Flops blocks{};
  Flops ends{};
  for (const Layer& layer : workload.layers) {
    (layer.recomputable ? blocks : ends) += layer_flops(layer);
  }
  const double recomputed = 96 * s * layers * h * h * (1 + s / (6 * h) + v / (16 * layers * h));
  const double plain = 72 * s * layers * h * h * (1 + s / (6 * h) + v / (12 * layers * h));
  CHECK_THAT((4 * blocks + 3 * ends) / 1_flop, WithinRel(recomputed, 1e-12));
  CHECK_THAT((3 * blocks + 3 * ends) / 1_flop, WithinRel(plain, 1e-12));
}

// Korthikanti et al. 2022, table 2, bytes per layer in 16 bits for a batch of one.
TEST_CASE("a GPT block keeps s b h (34 + 5 a s / h) bytes of activations") {
  const double s = 2048;
  const double h = 12288;
  const double a = 96;
  const TransformerShape shape = gpt(2, 12288, 96, 2048, 51200);
  const auto block = [&](int tp, bool sequence_parallel) {
    return transformer_workload(shape, tp, sequence_parallel, 2_B).layers.at(1);
  };
  CHECK_THAT(block(1, false).activation_per_sample / 1_B,
             WithinRel(s * h * (34 + 5 * a * s / h), 1e-12));
  CHECK_THAT(block(1, false).selective_activation_per_sample / 1_B, WithinRel(34 * s * h, 1e-12));
  CHECK_THAT(block(8, false).activation_per_sample / 1_B,
             WithinRel(s * h * (10 + 24.0 / 8 + 5 * a * s / (8 * h)), 1e-12));
  CHECK_THAT(block(8, true).activation_per_sample / 1_B,
             WithinRel(s * h / 8 * (34 + 5 * a * s / h), 1e-12));
  CHECK_THAT(block(8, true).selective_activation_per_sample / 1_B,
             WithinRel(34 * s * h / 8, 1e-12));
  CHECK_THAT(block(8, false).boundary_per_sample / 1_B, WithinRel(2 * s * h, 1e-12));
}

TEST_CASE("tensor parallelism divides the arithmetic of a block and its matrices") {
  const TransformerShape shape = llama(2, 8192, 64, 8, 28672, 128256);
  const Layer whole = transformer_workload(shape, 1, false, 2_B).layers.at(1);
  const Layer part = transformer_workload(shape, 8, false, 2_B).layers.at(1);
  CHECK_THAT(8 * layer_flops(part) / layer_flops(whole), WithinRel(1.0, 1e-12));
  std::int64_t matrices_of_whole = 0;
  std::int64_t matrices_of_part = 0;
  for (const ParameterTensor& tensor : whole.parameters) {
    matrices_of_whole += tensor.is_matrix ? tensor.elements() : 0;
  }
  for (const ParameterTensor& tensor : part.parameters) {
    matrices_of_part += tensor.is_matrix ? tensor.elements() : 0;
  }
  CHECK(8 * matrices_of_part == matrices_of_whole);
}

// Shoeybi et al. 2019, figure 4: two all-reduces forward and two backward per block, of the hidden
// values of the whole sample.
TEST_CASE("a block synchronises twice in each direction") {
  const TransformerShape shape = gpt(2, 1024, 16, 512, 50304);
  const Workload workload = transformer_workload(shape, 4, false, 2_B);
  const Layer& block = workload.layers.at(1);
  REQUIRE(block.syncs.size() == 2);
  for (const TensorParallelSync& sync : block.syncs) {
    CHECK(sync.forward);
    CHECK(sync.backward);
    CHECK(sync.before < sync.after);
    CHECK(block.forward.at(sync.before).kind == OperatorKind::gemm);
    CHECK(block.forward.at(sync.after).kind == OperatorKind::gemm);
    CHECK(sync.bytes_per_sample == 512.0 * 1024 * 2_B);
  }
  CHECK(workload.layers.front().syncs.at(0).forward);
  CHECK_FALSE(workload.layers.front().syncs.at(0).backward);
  CHECK_FALSE(workload.layers.back().syncs.at(0).forward);
  CHECK(transformer_workload(shape, 1, false, 2_B).layers.at(1).syncs.empty());
}

TEST_CASE("only the positions that are predicted reach the head of BERT") {
  TransformerShape shape = test::bert_base();
  shape.masked_head = true;
  const Flops all = layer_flops(transformer_workload(shape, 1, false, 2_B).layers.back());
  shape.head_positions = 80;
  const Flops some = layer_flops(transformer_workload(shape, 1, false, 2_B).layers.back());
  // The transform and the decoder scale with the positions; pooler and classifier see one.
  const double per_position = 2 * 768.0 * (768 + 30522);
  CHECK_THAT((all - some) / 1_flop, WithinRel((512 - 80) * per_position, 1e-12));
}

TEST_CASE("arithmetic beyond attention's is linear in the sequence") {
  const auto flops = [](std::int64_t sequence) {
    Flops sum{};
    for (const Layer& layer :
         transformer_workload(with_sequence(llama(4, 512, 8, 8, 2048, 1000), sequence), 1, false,
                              2_B)
             .layers) {
      sum += layer_flops(layer);
    }
    return sum / 1_flop;
  };
  // f(s) = a s + b s^2: the second difference is 2 b s^2 with b = 4 h per layer.
  CHECK_THAT(flops(3000) - 2 * flops(2000) + flops(1000),
             WithinRel(2 * 4.0 * 4 * 512 * 1000 * 1000, 1e-9));
}

TEST_CASE("a tp that does not divide heads is refused with a reason") {
  const TransformerShape shape = gpt(2, 1600, 25, 1024, 50257);
  REQUIRE(check_transformer(shape, 1).empty());
  const Problems problems = check_transformer(shape, 2);
  REQUIRE_FALSE(problems.empty());
  CHECK(problems.front().path == "layout.tp");
  CHECK_THAT(problems.front().message, Catch::Matchers::ContainsSubstring("25 attention heads"));
  CHECK(check_transformer(llama(2, 8192, 64, 8, 28672, 128256), 16).empty());  // keys held twice
}

TEST_CASE("all-to-all divides the key-value heads of a rank, also those that two ranks hold") {
  const TransformerShape shape = llama(2, 8192, 64, 8, 28672, 128256);
  constexpr ContextParts two{2, ContextExchange::all_to_all};
  CHECK(check_transformer(shape, 4, two).empty());  // two of them
  for (const int tp : {8, 16}) {                    // one, of 8 or of 16 ranks
    const Problems problems = check_transformer(shape, tp, two);
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().path == "layout.cp");
    CHECK_THAT(problems.front().message,
               Catch::Matchers::ContainsSubstring("cp 2 does not divide the 1 key-value head "));
  }
}
