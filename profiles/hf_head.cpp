// SPDX-License-Identifier: Apache-2.0
#include "profiles/hf_head.hpp"

#include <cstdint>
#include <string>

#include "profiles/hf_dialects.hpp"
#include "profiles/hf_encoder_decoder.hpp"
#include "profiles/hf_sizes.hpp"

namespace payoff {
namespace {

constexpr std::int64_t bloom_training_length = 2048;  // ALiBi sets no limit of its own

void add_tokens(const JsonObject& config, const Dialect& dialect, TransformerShape& shape) {
  shape.vocabulary = size_of(config, "vocab_size", hf::largest_table);
  shape.sequence = dialect.model_type == "bloom"
                       ? config.count(dialect.length, hf::longest, bloom_training_length)
                       : size_of(config, dialect.length, hf::longest);
  if (dialect.model_type == "roberta" && shape.sequence > 2) {
    shape.sequence -= 2;
  }
  const std::int64_t window = config.count("sliding_window", hf::longest, shape.sequence);
  if (window < shape.sequence &&
      config.flag("use_sliding_window", !dialect.model_type.starts_with("qwen"))) {
    config.warning("sliding_window",
                   "attention is priced over the whole sequence, not over the "
                   "window of " +
                       std::to_string(window) + " tokens");
  }
}

std::int64_t labels(const JsonObject& config) {
  const auto named = static_cast<std::int64_t>(config.entries("id2label"));
  constexpr std::int64_t usual = 2;
  return config.count("num_labels", hf::largest_table, named > 0 ? named : usual);
}

void refuse_head(const JsonObject& config, const std::string& architecture,
                 const std::string& known) {
  config.error("architectures", "the head of " + backquoted(architecture) + " is not modelled", "",
               "known: " + known);
}

void add_bert_head(const JsonObject& config, const std::string& architecture,
                   TransformerShape& shape) {
  shape.causal = false;
  shape.token_types = config.count("type_vocab_size", hf::largest_table, 2);
  const bool masked = architecture.ends_with("ForMaskedLM");
  const bool both = architecture == "BertForPreTraining";
  shape.pooler = !masked;
  shape.masked_head = masked || both;
  if (architecture == "BertForSequenceClassification" ||
      architecture == "RobertaForSequenceClassification") {
    // RoBERTa's has a dense layer of its own in place of the pooler: as many parameters.
    shape.classes = labels(config);
  } else if (!shape.masked_head && !architecture.empty() && !architecture.ends_with("Model")) {
    refuse_head(config, architecture,
                "...Model, ...ForMaskedLM, BertForPreTraining, ...ForSequenceClassification");
  }
}

void add_image(const JsonObject& config, const std::string& architecture, TransformerShape& shape) {
  shape.causal = false;
  shape.image_patch = size_of(config, "patch_size", 1 << 12);
  shape.image_channels = config.count("num_channels", 1 << 12, 3);
  const std::int64_t size = size_of(config, "image_size");
  if (shape.image_patch < 1 || size % shape.image_patch != 0) {
    config.error("patch_size", "patches of " + std::to_string(shape.image_patch) +
                                   " do not divide an image of " + std::to_string(size));
    return;
  }
  const std::int64_t side = size / shape.image_patch;
  shape.sequence = side * side + 1;  // the class token
  shape.positions = shape.sequence;
  if (architecture == "ViTModel") {
    shape.pooler = true;
  } else {
    shape.classes = labels(config);
  }
  if (!architecture.empty() && architecture != "ViTModel" &&
      architecture != "ViTForImageClassification") {
    refuse_head(config, architecture, "ViTModel, ViTForImageClassification");
  }
}

}  // namespace

void add_head(const JsonObject& config, const Dialect& dialect, TransformerShape& shape) {
  const std::string architecture = config.first_text("architectures");
  if (dialect.family == TransformerFamily::vit) {
    add_image(config, architecture, shape);
    return;
  }
  if (dialect.family == TransformerFamily::t5) {
    add_encoder_decoder(config, architecture, shape);
    return;
  }
  add_tokens(config, dialect, shape);
  if (dialect.family == TransformerFamily::bert) {
    add_bert_head(config, architecture, shape);
  } else if (architecture.find("For") != std::string::npos &&
             !architecture.ends_with("ForCausalLM")) {
    refuse_head(config, architecture, "a language-model head (...ForCausalLM, ...LMHeadModel)");
  }
}

}  // namespace payoff
