// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/transformer.hpp"

// One block of a transformer as one tensor-parallel rank runs it: attention and feed-forward, each
// a column-parallel product, work on the part, and a row-parallel product whose output is summed
// over the ranks (Shoeybi et al. 2019, section 3). Kept activations follow Korthikanti et al. 2022,
// equations 1-4, written per tensor so that they hold for grouped queries and gated layers too:
// s b h (34 + 5 a s / h) bytes for a GPT block in 16 bits, of which selective recomputation
// keeps 34.

namespace payoff {

// Masks of what training leaves out at random; Llama's and ViT's blocks leave out nothing.
[[nodiscard]] constexpr bool has_dropout(const TransformerShape& shape) {
  return shape.family == TransformerFamily::gpt || shape.family == TransformerFamily::bert ||
         shape.family == TransformerFamily::t5;
}

class BlockParts {
 public:
  // `shape.sequence` is the part of the tokens that one rank holds.
  BlockParts(const TransformerShape& shape, int tp, bool sequence_parallel,
             const ActivationSizes& activation, const ContextParts& context,
             const ExpertParts& experts);

  // With experts, or with the ordinary feed-forward.
  [[nodiscard]] Layer block(bool experts) const;
  // Of a decoder that attends to an encoder's tokens beside its own, of which this rank holds
  // `source` (model/cross_attention).
  [[nodiscard]] Layer decoder_block(std::int64_t source) const;
  // The first one of a stack holds what T5 adds to the scores by distance; its gradient is a sum
  // over all of them.
  void add_relative_positions(Layer& first) const;

  [[nodiscard]] int tp() const { return tp_; }
  [[nodiscard]] Bytes activation() const { return activation_; }
  // Ranks that share the norms and dropouts between the parallel regions.
  [[nodiscard]] double sequence_parts() const { return sequence_parallel_ ? tp_ : 1; }
  // One tensor of hidden values of a sample, whole.
  [[nodiscard]] Bytes stream() const { return real(shape_.sequence * shape_.hidden) * activation_; }
  // The same as products keep it.
  [[nodiscard]] Bytes kept_input() const { return input_share_ * stream(); }
  [[nodiscard]] std::int64_t vocabulary_part() const { return (shape_.vocabulary + tp_ - 1) / tp_; }
  // A product over all tokens of a sample.
  [[nodiscard]] Operator product(std::int64_t depth, std::int64_t columns) const;
  void add_norm(Layer& layer) const;

 private:
  // What attention sends between ranks of a context, and reads.
  struct Heads {
    Bytes query;
    Bytes key;
    Bytes value;
  };
  void attention(Layer& layer) const;
  void cross_attention(Layer& layer, std::int64_t source) const;
  Heads source_projection(Layer& layer, std::int64_t source) const;
  [[nodiscard]] Heads projections(Layer& layer) const;
  void add_head_norms(Layer& layer, Bytes heads) const;
  [[nodiscard]] Heads latent_projections(Layer& layer) const;
  void narrow(Layer& layer, std::int64_t width, std::int64_t beside) const;
  void feed_forward(Layer& layer) const;
  void expert_block(Layer& layer) const;
  void route(Layer& layer) const;
  void expert_products(Layer& layer) const;
  [[nodiscard]] bool gathers_tokens() const;
  void shared_expert(Layer& layer) const;
  void inner_products(Layer& layer, std::int64_t width) const;
  void activation_function(Layer& layer, Bytes inner) const;
  void row_product(Layer& layer, std::size_t before, std::int64_t depth) const;
  void residual(Layer& layer) const;
  void column_parameters(Layer& layer, std::int64_t rows, bool bias) const;
  [[nodiscard]] Operator scores(double columns, bool causal) const;
  [[nodiscard]] Operator own_scores() const;
  void inner_dropout(Layer& layer) const;
  void keep_scores(Layer& layer, std::int64_t columns) const;
  void context(Layer& layer, const Heads& heads) const;
  [[nodiscard]] bool dropout() const { return has_dropout(shape_); }
  [[nodiscard]] Bytes tokens_bytes(std::int64_t width) const {
    return real(shape_.sequence * width) * activation_;
  }

  TransformerShape shape_;
  int tp_;
  bool sequence_parallel_;
  Bytes activation_;
  double input_share_;  // of the inputs of products, as they are kept, over activation_
  ContextParts context_;
  ExpertParts experts_;
  std::int64_t query_width_;      // of this rank
  std::int64_t key_value_width_;  // of this rank, keys or values
  std::int64_t inner_width_;      // of this rank's feed-forward
};

}  // namespace payoff
