// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_config.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/hf_dialects.hpp"
#include "profiles/hf_head.hpp"
#include "profiles/hf_sizes.hpp"
#include "profiles/json_object.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

const Dialect* dialect_of(const JsonObject& config) {
  const std::string type = config.text("model_type");
  std::vector<std::string> known;
  for (const Dialect& dialect : dialects) {
    if (dialect.model_type == type) {
      return &dialect;
    }
    known.emplace_back(dialect.model_type);
  }
  const std::string list = "known: " + listed(known);
  const std::array<std::string_view, 3> experts{"num_local_experts", "n_routed_experts",
                                                "num_experts"};
  const auto has = [&](std::string_view key) { return !config.lacks(key); };
  if (type.empty()) {
    config.error("model_type", "missing key `model_type`", "it decides what the others mean", list);
  } else if (std::any_of(experts.begin(), experts.end(), has)) {
    config.error("model_type", "a mixture of experts is not modelled",
                 backquoted(type) + " sends tokens to experts by routing", list);
  } else if (const auto family =
                 std::find_if(unmodelled.begin(), unmodelled.end(),
                              [&](const Unmodelled& other) { return other.model_type == type; });
             family != unmodelled.end()) {
    config.error("model_type", std::string(family->what) + " is not modelled",
                 backquoted(type) + " is built of them", list);
  } else {
    config.error("model_type", "the model_type " + backquoted(type) + " is not known",
                 did_you_mean(closest(type, known)), list);
  }
  return nullptr;
}

void refuse_variants(const JsonObject& config, const Dialect& dialect) {
  const bool has_decoder = dialect.family == TransformerFamily::t5;
  for (const Refusal& refusal : refusals) {
    const bool of_all =
        refusal.model_type.empty() && !(has_decoder && refusal.key == "is_encoder_decoder");
    const bool meant = of_all || refusal.model_type == dialect.model_type;
    if (meant && config.flag(refusal.key, !refusal.value) == refusal.value) {
      config.error(refusal.key, std::string(refusal.what) + " is not modelled");
    }
  }
  if (!config.lacks("word_embed_proj_dim") &&
      size_of(config, "word_embed_proj_dim") != size_of(config, dialect.hidden)) {
    config.error("word_embed_proj_dim",
                 "embeddings of another width than the blocks are not modelled");
  }
  if (config.text("position_embedding_type").starts_with("relative")) {
    config.error("position_embedding_type", "relative position embeddings are not modelled");
  }
}

// Routers and latent vectors (DeepSeek): sizes beside those of an ordinary block.
void add_experts(const JsonObject& config, const MixtureKeys& keys, TransformerShape& shape) {
  if (keys.count.empty()) {
    return;
  }
  ExpertShape& experts = shape.experts;
  experts.count = size_of(config, keys.count, hf::most_experts);
  experts.per_token = size_of(config, "num_experts_per_tok", hf::most_experts);
  experts.width = size_of(config, keys.width);
  if (!keys.shared.empty()) {
    experts.shared_width = config.count(keys.shared, hf::most_experts, 0) * experts.width;
    experts.dense_blocks = config.count(keys.dense_blocks, hf::most_layers, 0);
  }
  if (!keys.shared_width.empty()) {
    experts.shared_width = size_of(config, keys.shared_width);
    experts.shared_gate = true;
  }
  for (const std::string_view key : {"moe_layer_freq", "decoder_sparse_step"}) {
    if (config.count(key, hf::most_layers, 1) != 1) {
      config.error(key, "experts in some blocks between others is not modelled");
    }
  }
  if (config.entries("mlp_only_layers") > 0) {
    config.error("mlp_only_layers", "experts in some blocks between others is not modelled");
  }
}

void check_experts(const JsonObject& config, const MixtureKeys& keys,
                   const TransformerShape& shape) {
  if (keys.count.empty()) {
    return;
  }
  const ExpertShape& experts = shape.experts;
  if (experts.count < 1 || experts.width < 1 || experts.per_token < 1) {
    config.error(keys.count, "a mixture needs experts of a width of at least 1");
  } else if (experts.per_token > experts.count) {
    config.error("num_experts_per_tok", "a token is sent to " + std::to_string(experts.per_token) +
                                            " of " + std::to_string(experts.count) + " experts");
  }
  if (experts.dense_blocks > shape.layers) {
    config.error(keys.dense_blocks, "more blocks than the model has");
  }
}

void add_latent(const JsonObject& config, TransformerShape& shape) {
  LatentAttention& latent = shape.latent;
  latent.query_rank = config.count("q_lora_rank", hf::widest, 0);
  latent.key_rank = size_of(config, "kv_lora_rank");
  latent.rotated = size_of(config, "qk_rope_head_dim");
  latent.value_size = size_of(config, "v_head_dim");
  shape.head_size = size_of(config, "qk_nope_head_dim") + latent.rotated;
  shape.kv_heads = shape.heads;
  if (latent.key_rank < 1 || latent.value_size < 1) {
    config.error("kv_lora_rank", "latent attention needs a rank and values of at least 1");
  }
}

TransformerShape shape_of(const JsonObject& config, const Dialect& dialect) {
  TransformerShape shape;
  shape.family = dialect.family;
  shape.hidden = size_of(config, dialect.hidden);
  shape.layers = size_of(config, dialect.layers, hf::most_layers);
  shape.heads = size_of(config, dialect.heads);
  shape.kv_heads = dialect.kv_heads.empty()
                       ? shape.heads
                       : config.count(dialect.kv_heads, hf::widest, shape.heads);
  shape.head_size = shape.heads > 0 ? shape.hidden / shape.heads : 0;
  if (shape.family == TransformerFamily::llama) {
    shape.head_size = config.count("head_dim", hf::widest,
                                   dialect.head_size > 0 ? dialect.head_size : shape.head_size);
  }
  const std::int64_t four = 4 * shape.hidden;
  shape.feed_forward = dialect.feed_forward.empty() ? four
                       : dialect.feed_forward_is_four
                           ? config.count(dialect.feed_forward, 4 * hf::widest, four)
                           : size_of(config, dialect.feed_forward, 4 * hf::widest);
  shape.gated = dialect.gated;
  shape.biases = dialect.biases;
  shape.embedding_norm = dialect.embedding_norm;
  shape.norm_shift = dialect.norm_shift;
  shape.query_biases = dialect.query_bias_flag.empty()
                           ? dialect.query_biases
                           : config.flag(dialect.query_bias_flag, dialect.query_biases);
  shape.output_norms = dialect.output_norms;
  shape.head_norms = dialect.head_norms;
  shape.tied_embeddings = config.flag("tie_word_embeddings", dialect.tied);
  if (!dialect.positions.empty()) {
    shape.positions = size_of(config, dialect.positions, hf::longest) + dialect.padding_rows;
  }
  add_experts(config, dialect.mixture, shape);
  if (dialect.latent) {
    add_latent(config, shape);
  }
  return shape;
}

// Sizes that are whole numbers one by one but make no model together.
void check_shape(const JsonObject& config, const Dialect& dialect, const TransformerShape& shape) {
  if (shape.hidden < 1 || shape.layers < 1 || shape.heads < 1 || shape.kv_heads < 1 ||
      shape.head_size < 1 || shape.feed_forward < 1 || shape.sequence < 1) {
    config.error("", "a transformer needs layers, heads, widths and a length of at least 1");
    return;
  }
  const std::string_view heads = first_present(config, dialect.heads);
  const bool own_heads = dialect.latent || dialect.family == TransformerFamily::t5;
  if (config.lacks("head_dim") && !own_heads && shape.hidden % shape.heads != 0) {
    config.error(heads, std::to_string(shape.heads) + " heads do not divide a width of " +
                            std::to_string(shape.hidden));
  }
  if (shape.heads % shape.kv_heads != 0) {
    config.error(dialect.kv_heads, std::to_string(shape.kv_heads) +
                                       " key-value heads do not divide " +
                                       std::to_string(shape.heads) + " heads");
  }
  if (shape.heads * shape.head_size > 2 * hf::widest) {
    config.error(heads, "the heads together are wider than " + std::to_string(2 * hf::widest));
  }
}

}  // namespace

std::optional<TransformerShape> read_hf_config(Span text, const SourceMap& sources,
                                               Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  const auto config = JsonObject::parse(text, sources, diagnostics);
  const Dialect* dialect = config ? dialect_of(*config) : nullptr;
  if (dialect == nullptr) {
    return std::nullopt;
  }
  refuse_variants(*config, *dialect);
  TransformerShape shape = shape_of(*config, *dialect);
  add_head(*config, *dialect, shape);
  if (diagnostics.error_count() == errors) {
    check_experts(*config, dialect->mixture, shape);
    check_shape(*config, *dialect, shape);
  }
  return diagnostics.error_count() > errors ? std::nullopt : std::optional(std::move(shape));
}

}  // namespace payoff
