// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/expert_parallel.hpp"
#include "model/problem.hpp"
#include "model/workload.hpp"

// A transformer from its shape: GPT-like, Llama-like (grouped queries, gated feed-forward), BERT
// and ViT encoders, T5's encoder with a decoder; blocks with experts in place of the feed-forward
// and attention with low-rank projections, of the Mixtral and DeepSeek families. Parameters,
// arithmetic and activations follow Narayanan et al. 2021 (SC'21) and Korthikanti et al. 2022;
// docs/model.md has the formulas.

namespace payoff {

enum class TransformerFamily { gpt, llama, bert, vit, t5 };

// A router sends every token to a few of many feed-forwards, and to the shared one.
struct ExpertShape {
  std::int64_t count{};         // 0: no experts
  std::int64_t per_token{};     // that a token is sent to
  std::int64_t width{};         // inner size of one
  std::int64_t shared_width{};  // of those that all tokens pass, together
  std::int64_t dense_blocks{};  // the first ones, with an ordinary feed-forward
  bool shared_gate{};           // what all tokens pass is weighed by a score of each (Qwen2-MoE)
};

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): queries by way of a
// narrow vector, keys and values together by another one, and rotated parts of queries and keys
// beside them. head_size is that of queries and keys, rotated part included.
struct LatentAttention {
  std::int64_t query_rank{};  // 0: queries directly
  std::int64_t key_rank{};    // 0: ordinary attention
  std::int64_t rotated{};     // of a head's query; of the key that all heads share
  std::int64_t value_size{};  // of a head
};

// A second stack of blocks, which attend to their own tokens and to the output of the first one
// (Raffel et al. 2020, arXiv:1910.10683, section 2.1).
struct DecoderShape {
  std::int64_t layers{};    // 0: the model has one stack
  std::int64_t sequence{};  // tokens per sample that it reads and predicts
};

struct TransformerShape {
  std::string name;
  TransformerFamily family{};
  std::int64_t layers{};
  std::int64_t hidden{};
  std::int64_t heads{};
  std::int64_t kv_heads{};      // equals heads without grouped queries
  std::int64_t head_size{};     // hidden / heads where not stated
  std::int64_t feed_forward{};  // inner size of the MLP
  std::int64_t vocabulary{};
  std::int64_t positions{};    // learned position embeddings; 0 with rotary ones
  std::int64_t token_types{};  // BERT's segment embeddings
  std::int64_t sequence{};     // tokens per sample in training
  bool gated{};                // SwiGLU: three matrices
  bool biases{true};
  bool query_biases{};    // of queries, keys and values alone (Qwen2)
  bool output_norms{};    // of what attention and the feed-forward add to the stream too (Gemma 2)
  bool head_norms{};      // of every head's query and key (Qwen3, Gemma 3)
  bool norm_shift{};      // norms have one though the products have no bias (Nemotron)
  bool embedding_norm{};  // of any family behind the embedding (BLOOM); BERT has one anyway
  bool tied_embeddings{};
  bool causal{true};
  bool pooler{};       // BERT's pooled output
  bool masked_head{};  // BERT's masked-language-model head (with a pooler: next sentence too)
  std::int64_t head_positions{};  // tokens per sample that reach the head; 0: all of them
  std::int64_t image_patch{};     // ViT: pixels of a patch side
  std::int64_t image_channels{};
  std::int64_t classes{};  // ViT, classifier heads
  ExpertShape experts{};
  LatentAttention latent{};
  // T5: numbers that a head adds to its scores by distance, shared by all blocks of a stack.
  std::int64_t relative_buckets{};
  DecoderShape decoder{};  // with one, `layers` and `sequence` are the encoder's
};

// Of all stacks.
[[nodiscard]] constexpr std::int64_t block_count(const TransformerShape& shape) {
  return shape.layers + shape.decoder.layers;
}
[[nodiscard]] std::int64_t parameter_count(const TransformerShape& shape);
// Whether the head multiplies by the table of the embedding.
[[nodiscard]] bool ties_head(const TransformerShape& shape);
// That work on one token: all but the experts that it is not sent to.
[[nodiscard]] std::int64_t active_parameter_count(const TransformerShape& shape);

// What tensor and context parallelism cannot divide; paths as in the experiment file.
[[nodiscard]] Problems check_transformer(const TransformerShape& shape, int tp,
                                         const ContextParts& context = {});

// Bytes of an element of an activation as it stands in memory and travels, and as backward keeps
// the inputs of products: less where they were cast to fp8.
struct ActivationSizes {
  ActivationSizes(Bytes all) : stored(all), product_input(all) {}  // NOLINT: one size for both
  ActivationSizes(Bytes every_other, Bytes input) : stored(every_other), product_input(input) {}
  Bytes stored;
  Bytes product_input;
};

// The layers that one tensor-parallel rank runs: embedding, blocks, head. The vocabulary is padded
// to whole parts, the parameters of norms and of row-parallel biases are held by every rank. With
// context parallelism a sample is the tokens of it that one rank holds. In a pipeline (`pp` above
// 1) the first stage of an encoder with a decoder embeds the tokens of both.
[[nodiscard]] Workload transformer_workload(const TransformerShape& whole, int tp,
                                            bool sequence_parallel,
                                            const ActivationSizes& activation,
                                            const ContextParts& context = {},
                                            const ExpertParts& experts = {}, int pp = 1);

}  // namespace payoff
