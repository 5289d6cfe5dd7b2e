// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "model/transformer_block.hpp"
#include "model/transformer_ends.hpp"

namespace payoff {
namespace {

void list_undivided(std::string& list, std::string_view what, std::int64_t count, int tp) {
  if (count % tp != 0) {
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(what);
  }
}

// Under a causal mask two parts a rank, so that all compute equally many scores.
void check_sequence(const std::string& whose, std::int64_t tokens, bool causal, int ranks,
                    Problems& problems) {
  if (tokens % ((causal ? 2 : 1) * std::int64_t{ranks}) != 0) {
    problems.push_back(
        {"layout.cp",
         "the " + whose + "sequence of " + std::to_string(tokens) +
             " tokens cannot be divided into " + (causal ? "2 x " : "") + "cp " +
             std::to_string(ranks) + " parts",
         causal ? "choose a cp that divides half of it" : "choose a cp that divides it"});
  }
}

void check_context(const TransformerShape& shape, int tp, const ContextParts& context,
                   Problems& problems) {
  if (context.ranks == 1) {
    return;
  }
  const std::string cp = "cp " + std::to_string(context.ranks);
  if (shape.family == TransformerFamily::vit) {
    problems.push_back({"layout.cp",
                        "the patches of an image and its class token are not dealt to ranks",
                        "set cp to 1"});
    return;
  }
  const bool has_decoder = shape.decoder.layers > 0;
  check_sequence(has_decoder ? "encoder's " : "", shape.sequence, shape.causal, context.ranks,
                 problems);
  if (has_decoder) {
    check_sequence("decoder's ", shape.decoder.sequence, true, context.ranks, problems);
  }
  // Where tp is larger, ranks hold the same ones.
  const std::int64_t groups = std::max<std::int64_t>(shape.kv_heads / tp, 1);
  if (context.exchange == ContextExchange::all_to_all && groups % context.ranks != 0) {
    problems.push_back({"layout.cp",
                        cp + " does not divide the " + std::to_string(groups) + " key-value " +
                            (groups == 1 ? "head" : "heads") +
                            " of a rank, which all_to_all exchanges",
                        "choose a cp that divides them, or context_exchange: ring"});
  }
}

// The second stack as a shape of its own: its tokens, each of which sees those before it.
TransformerShape decoder_of(const TransformerShape& shape) {
  TransformerShape decoder = shape;
  decoder.layers = shape.decoder.layers;
  decoder.sequence = shape.decoder.sequence;
  decoder.causal = true;
  return decoder;
}

void add_stack(Layer block, const BlockParts& parts, std::int64_t count, const std::string& name,
               Workload& workload) {
  for (std::int64_t i = 0; i < count; ++i) {
    block.name = name + std::to_string(i);
    workload.layers.push_back(block);
    if (i == 0) {
      parts.add_relative_positions(workload.layers.back());
    }
  }
}

// Stages of a pipeline pass on what the other stack needs later: the decoder's embedded tokens
// through the encoder, the encoder's output through the decoder.
void hand_on_both(const BlockParts& encoding, const BlockParts& decoding,
                  std::int64_t encoder_blocks, Workload& workload) {
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    Layer& layer = workload.layers[i];
    const bool encodes = i <= static_cast<std::size_t>(encoder_blocks);
    layer.passed_per_sample = encodes ? decoding.stream() : encoding.stream();
    if (!encodes && layer.recomputable) {
      layer.source_per_sample = encoding.kept_input() / encoding.sequence_parts();
    }
  }
}

void add_one_stack(const TransformerShape& shape, const BlockParts& parts, Workload& workload) {
  const std::int64_t dense = shape.experts.count > 0 ? shape.experts.dense_blocks : shape.layers;
  Layer block = parts.block(dense == 0);
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    if (i == dense) {
      block = parts.block(true);
    }
    block.name = "block " + std::to_string(i);
    workload.layers.push_back(block);
  }
  workload.layers.push_back(TransformerEnds(shape, parts).head());
}

void add_two_stacks(const TransformerShape& encoder, const BlockParts& encoding,
                    const TransformerShape& decoder, const BlockParts& decoding, bool in_pipeline,
                    Workload& workload) {
  const TransformerEnds decoder_ends(decoder, decoding);
  Layer between = TransformerEnds(encoder, encoding).between_stacks();
  decoder_ends.add_shared_tokens(in_pipeline ? workload.layers.front() : between);
  add_stack(encoding.block(false), encoding, encoder.layers, "encoder block ", workload);
  workload.layers.push_back(std::move(between));
  add_stack(decoding.decoder_block(encoder.sequence), decoding, decoder.layers, "decoder block ",
            workload);
  workload.layers.push_back(decoder_ends.head());
  if (in_pipeline) {
    hand_on_both(encoding, decoding, encoder.layers, workload);
  }
}

}  // namespace

std::int64_t parameter_count(const TransformerShape& shape) {
  return transformer_workload(shape, 1, false, 2_B).parameters();
}

bool ties_head(const TransformerShape& shape) { return shape.tied_embeddings && has_logits(shape); }

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
                              const ActivationSizes& activation, const ContextParts& context,
                              const ExpertParts& experts, int pp) {
  TransformerShape shape = whole;
  shape.sequence /= context.ranks;
  shape.decoder.sequence /= context.ranks;
  // Of those that stand anywhere the busiest rank's.
  shape.head_positions = (shape.head_positions + context.ranks - 1) / context.ranks;
  const BlockParts parts(shape, tp, sequence_parallel, activation, context, experts);
  Workload workload;
  workload.name = shape.name;
  workload.tokens_per_sample =
      shape.family == TransformerFamily::vit ? 1 : static_cast<double>(whole.sequence);
  workload.sample_name = shape.family == TransformerFamily::vit ? "image" : "sequence";
  workload.width = shape.hidden;
  workload.layers.reserve(static_cast<std::size_t>(block_count(shape)) + 3);
  workload.layers.push_back(TransformerEnds(shape, parts).embedding());
  if (shape.decoder.layers > 0) {
    const TransformerShape decoder = decoder_of(shape);
    const BlockParts decoding(decoder, tp, sequence_parallel, activation, context, experts);
    add_two_stacks(shape, parts, decoder, decoding, pp > 1, workload);
  } else {
    add_one_stack(shape, parts, workload);
  }
  return workload;
}

}  // namespace payoff
