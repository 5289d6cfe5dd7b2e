// SPDX-License-Identifier: Apache-2.0
#include "model/transformer_ends.hpp"

namespace payoff {
namespace {

// Passes over the logits of a cross-entropy in 32 bits: cast, maximum, sum of exponentials and
// the loss forward; one read and one write backward (assumed for an unfused implementation).
constexpr double loss_bytes_forward = 4.0 * 5;
constexpr double loss_bytes_backward = 4.0 * 3;

}  // namespace

bool has_logits(const TransformerShape& shape) {
  return shape.family == TransformerFamily::gpt || shape.family == TransformerFamily::llama ||
         shape.family == TransformerFamily::t5 || shape.masked_head;
}

Layer TransformerEnds::embedding() const {
  Layer layer;
  layer.name = "embedding";
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
    add_dropout(layer);
  }
  if (shape_.family != TransformerFamily::vit) {
    sum_lookup(layer, 0);
  }
  layer.selective_activation_per_sample = layer.activation_per_sample;
  layer.boundary_per_sample = 4_B * real(shape_.sequence);  // token numbers
  return layer;
}

Layer TransformerEnds::between_stacks() const {
  Layer layer;
  layer.name = "decoder embedding";
  parts_.add_norm(layer);
  final_dropout(layer);
  // What all blocks of the decoder project, kept once for them.
  layer.activation_per_sample += parts_.kept_input() / parts_.sequence_parts();
  layer.selective_activation_per_sample = layer.activation_per_sample;
  layer.boundary_per_sample = parts_.stream();
  return layer;
}

void TransformerEnds::add_shared_tokens(Layer& layer) const {
  const std::size_t place = layer.forward.size();
  shared_tokens(layer);
  add_dropout(layer);
  sum_lookup(layer, place);
  layer.selective_activation_per_sample = layer.activation_per_sample;
  layer.boundary_per_sample += 4_B * real(shape_.sequence);
}

Layer TransformerEnds::head() const {
  Layer layer;
  layer.name = "head";
  if (shape_.family != TransformerFamily::bert) {
    parts_.add_norm(layer);
  }
  if (shape_.family == TransformerFamily::t5) {
    final_dropout(layer);
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
  if (has_logits(shape_)) {
    logits(layer);
  }
  layer.selective_activation_per_sample = layer.activation_per_sample;
  layer.boundary_per_sample = parts_.stream();
  return layer;
}

Operator TransformerEnds::end_product(std::int64_t depth, std::int64_t columns) const {
  Operator product = parts_.product(depth, columns);
  product.in_16_bits = true;
  return product;
}

double TransformerEnds::head_positions() const {
  return real(shape_.head_positions > 0 ? shape_.head_positions : shape_.sequence);
}

// Forward gathers rows and writes them; backward clears the gradient of the table and adds to it.
Operator TransformerEnds::lookup() const {
  const Bytes table = real(parts_.vocabulary_part() * shape_.hidden) * parts_.activation();
  Operator rows = memory_pass(2 * parts_.stream(), 3 * parts_.stream());
  rows.backward_bytes_fixed = table;
  return rows;
}

void TransformerEnds::tokens(Layer& layer) const {
  layer.forward.push_back(lookup());
  layer.parameters.push_back({parts_.vocabulary_part(), shape_.hidden, true});
}

// Of a table that is another layer's: its two gradients are added up (assumed to be a pass of its
// own).
void TransformerEnds::shared_tokens(Layer& layer) const {
  Operator rows = lookup();
  rows.backward_bytes_fixed *= 4;
  layer.forward.push_back(rows);
}

// Each rank of a tensor group has a part of the table, and zeros for all other tokens.
void TransformerEnds::sum_lookup(Layer& layer, std::size_t place) const {
  if (parts_.tp() > 1) {
    layer.syncs.push_back(
        {.before = place, .after = place, .bytes_per_sample = parts_.stream(), .backward = false});
  }
}

// A byte for each element, whatever its precision.
Bytes TransformerEnds::mask_of(Bytes activations) const {
  return activations / parts_.activation() * 1_B;
}

void TransformerEnds::add_dropout(Layer& layer) const {
  const Bytes stream = parts_.stream();
  layer.forward.push_back(memory_pass(2 * stream, 2 * stream));
  layer.activation_per_sample += mask_of(stream / parts_.sequence_parts());
}

// Behind the norm of a stack: each rank's part of the tokens.
void TransformerEnds::final_dropout(Layer& layer) const {
  const Bytes share = parts_.stream() / parts_.sequence_parts();
  const Bytes mask = mask_of(share);
  layer.forward.push_back(memory_pass(2 * share + mask, 2 * share + mask));
  layer.activation_per_sample += mask;
}

// A convolution without overlap: every patch is a row.
void TransformerEnds::patches(Layer& layer) const {
  const std::int64_t pixels = shape_.image_patch * shape_.image_patch * shape_.image_channels;
  Operator product = end_product(pixels, shape_.hidden);
  product.rows_per_sample -= 1;  // the class token
  product.input_gradient = false;
  layer.forward.push_back(product);
  layer.forward.push_back(memory_pass({}, parts_.stream()));
  layer.parameters.push_back({shape_.hidden, pixels, true});
  layer.parameters.push_back({shape_.hidden, 1, false});
  layer.parameters.push_back({shape_.hidden, 1, false});  // the class token
}

void TransformerEnds::vectors_of_positions(Layer& layer) const {
  for (const std::int64_t rows : {shape_.positions, shape_.token_types}) {
    if (rows > 0) {
      layer.forward.push_back(memory_pass(2 * parts_.stream(), parts_.stream()));
      layer.parameters.push_back({rows, shape_.hidden, true});
    }
  }
}

void TransformerEnds::single_position_product(Layer& layer, std::int64_t out,
                                              std::int64_t in) const {
  Operator product = end_product(in, out);
  product.rows_per_sample = 1;
  layer.forward.push_back(product);
  layer.parameters.push_back({out, in, true});
  layer.parameters.push_back({out, 1, false});
}

// Dense, activation and norm on the masked positions; the next-sentence classifier on the pooled
// one.
void TransformerEnds::masked_transform(Layer& layer) const {
  const Bytes part = head_positions() / real(shape_.sequence) * parts_.stream();
  Operator product = end_product(shape_.hidden, shape_.hidden);
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

void TransformerEnds::logits(Layer& layer) const {
  const double count = head_positions() * real(parts_.vocabulary_part());
  Operator product = end_product(shape_.hidden, parts_.vocabulary_part());
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
      count * 4_B + head_positions() * real(shape_.hidden) * parts_.activation();
  if (parts_.tp() > 1) {
    layer.syncs.push_back(
        {.before = index, .after = index, .bytes_per_sample = parts_.stream(), .forward = false});
  }
}

}  // namespace payoff
