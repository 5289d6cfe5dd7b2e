// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_encoder_decoder.hpp"

#include "profiles/hf_dialects.hpp"
#include "profiles/suggest.hpp"

namespace payoff {
namespace {

constexpr std::int64_t pretraining_length = 512;  // Raffel et al. 2020, section 3.1.2
constexpr std::int64_t usual_buckets = 32;        // section 2.1, and T5Config

void add_feed_forward(const JsonObject& config, TransformerShape& shape) {
  const std::string kind = config.text("feed_forward_proj");
  shape.gated = kind.starts_with("gated-");
  // relu, gelu or silu: functions cost alike.
  const std::string function = shape.gated ? kind.substr(std::string("gated-").size()) : kind;
  if (!kind.empty() && function != "relu" && function != "gelu" && function != "silu") {
    config.error("feed_forward_proj", "the feed-forward " + backquoted(kind) + " is not modelled",
                 "", "known: relu, gelu, silu, gated-relu, gated-gelu, gated-silu");
  }
}

}  // namespace

void add_encoder_decoder(const JsonObject& config, const std::string& architecture,
                         TransformerShape& shape) {
  shape.causal = false;
  shape.head_size = config.count("d_kv", hf::widest);
  shape.vocabulary = config.count("vocab_size", hf::largest_table);
  shape.relative_buckets =
      config.count("relative_attention_num_buckets", hf::largest_table, usual_buckets);
  shape.sequence = config.count("n_positions", hf::longest, pretraining_length);
  shape.decoder.layers = config.count("num_decoder_layers", hf::most_layers, shape.layers);
  shape.decoder.sequence = shape.sequence;
  add_feed_forward(config, shape);
  if (shape.decoder.layers < 1) {
    config.error("num_decoder_layers", "an encoder without a decoder is not modelled");
  }
  if (!architecture.empty() && !architecture.ends_with("ForConditionalGeneration") &&
      architecture != "T5WithLMHeadModel") {
    config.error("architectures", "the head of " + backquoted(architecture) + " is not modelled",
                 "", "known: T5ForConditionalGeneration, MT5ForConditionalGeneration");
  }
}

}  // namespace payoff
