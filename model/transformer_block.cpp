// SPDX-License-Identifier: Apache-2.0
#include "model/transformer_block.hpp"

#include <algorithm>

namespace payoff {

BlockParts::BlockParts(const TransformerShape& shape, int tp, bool sequence_parallel,
                       const ActivationSizes& activation, const ContextParts& context,
                       const ExpertParts& experts)
    : shape_(shape),
      tp_(tp),
      sequence_parallel_(sequence_parallel),
      activation_(activation.stored),
      input_share_(activation.product_input / activation.stored),
      context_(context),
      experts_(experts),
      query_width_(shape.heads * shape.head_size / tp),
      key_value_width_(std::max<std::int64_t>(shape.kv_heads / tp, 1) * shape.head_size),
      inner_width_(shape.feed_forward / tp) {}

Operator BlockParts::product(std::int64_t depth, std::int64_t columns) const {
  Operator op{.kind = OperatorKind::gemm};
  op.rows_per_sample = real(shape_.sequence);
  op.columns = real(columns);
  op.depth = real(depth);
  return op;
}

// Forward reads and writes; backward reads the gradient and the input for the gradient of the
// input and again for the sums of the parameters. Without biases it is a root mean square norm,
// which unfused frameworks compute by four element-wise kernels more.
void BlockParts::add_norm(Layer& layer) const {
  const Bytes share = stream() / sequence_parts();
  layer.forward.push_back(memory_pass(2 * share, 5 * share));
  layer.parameters.push_back({shape_.hidden, 1, false});
  if (shape_.biases || shape_.norm_shift) {
    layer.parameters.push_back({shape_.hidden, 1, false});
  } else {
    layer.forward.push_back(memory_pass(8 * share, 8 * share, 4, 0));
  }
  layer.activation_per_sample += share;
}

void BlockParts::column_parameters(Layer& layer, std::int64_t rows, bool bias) const {
  layer.parameters.push_back({rows, shape_.hidden, true});
  if (bias) {
    layer.parameters.push_back({rows, 1, false});
  }
}

// Every query with `columns` keys.
Operator BlockParts::scores(double columns, bool causal) const {
  Operator op{.kind = OperatorKind::attention};
  const double heads = real(query_width_ / shape_.head_size);
  const bool by_heads = context_.exchange == ContextExchange::all_to_all;
  op.rows_per_sample = real(shape_.sequence) * (by_heads ? context_.ranks : 1);
  op.columns = columns;
  // Scores of queries and keys; their sums of values may be narrower.
  const std::int64_t values =
      shape_.latent.key_rank > 0 ? shape_.latent.value_size : shape_.head_size;
  op.depth = 0.5 * real(shape_.head_size + values);
  op.batch_per_sample = heads / (by_heads ? context_.ranks : 1);
  // A fused kernel skips what the mask hides: (s + 1) / 2 s of the scores, s large.
  op.causal_fraction = causal ? 0.5 : 1.0;
  if (dropout()) {
    const double elements = op.rows_per_sample * op.columns * op.batch_per_sample;
    op.bytes_per_sample = elements * (2 * activation_ + 1_B);
    op.backward_bytes_per_sample = op.bytes_per_sample;
  }
  return op;
}

// Of a block's own tokens. What is added by distance is a pass over the scores where they are in
// memory; its gradient is their sum over the samples.
Operator BlockParts::own_scores() const {
  Operator op = scores(real(shape_.sequence) * context_.ranks, shape_.causal);
  if (shape_.relative_buckets > 0) {
    const Bytes all = op.rows_per_sample * op.columns * op.batch_per_sample * activation_;
    op.bytes_per_sample += 2 * all;
    op.backward_bytes_per_sample += all;
  }
  return op;
}

// Every block of scores but the first is added to the output, and in backward to the gradients of
// queries, keys and values: read, read, written. Assumed to be a kernel of its own.
void BlockParts::context(Layer& layer, const Heads& heads) const {
  if (context_.ranks == 1) {
    return;
  }
  const Bytes key_value = heads.key + heads.value;
  layer.contexts.push_back({layer.forward.size() - 1, context_, heads.query, key_value});
  if (context_.exchange == ContextExchange::ring) {
    const int blocks = context_.ranks - 1;
    layer.forward.push_back(memory_pass(
        blocks * 3 * heads.query, blocks * 3 * (heads.query + key_value), 2 * blocks, 2 * blocks));
  }
}

// Bias, dropout and the residual connection: one kernel reads two tensors and writes one and the
// mask; unfused, three kernels.
void BlockParts::residual(Layer& layer) const {
  const Bytes share = stream() / sequence_parts();
  const Bytes mask =
      dropout() ? real(shape_.sequence * shape_.hidden) / sequence_parts() * 1_B : 0_B;
  // The gradient passes the residual connection (summed there) and the dropout.
  layer.forward.push_back(memory_pass(3 * share + mask, 3 * share));
  if (dropout()) {
    layer.forward.push_back(memory_pass(2 * share, 2 * share + mask, 1, 0));
    layer.forward.push_back(memory_pass({}, 2 * share + mask));
  }
  if (shape_.biases) {
    layer.forward.push_back(memory_pass(2 * share, {}, 1, 0));
    layer.forward.push_back(memory_pass({}, share));  // sum of the bias's gradient
  }
  layer.activation_per_sample += mask;
}

void BlockParts::row_product(Layer& layer, std::size_t before, std::int64_t depth) const {
  const std::size_t after = layer.forward.size();
  layer.forward.push_back(product(depth, shape_.hidden));
  layer.parameters.push_back({shape_.hidden, depth, true});
  if (shape_.biases) {
    layer.parameters.push_back({shape_.hidden, 1, false});
  }
  if (tp_ > 1) {
    layer.syncs.push_back({.before = before, .after = after, .bytes_per_sample = stream()});
  }
  if (shape_.output_norms) {
    add_norm(layer);
  }
  residual(layer);
}

// Of queries and of keys, each head by itself: one vector for all heads of a kind, which every
// rank of a tensor group has. As add_norm() has them; their inputs are kept beside what is rotated.
void BlockParts::add_head_norms(Layer& layer, Bytes heads) const {
  layer.forward.push_back(memory_pass(2 * heads, 5 * heads, 2, 2));
  layer.forward.push_back(memory_pass(8 * heads, 8 * heads, 8, 0));
  layer.parameters.push_back({shape_.head_size, 1, false});
  layer.parameters.push_back({shape_.head_size, 1, false});
  layer.activation_per_sample += heads;
}

BlockParts::Heads BlockParts::projections(Layer& layer) const {
  const Bytes query = tokens_bytes(query_width_);
  const Bytes key_value = tokens_bytes(key_value_width_);
  layer.forward.push_back(product(shape_.hidden, query_width_ + 2 * key_value_width_));
  const bool one_tensor =
      shape_.family == TransformerFamily::gpt || shape_.family == TransformerFamily::vit;
  const bool bias = shape_.biases || shape_.query_biases;
  if (one_tensor) {
    column_parameters(layer, query_width_ + 2 * key_value_width_, bias);
  } else {
    column_parameters(layer, query_width_, bias);
    column_parameters(layer, key_value_width_, bias);
    column_parameters(layer, key_value_width_, bias);
  }
  if (bias) {
    layer.forward.push_back(memory_pass({}, query + 2 * key_value));
  }
  if (shape_.head_norms) {
    add_head_norms(layer, query + key_value);
  }
  if (shape_.family == TransformerFamily::llama) {  // rotation of queries and keys
    layer.forward.push_back(memory_pass(2 * (query + key_value), 2 * (query + key_value), 6, 2));
  }
  return {query, key_value, key_value};
}

void BlockParts::attention(Layer& layer) const {
  add_norm(layer);
  const bool latent = shape_.latent.key_rank > 0;
  const std::size_t before = layer.forward.size();
  const Heads heads = latent ? latent_projections(layer) : projections(layer);
  layer.forward.push_back(own_scores());
  context(layer, heads);
  // Kept: input of the first product, queries, keys, values, and the input of the second product.
  const std::int64_t output =
      latent ? query_width_ / shape_.head_size * shape_.latent.value_size : query_width_;
  layer.activation_per_sample += input_share_ * stream() / sequence_parts() + heads.query +
                                 heads.key + heads.value + tokens_bytes(output);
  row_product(layer, before, output);
}

void BlockParts::activation_function(Layer& layer, Bytes inner) const {
  if (shape_.gated) {
    layer.forward.push_back(memory_pass(3 * inner, 5 * inner, 1, 1));
    layer.forward.push_back(memory_pass(2 * inner, 3 * inner, 1, 0));
  } else {
    layer.forward.push_back(memory_pass(2 * inner, 3 * inner));
  }
}

// The first product of a feed-forward and what stands between it and the second one.
void BlockParts::inner_products(Layer& layer, std::int64_t width) const {
  const Bytes inner = tokens_bytes(width);
  layer.forward.push_back(product(shape_.hidden, (shape_.gated ? 2 : 1) * width));
  column_parameters(layer, width, shape_.biases);
  if (shape_.gated) {
    column_parameters(layer, width, shape_.biases);
  }
  activation_function(layer, inner);
  if (shape_.biases) {
    layer.forward.push_back(memory_pass(2 * inner, {}, 1, 0));
    layer.forward.push_back(memory_pass({}, inner));
  }
  layer.activation_per_sample += ((shape_.gated ? 2 : 1) + input_share_) * inner;
}

// T5's alone has one between the two products (Raffel et al. 2020, section 2.1).
void BlockParts::inner_dropout(Layer& layer) const {
  if (shape_.family != TransformerFamily::t5) {
    return;
  }
  const Bytes inner = tokens_bytes(inner_width_);
  const Bytes mask = real(shape_.sequence * inner_width_) * 1_B;
  layer.forward.push_back(memory_pass(2 * inner + mask, 2 * inner + mask, 1, 0));
  layer.activation_per_sample += mask;
}

void BlockParts::feed_forward(Layer& layer) const {
  add_norm(layer);
  const std::size_t before = layer.forward.size();
  inner_products(layer, inner_width_);
  inner_dropout(layer);
  layer.activation_per_sample += input_share_ * stream() / sequence_parts();
  row_product(layer, before, inner_width_);
}

Layer BlockParts::block(bool experts) const {
  Layer layer;
  layer.recomputable = true;
  attention(layer);
  experts ? expert_block(layer) : feed_forward(layer);
  layer.boundary_per_sample = stream();
  layer.selective_activation_per_sample = layer.activation_per_sample;
  keep_scores(layer, shape_.sequence);
  return layer;
}

// Softmax output, and with dropout its mask and its output.
void BlockParts::keep_scores(Layer& layer, std::int64_t columns) const {
  const double scores =
      real(shape_.sequence * columns * (query_width_ / shape_.head_size)) * context_.ranks;
  layer.activation_per_sample += scores * (dropout() ? 2 * activation_ + 1_B : activation_);
}

void BlockParts::add_relative_positions(Layer& first) const {
  if (shape_.relative_buckets > 0) {
    first.parameters.insert(first.parameters.begin(),
                            {shape_.relative_buckets, query_width_ / shape_.head_size, true});
  }
}

}  // namespace payoff
