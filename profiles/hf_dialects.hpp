// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/transformer.hpp"

// The families of Hugging Face configurations: how each names its sizes, and which settings have no
// counterpart in model/transformer.hpp. Defaults are those of the library's configuration classes.

namespace payoff {

// Larger shapes are slips of the pen. Products of these stay within 64 bits: a block has at most
// some 2^43 parameters, and there are 2^10 of them: no published transformer is deeper than
// DeepNet's 1,000 layers (Wang et al. 2022, arXiv 2203.00555), and every one takes its time in a
// prediction.
namespace hf {
inline constexpr std::int64_t most_layers = 1 << 10;
inline constexpr std::int64_t widest = 1 << 20;
inline constexpr std::int64_t most_experts = 1 << 12;
inline constexpr std::int64_t largest_table = 1 << 24;
inline constexpr std::int64_t longest = 1 << 28;
}  // namespace hf

// How a family names the sizes of its experts; empty: it has none, or no such key.
struct MixtureKeys {
  std::string_view count, width, shared, dense_blocks;
  std::string_view shared_width{};  // of what all tokens pass, behind a gate of its own
};

// How a family names its sizes; "a|b": older and newer releases differ. An empty name: the family
// has no such key.
struct Dialect {
  std::string_view model_type;
  TransformerFamily family{};
  std::string_view hidden, layers, heads, kv_heads, feed_forward, positions, length;
  bool feed_forward_is_four{};     // times hidden, where the key is absent
  bool gated{}, biases{}, tied{};  // defaults of the family's configuration
  std::int64_t padding_rows{};     // of the position table, beyond its stated length
  bool embedding_norm{}, norm_shift{}, query_biases{}, output_norms{}, head_norms{};
  std::int64_t head_size{};  // default; 0: the width over the heads
  MixtureKeys mixture{};
  bool latent{};  // attention by way of low-rank projections
  std::string_view query_bias_flag{};
};

// Decoders since Llama, and what some of them add.
constexpr Dialect llama_dialect(std::string_view model_type) {
  Dialect llama;
  llama.model_type = model_type;
  llama.family = TransformerFamily::llama;
  llama.hidden = "hidden_size";
  llama.layers = "num_hidden_layers";
  llama.heads = "num_attention_heads";
  llama.kv_heads = "num_key_value_heads";
  llama.feed_forward = "intermediate_size";
  llama.length = "max_position_embeddings";
  llama.gated = true;
  return llama;
}

constexpr Dialect mixtral_dialect() {
  Dialect mixtral = llama_dialect("mixtral");
  mixtral.mixture = {"num_local_experts", "intermediate_size", "", ""};
  return mixtral;
}

constexpr Dialect deepseek_dialect(std::string_view model_type) {
  Dialect deepseek = llama_dialect(model_type);
  deepseek.mixture = {"n_routed_experts", "moe_intermediate_size", "n_shared_experts",
                      "first_k_dense_replace"};
  deepseek.latent = true;
  return deepseek;
}

constexpr Dialect qwen2_dialect() {
  Dialect qwen = llama_dialect("qwen2");
  qwen.query_biases = true;
  return qwen;
}

// A norm of each head's query and key in place of the biases.
constexpr Dialect qwen3_dialect() {
  Dialect qwen = llama_dialect("qwen3");
  qwen.head_norms = true;
  qwen.head_size = 128;
  return qwen;
}

constexpr Dialect qwen3_moe_dialect() {
  Dialect qwen = llama_dialect("qwen3_moe");
  qwen.head_norms = true;
  qwen.mixture = {"num_experts", "moe_intermediate_size", "", ""};
  return qwen;
}

constexpr Dialect qwen2_moe_dialect() {
  Dialect qwen = llama_dialect("qwen2_moe");
  qwen.query_biases = true;
  qwen.query_bias_flag = "qkv_bias";
  qwen.mixture = {"num_experts", "moe_intermediate_size", "", "",
                  "shared_expert_intermediate_size"};
  return qwen;
}

// Its fourth generation has Gemma 2's norms.
constexpr Dialect glm_dialect(std::string_view model_type, bool output_norms) {
  Dialect glm = llama_dialect(model_type);
  glm.query_bias_flag = "attention_bias";
  glm.output_norms = output_norms;
  glm.head_size = 128;
  return glm;
}

constexpr Dialect gemma_dialect(std::string_view model_type, int generation) {
  Dialect gemma = llama_dialect(model_type);
  gemma.tied = true;
  gemma.output_norms = generation > 1;
  gemma.head_norms = generation > 2;
  gemma.head_size = 256;
  return gemma;
}

constexpr Dialect nemotron_dialect() {
  Dialect nemotron = llama_dialect("nemotron");
  nemotron.gated = false;
  nemotron.norm_shift = true;
  return nemotron;
}

// Two rows of RoBERTa's position table, which its stated length counts, are for padding.
constexpr Dialect bert_dialect(std::string_view model_type) {
  Dialect bert;
  bert.model_type = model_type;
  bert.family = TransformerFamily::bert;
  bert.hidden = "hidden_size";
  bert.layers = "num_hidden_layers";
  bert.heads = "num_attention_heads";
  bert.feed_forward = "intermediate_size";
  bert.positions = "max_position_embeddings";
  bert.length = "max_position_embeddings";
  bert.biases = true;
  bert.tied = true;
  return bert;
}

// T5's heads have a width of their own, and its feed-forward is gated where it says so
// (profiles/hf_encoder_decoder). mT5 has a head of its own.
constexpr Dialect t5_dialect(std::string_view model_type, bool tied) {
  Dialect t5;
  t5.model_type = model_type;
  t5.family = TransformerFamily::t5;
  t5.hidden = "d_model";
  t5.layers = "num_layers";
  t5.heads = "num_heads";
  t5.feed_forward = "d_ff";
  t5.tied = tied;
  return t5;
}

inline constexpr std::array<Dialect, 25> dialects{{
    {"gpt2", TransformerFamily::gpt, "n_embd", "n_layer", "n_head", "", "n_inner", "n_positions",
     "n_positions", true, false, true, true},
    llama_dialect("llama"),
    llama_dialect("mistral"),
    mixtral_dialect(),
    deepseek_dialect("deepseek_v2"),
    deepseek_dialect("deepseek_v3"),
    deepseek_dialect("kimi_k2"),  // DeepSeek-V3 with other numbers
    qwen2_dialect(),
    qwen2_moe_dialect(),
    qwen3_dialect(),
    qwen3_moe_dialect(),
    glm_dialect("glm", false),
    glm_dialect("glm4", true),
    gemma_dialect("gemma", 1),
    gemma_dialect("gemma2", 2),
    gemma_dialect("gemma3_text", 3),
    llama_dialect("phi3"),  // two of Llama's products in one, twice
    nemotron_dialect(),
    // The position table keeps two rows for padding.
    {"opt", TransformerFamily::gpt, "hidden_size", "num_hidden_layers", "num_attention_heads", "",
     "ffn_dim", "max_position_embeddings", "max_position_embeddings", true, false, true, true, 2},
    // ALiBi instead of a position table, and a norm behind the embedding.
    {"bloom", TransformerFamily::gpt, "n_embed|hidden_size", "n_layer|num_hidden_layers",
     "num_attention_heads|n_head", "", "", "", "seq_length", true, false, true, true, 0, true},
    bert_dialect("bert"),
    bert_dialect("roberta"),
    t5_dialect("t5", true),
    t5_dialect("mt5", false),
    {"vit", TransformerFamily::vit, "hidden_size", "num_hidden_layers", "num_attention_heads", "",
     "intermediate_size", "", "", false, false, true, false},
}};

// Flags that change the layers; every family's default is the other value.
struct Refusal {
  std::string_view model_type;  // empty: all
  std::string_view key;
  bool value;
  std::string_view what;
};

inline constexpr std::array<Refusal, 14> refusals{{
    {"", "is_encoder_decoder", true, "an encoder with a decoder"},
    {"", "add_cross_attention", true, "cross-attention"},
    {"t5", "is_encoder_decoder", false, "T5's encoder without a decoder"},
    {"mt5", "is_encoder_decoder", false, "T5's encoder without a decoder"},
    {"bert", "is_decoder", true, "BERT as a decoder"},
    {"llama", "attention_bias", true, "a bias in attention alone"},
    {"llama", "mlp_bias", true, "a bias in the feed-forward alone"},
    {"qwen3", "attention_bias", true, "a bias in attention alone"},
    {"qwen3_moe", "attention_bias", true, "a bias in attention alone"},
    {"nemotron", "attention_bias", true, "a bias in attention alone"},
    {"nemotron", "mlp_bias", true, "a bias in the feed-forward alone"},
    {"opt", "do_layer_norm_before", false, "an OPT with norms behind its blocks"},
    {"opt", "enable_bias", false, "an OPT without biases"},
    {"vit", "qkv_bias", false, "a ViT with a bias in the feed-forward alone"},
}};

// Families whose blocks the model has no words for.
struct Unmodelled {
  std::string_view model_type;
  std::string_view what;
};

inline constexpr std::string_view parallel_blocks =
    "a block with attention and the feed-forward beside each other";
inline constexpr std::string_view other_decoder = "an encoder with a decoder other than T5's";

inline constexpr std::array<Unmodelled, 7> unmodelled{{
    {"gpt_neox", parallel_blocks},
    {"gptj", parallel_blocks},
    {"falcon", parallel_blocks},
    {"phi", parallel_blocks},
    {"cohere", parallel_blocks},
    {"bart", other_decoder},
    {"whisper", other_decoder},
}};

}  // namespace payoff
