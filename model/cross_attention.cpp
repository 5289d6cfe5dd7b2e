// SPDX-License-Identifier: Apache-2.0
#include "model/transformer_block.hpp"

// The block of a decoder beside an encoder (Vaswani et al. 2017, section 3.2.3; Raffel et al. 2020,
// arXiv:1910.10683, section 2.1): attention to its own tokens, attention of them to the output of
// the encoder, feed-forward. Every block projects keys and values of that output anew. Tensor
// parallelism divides the heads: each rank needs all of the encoder's output for its own ones, and
// its gradient is a sum over the ranks in every block, as Megatron-Core's cross-attention does it.
// Ranks of a context project keys and values of their own part of it.

namespace payoff {

// Keys and values. In backward the gradient of the encoder's output is added to what later blocks
// gave it.
BlockParts::Heads BlockParts::source_projection(Layer& layer, std::int64_t source) const {
  const Bytes output = real(source * shape_.hidden) * activation_;
  layer.forward.push_back(memory_pass({}, 3 * output / sequence_parts()));
  const std::size_t place = layer.forward.size();
  Operator projection = product(shape_.hidden, 2 * key_value_width_);
  projection.rows_per_sample = real(source);
  layer.forward.push_back(projection);
  column_parameters(layer, key_value_width_, shape_.biases);
  column_parameters(layer, key_value_width_, shape_.biases);
  const Bytes projected = real(source * key_value_width_) * activation_;
  if (shape_.biases) {
    layer.forward.push_back(memory_pass({}, 2 * projected));
  }
  layer.activation_per_sample += 2 * projected;
  if (tp_ > 1) {
    layer.syncs.push_back({.before = place,
                           .after = place - 1,
                           .bytes_per_sample = output,
                           .forward = sequence_parallel_,
                           .of_encoder = true});
  }
  return {tokens_bytes(query_width_), projected, projected};
}

void BlockParts::cross_attention(Layer& layer, std::int64_t source) const {
  add_norm(layer);
  const std::size_t before = layer.forward.size();
  const Bytes query = tokens_bytes(query_width_);
  layer.forward.push_back(product(shape_.hidden, query_width_));
  column_parameters(layer, query_width_, shape_.biases);
  if (shape_.biases) {
    layer.forward.push_back(memory_pass({}, query));
  }
  const Heads heads = source_projection(layer, source);
  layer.forward.push_back(scores(real(source) * context_.ranks, false));
  context(layer, heads);
  // Kept: input of the queries' product, queries, and the input of the last product.
  layer.activation_per_sample += input_share_ * stream() / sequence_parts() + 2 * query;
  row_product(layer, before, query_width_);
}

Layer BlockParts::decoder_block(std::int64_t source) const {
  Layer layer;
  layer.recomputable = true;
  attention(layer);
  cross_attention(layer, source);
  feed_forward(layer);
  layer.boundary_per_sample = stream();
  layer.selective_activation_per_sample = layer.activation_per_sample;
  keep_scores(layer, shape_.sequence + source);
  return layer;
}

}  // namespace payoff
