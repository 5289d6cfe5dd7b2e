// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.hpp"

#include <string>
#include <utility>

#include "model/transformer_block.hpp"

namespace payoff {
namespace {

bool has_dropout(const TransformerShape& shape) {
  return shape.family == TransformerFamily::gpt || shape.family == TransformerFamily::bert;
}

// Passes over the logits of a cross-entropy in 32 bits: cast, maximum, sum of exponentials and
// the loss forward; one read and one write backward (assumed for an unfused implementation).
constexpr double loss_bytes_forward = 4.0 * 5;
constexpr double loss_bytes_backward = 4.0 * 3;

// What stands before and after the blocks.
class Ends {
 public:
  Ends(const TransformerShape& shape, const BlockParts& parts) : shape_(shape), parts_(parts) {}

  Layer embedding() const {
    Layer layer;
    layer.name = "embedding";
    const Bytes stream = parts_.stream();
    if (shape_.family == TransformerFamily::vit) {
      patches(layer);
    } else {
      tokens(layer);
    }
    vectors_of_positions(layer);
    if (shape_.family == TransformerFamily::bert || shape_.embedding_norm) {
      parts_.add_norm(layer);
    }
    if (has_dropout(shape_)) {
      layer.forward.push_back(memory_pass(2 * stream, 2 * stream));
      layer.activation_per_sample += 0.5 * stream / parts_.sequence_parts();  // the mask
    }
    if (parts_.tp() > 1 && shape_.family != TransformerFamily::vit) {
      layer.syncs.push_back(
          {.before = 0, .after = 0, .bytes_per_sample = stream, .backward = false});
    }
    layer.selective_activation_per_sample = layer.activation_per_sample;
    layer.boundary_per_sample = 4_B * BlockParts::number(shape_.sequence);  // token numbers
    return layer;
  }

  Layer head() const {
    Layer layer;
    layer.name = "head";
    if (shape_.family != TransformerFamily::bert) {
      parts_.add_norm(layer);
    }
    if (shape_.pooler) {
      single_position_product(layer, shape_.hidden, shape_.hidden);
    }
    if (shape_.masked_head) {
      masked_transform(layer);
    }
    if (shape_.classes > 0) {
      single_position_product(layer, shape_.classes, shape_.hidden);
    }
    if (shape_.family == TransformerFamily::gpt || shape_.family == TransformerFamily::llama ||
        shape_.masked_head) {
      logits(layer);
    }
    layer.selective_activation_per_sample = layer.activation_per_sample;
    layer.boundary_per_sample = parts_.stream();
    return layer;
  }

 private:
  double head_positions() const {
    return BlockParts::number(shape_.head_positions > 0 ? shape_.head_positions : shape_.sequence);
  }

  // Forward gathers rows and writes them; backward clears the gradient of the table and adds to it.
  void tokens(Layer& layer) const {
    const Bytes table =
        BlockParts::number(parts_.vocabulary_part() * shape_.hidden) * parts_.activation();
    Operator lookup = memory_pass(2 * parts_.stream(), 3 * parts_.stream());
    lookup.backward_bytes_fixed = table;
    layer.forward.push_back(lookup);
    layer.parameters.push_back({parts_.vocabulary_part(), shape_.hidden, true});
  }

  // A convolution without overlap: every patch is a row.
  void patches(Layer& layer) const {
    const std::int64_t pixels = shape_.image_patch * shape_.image_patch * shape_.image_channels;
    Operator product = parts_.product(pixels, shape_.hidden);
    product.rows_per_sample -= 1;  // the class token
    product.input_gradient = false;
    layer.forward.push_back(product);
    layer.forward.push_back(memory_pass({}, parts_.stream()));
    layer.parameters.push_back({shape_.hidden, pixels, true});
    layer.parameters.push_back({shape_.hidden, 1, false});
    layer.parameters.push_back({shape_.hidden, 1, false});  // the class token
  }

  void vectors_of_positions(Layer& layer) const {
    for (const std::int64_t rows : {shape_.positions, shape_.token_types}) {
      if (rows > 0) {
        layer.forward.push_back(memory_pass(2 * parts_.stream(), parts_.stream()));
        layer.parameters.push_back({rows, shape_.hidden, true});
      }
    }
  }

  void single_position_product(Layer& layer, std::int64_t out, std::int64_t in) const {
    Operator product = parts_.product(in, out);
    product.rows_per_sample = 1;
    layer.forward.push_back(product);
    layer.parameters.push_back({out, in, true});
    layer.parameters.push_back({out, 1, false});
  }

  // Dense, activation and norm on the masked positions; the next-sentence classifier on the pooled
  // one.
  void masked_transform(Layer& layer) const {
    const Bytes part = head_positions() / BlockParts::number(shape_.sequence) * parts_.stream();
    Operator product = parts_.product(shape_.hidden, shape_.hidden);
    product.rows_per_sample = head_positions();
    layer.forward.push_back(product);
    layer.forward.push_back(memory_pass(4 * part, 8 * part));
    layer.parameters.push_back({shape_.hidden, shape_.hidden, true});
    for (int vector = 0; vector < 3; ++vector) {  // bias, and the two vectors of the norm
      layer.parameters.push_back({shape_.hidden, 1, false});
    }
    layer.parameters.push_back({parts_.vocabulary_part(), 1, false});  // bias of the decoder
    layer.activation_per_sample += 3 * part;
    if (shape_.pooler) {
      single_position_product(layer, 2, shape_.hidden);
    }
  }

  void logits(Layer& layer) const {
    const double count = head_positions() * BlockParts::number(parts_.vocabulary_part());
    Operator product = parts_.product(shape_.hidden, parts_.vocabulary_part());
    product.rows_per_sample = head_positions();
    const std::size_t index = layer.forward.size();
    layer.forward.push_back(product);
    layer.forward.push_back(memory_pass(count * (parts_.activation() + Bytes{loss_bytes_forward}),
                                        count * (parts_.activation() + Bytes{loss_bytes_backward}),
                                        4));
    if (!shape_.tied_embeddings) {
      layer.parameters.push_back({parts_.vocabulary_part(), shape_.hidden, true});
    }
    layer.activation_per_sample +=
        count * 4_B + head_positions() * BlockParts::number(shape_.hidden) * parts_.activation();
    if (parts_.tp() > 1) {
      layer.syncs.push_back(
          {.before = index, .after = index, .bytes_per_sample = parts_.stream(), .forward = false});
    }
  }

  const TransformerShape& shape_;
  const BlockParts& parts_;
};

void list_undivided(std::string& list, std::string_view what, std::int64_t count, int tp) {
  if (count % tp != 0) {
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(what);
  }
}

void check_context(const TransformerShape& shape, int tp, const ContextParts& context,
                   Problems& problems) {
  if (context.ranks == 1) {
    return;
  }
  const std::string cp = "cp " + std::to_string(context.ranks);
  if (shape.family == TransformerFamily::vit || shape.family == TransformerFamily::bert) {
    problems.push_back({"layout.cp", "context parallelism is of language models with a causal mask",
                        "set cp to 1"});
    return;
  }
  // Two parts a rank, so that all compute equally many scores.
  if (shape.sequence % (2 * std::int64_t{context.ranks}) != 0) {
    problems.push_back({"layout.cp",
                        "the sequence of " + std::to_string(shape.sequence) +
                            " tokens cannot be divided into 2 x " + cp + " parts",
                        "choose a cp that divides half of it"});
  }
  const std::int64_t groups = shape.kv_heads / tp;
  if (context.exchange == ContextExchange::all_to_all && groups % context.ranks != 0) {
    problems.push_back({"layout.cp",
                        cp + " does not divide the " + std::to_string(groups) +
                            " key-value heads of a rank, which all_to_all exchanges",
                        "choose a cp that divides them, or context_exchange: ring"});
  }
}

}  // namespace

std::int64_t parameter_count(const TransformerShape& shape) {
  return transformer_workload(shape, 1, false, 2_B).parameters();
}

std::int64_t active_parameter_count(const TransformerShape& shape) {
  TransformerShape active = shape;
  active.experts.count = shape.experts.per_token;
  // A router has a row for every expert, wherever the token goes.
  const std::int64_t mixtures = shape.layers - shape.experts.dense_blocks;
  const std::int64_t rows = shape.experts.count - active.experts.count;
  return parameter_count(active) + (rows > 0 ? mixtures * rows * shape.hidden : 0);
}

Problems check_transformer(const TransformerShape& shape, int tp, const ContextParts& context) {
  Problems problems;
  std::string undivided;
  list_undivided(undivided, "attention heads", shape.heads, tp);
  if (shape.kv_heads != shape.heads && tp % shape.kv_heads != 0) {
    list_undivided(undivided, "key-value heads", shape.kv_heads, tp);
  }
  if (shape.experts.count == 0 || shape.experts.dense_blocks > 0) {
    list_undivided(undivided, "columns of the feed-forward", shape.feed_forward, tp);
  }
  list_undivided(undivided, "columns of the shared experts", shape.experts.shared_width, tp);
  if (!undivided.empty()) {
    problems.push_back(
        {"layout.tp",
         "the model has " + undivided + ", which tp " + std::to_string(tp) + " does not divide",
         "choose a tp that divides them"});
  }
  if (tp > 1 && shape.family == TransformerFamily::vit) {
    problems.push_back(
        {"layout.tp", "the patch embedding of a ViT is not divided by tp", "set tp to 1"});
  }
  check_context(shape, tp, context, problems);
  return problems;
}

Workload transformer_workload(const TransformerShape& whole, int tp, bool sequence_parallel,
                              Bytes activation, const ContextParts& context,
                              const ExpertParts& experts) {
  TransformerShape shape = whole;
  shape.sequence /= context.ranks;
  shape.head_positions /= context.ranks;
  const BlockParts parts(shape, tp, sequence_parallel, activation, context, experts);
  const Ends ends(shape, parts);
  Workload workload;
  workload.name = shape.name;
  workload.tokens_per_sample =
      shape.family == TransformerFamily::vit ? 1 : static_cast<double>(whole.sequence);
  workload.sample_name = shape.family == TransformerFamily::vit ? "image" : "sequence";
  workload.width = shape.hidden;
  workload.layers.reserve(static_cast<std::size_t>(shape.layers) + 2);
  workload.layers.push_back(ends.embedding());
  const std::int64_t dense = shape.experts.count > 0 ? shape.experts.dense_blocks : shape.layers;
  Layer block = parts.block(dense == 0);
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    if (i == dense) {
      block = parts.block(true);
    }
    block.name = "block " + std::to_string(i);
    workload.layers.push_back(block);
  }
  workload.layers.push_back(ends.head());
  return workload;
}

}  // namespace payoff
