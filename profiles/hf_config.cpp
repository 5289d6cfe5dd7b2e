// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_config.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace payoff {
namespace {

using Json = nlohmann::json;

// How a family names its sizes. An empty name: the family has no such key.
struct Dialect {
  std::string_view model_type;
  TransformerFamily family;
  std::string_view hidden, layers, heads, kv_heads, feed_forward, positions;
  std::int64_t feed_forward_factor;  // of hidden, where the key is absent; 0: the key is required
  bool gated, biases, tied;          // defaults of the family's configuration
  std::int64_t extra_positions;      // rows that the table has beyond its stated length
};

constexpr std::array<Dialect, 8> dialects{{
    {"gpt2", TransformerFamily::gpt, "n_embd", "n_layer", "n_head", "", "n_inner", "n_positions", 4,
     false, true, true, 0},
    {"llama", TransformerFamily::llama, "hidden_size", "num_hidden_layers", "num_attention_heads",
     "num_key_value_heads", "intermediate_size", "", 0, true, false, false, 0},
    {"mistral", TransformerFamily::llama, "hidden_size", "num_hidden_layers", "num_attention_heads",
     "num_key_value_heads", "intermediate_size", "", 0, true, false, false, 0},
    {"nemotron", TransformerFamily::llama, "hidden_size", "num_hidden_layers", "num_attention_heads",
     "num_key_value_heads", "intermediate_size", "", 0, false, false, false, 0},
    {"opt", TransformerFamily::gpt, "hidden_size", "num_hidden_layers", "num_attention_heads", "",
     "ffn_dim", "max_position_embeddings", 4, false, true, true, 2},
    // ALiBi instead of a position table; its extra norm after the embedding is two vectors.
    {"bloom", TransformerFamily::gpt, "n_embed", "n_layer", "num_attention_heads", "", "", "", 4, false,
     true, true, 0},
    {"bert", TransformerFamily::bert, "hidden_size", "num_hidden_layers", "num_attention_heads", "",
     "intermediate_size", "max_position_embeddings", 0, false, true, true, 0},
    {"vit", TransformerFamily::vit, "hidden_size", "num_hidden_layers", "num_attention_heads", "",
     "intermediate_size", "", 0, false, true, false, 0},
}};

// Larger shapes are mistakes, and their counts would not fit 64 bits.
constexpr std::int64_t largest_size = 1LL << 32;

class Config {
 public:
  Config(const Json& json, Span text, const SourceMap& sources, Diagnostics& diagnostics)
      : json_(json), text_(text), sources_(sources), diagnostics_(diagnostics) {}

  std::int64_t size(std::string_view key, std::optional<std::int64_t> fallback = std::nullopt) {
    const auto found = key.empty() ? json_.end() : json_.find(std::string(key));
    if (found == json_.end() || found->is_null()) {
      if (!fallback) {
        diagnostics_.error(text_start(), "`" + std::string(key) + "` is missing",
                           "this configuration decides no " + std::string(key));
      }
      return fallback.value_or(1);
    }
    if (!found->is_number_integer() || found->get<std::int64_t>() < 0 ||
        found->get<std::int64_t>() > largest_size) {
      diagnostics_.error(place(key), "`" + std::string(key) + "` must be a whole number between 0 and 2^32");
      return fallback.value_or(1);
    }
    return found->get<std::int64_t>();
  }

  bool flag(std::string_view key, bool fallback) {
    const auto found = json_.find(std::string(key));
    if (found == json_.end() || found->is_null()) {
      return fallback;
    }
    if (!found->is_boolean()) {
      diagnostics_.error(place(key), "`" + std::string(key) + "` must be true or false");
      return fallback;
    }
    return found->get<bool>();
  }

  std::string text(std::string_view key) {
    const auto found = json_.find(std::string(key));
    return found != json_.end() && found->is_string() ? found->get<std::string>() : std::string{};
  }

  std::string architecture() {
    const auto found = json_.find("architectures");
    const bool named = found != json_.end() && found->is_array() && !found->empty() && found->front().is_string();
    return named ? found->front().get<std::string>() : std::string{};
  }

  // Where a key stands: its first mention in the text.
  Span place(std::string_view key) const {
    const std::string quoted = "\"" + std::string(key) + "\"";
    const std::size_t at = sources_.text(text_).find(quoted);
    return at == std::string_view::npos ? text_start() : Span{text_.source, text_.offset + at, quoted.size()};
  }

  Span text_start() const { return {text_.source, text_.offset, 1}; }

 private:
  const Json& json_;
  Span text_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
};

const Dialect* dialect_of(Config& config, Diagnostics& diagnostics) {
  const std::string type = config.text("model_type");
  for (const Dialect& dialect : dialects) {
    if (dialect.model_type == type) {
      return &dialect;
    }
  }
  std::string known;
  for (const Dialect& dialect : dialects) {
    known += (known.empty() ? "" : ", ") + std::string(dialect.model_type);
  }
  const bool experts = config.size("num_local_experts", 0) > 0 || config.size("n_routed_experts", 0) > 0;
  diagnostics.error(config.place("model_type"),
                    experts ? "mixture-of-experts models are not modelled"
                            : "model_type " + backquoted(type) + " is not known",
                    "", "known: " + known);
  return nullptr;
}

TransformerShape shape_of(Config& config, const Dialect& dialect) {
  TransformerShape shape;
  shape.family = dialect.family;
  shape.hidden = config.size(dialect.hidden);
  shape.layers = config.size(dialect.layers);
  shape.heads = config.size(dialect.heads);
  shape.kv_heads = config.size(dialect.kv_heads, shape.heads);
  shape.head_size = config.size("head_dim", shape.heads > 0 ? shape.hidden / shape.heads : 0);
  shape.feed_forward =
      dialect.feed_forward_factor > 0
          ? config.size(dialect.feed_forward, dialect.feed_forward_factor * shape.hidden)
          : config.size(dialect.feed_forward);
  shape.gated = dialect.gated;
  shape.biases = dialect.biases;
  shape.tied_embeddings = config.flag("tie_word_embeddings", dialect.tied);
  if (!dialect.positions.empty()) {
    shape.positions = config.size(dialect.positions) + dialect.extra_positions;
  }
  return shape;
}

void add_tokens(Config& config, const Dialect& dialect, TransformerShape& shape) {
  shape.vocabulary = config.size("vocab_size");
  const std::string_view length = dialect.model_type == "gpt2"    ? "n_positions"
                                  : dialect.model_type == "bloom" ? "seq_length"
                                                                  : "max_position_embeddings";
  shape.sequence = config.size(length);
}

void add_bert(Config& config, TransformerShape& shape) {
  const std::string architecture = config.architecture();
  shape.causal = false;
  shape.token_types = config.size("type_vocab_size", 2);
  shape.pooler = architecture != "BertForMaskedLM";
  shape.masked_head = architecture == "BertForMaskedLM" || architecture == "BertForPreTraining";
  shape.classes = architecture == "BertForSequenceClassification" ? config.size("num_labels", 2) : 0;
}

void add_image(Config& config, TransformerShape& shape) {
  shape.causal = false;
  shape.image_patch = config.size("patch_size");
  shape.image_channels = config.size("num_channels", 3);
  shape.classes = config.size("num_labels", 1000);
  const std::int64_t side = shape.image_patch > 0 ? config.size("image_size") / shape.image_patch : 0;
  shape.sequence = side * side + 1;  // the class token
  shape.positions = shape.sequence;
}

}  // namespace

std::optional<TransformerShape> read_hf_config(Span text, const SourceMap& sources,
                                               Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  Json json;
  try {
    json = Json::parse(sources.text(text));
  } catch (const Json::parse_error& error) {
    const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
    diagnostics.error(Span{text.source, text.offset + at, 1}, "this is not valid JSON");
    return std::nullopt;
  }
  if (!json.is_object()) {
    diagnostics.error(Span{text.source, text.offset, 1}, "a model configuration is a JSON object");
    return std::nullopt;
  }
  Config config(json, text, sources, diagnostics);
  const Dialect* dialect = dialect_of(config, diagnostics);
  if (dialect == nullptr) {
    return std::nullopt;
  }
  TransformerShape shape = shape_of(config, *dialect);
  if (dialect->family == TransformerFamily::vit) {
    add_image(config, shape);
  } else {
    add_tokens(config, *dialect, shape);
  }
  if (dialect->family == TransformerFamily::bert) {
    add_bert(config, shape);
  }
  if (shape.hidden < 1 || shape.layers < 1 || shape.heads < 1 || shape.sequence < 1) {
    diagnostics.error(config.text_start(), "a transformer needs layers, heads, a width and a length of at least 1");
  }
  return diagnostics.error_count() > errors ? std::nullopt : std::optional(shape);
}

}  // namespace payoff
