// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "model/transformer.hpp"

// Configurations as Hugging Face's hub holds them, and what is read from one.

namespace payoff::test::hf {

using Json = nlohmann::json;

inline const Json gpt2 = {{"model_type", "gpt2"}, {"n_embd", 768},       {"n_head", 12},
                          {"n_layer", 12},        {"n_positions", 1024}, {"vocab_size", 50257}};
inline const Json llama = {{"model_type", "llama"},      {"hidden_size", 4096},
                           {"intermediate_size", 11008}, {"max_position_embeddings", 4096},
                           {"num_attention_heads", 32},  {"num_hidden_layers", 32},
                           {"vocab_size", 32000}};
inline const Json bert = {{"model_type", "bert"},      {"hidden_size", 768},
                          {"intermediate_size", 3072}, {"max_position_embeddings", 512},
                          {"num_attention_heads", 12}, {"num_hidden_layers", 12},
                          {"vocab_size", 30522},       {"architectures", {"BertModel"}}};
inline const Json opt_125m = {{"model_type", "opt"},       {"hidden_size", 768},
                              {"ffn_dim", 3072},           {"max_position_embeddings", 2048},
                              {"num_attention_heads", 12}, {"num_hidden_layers", 12},
                              {"vocab_size", 50272},       {"word_embed_proj_dim", 768}};
inline const Json vit = {{"model_type", "vit"},    {"hidden_size", 768},
                         {"image_size", 224},      {"intermediate_size", 3072},
                         {"patch_size", 16},       {"num_attention_heads", 12},
                         {"num_hidden_layers", 12}};

[[nodiscard]] Json with(Json config, const Json& changes);

struct Outcome {
  std::optional<TransformerShape> shape;
  std::string errors;
};

[[nodiscard]] Outcome read(const std::string& text);
[[nodiscard]] Outcome read(const Json& config);

[[nodiscard]] std::int64_t parameters(const Json& config);

}  // namespace payoff::test::hf
