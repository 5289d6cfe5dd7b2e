// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/transformer_block.hpp"

// What stands before, between and after the blocks of a transformer, as one tensor-parallel rank
// runs it: tables of tokens and positions, final norms, heads.

namespace payoff {

// Whether the head predicts tokens.
[[nodiscard]] bool has_logits(const TransformerShape& shape);

class TransformerEnds {
 public:
  // Both outlive it.
  TransformerEnds(const TransformerShape& shape, const BlockParts& parts)
      : shape_(shape), parts_(parts) {}

  [[nodiscard]] Layer embedding() const;
  // Behind the blocks of an encoder: the norm of what it hands on to a decoder.
  [[nodiscard]] Layer between_stacks() const;
  // Of a decoder: the rows of its tokens, from the encoder's table.
  void add_shared_tokens(Layer& layer) const;
  [[nodiscard]] Layer head() const;

 private:
  // fp8 training leaves the ends of a model in 16 bits.
  [[nodiscard]] Operator end_product(std::int64_t depth, std::int64_t columns) const;
  [[nodiscard]] double head_positions() const;
  void tokens(Layer& layer) const;
  void shared_tokens(Layer& layer) const;
  [[nodiscard]] Operator lookup() const;
  void sum_lookup(Layer& layer, std::size_t place) const;
  [[nodiscard]] Bytes mask_of(Bytes activations) const;
  void add_dropout(Layer& layer) const;
  void final_dropout(Layer& layer) const;
  void patches(Layer& layer) const;
  void vectors_of_positions(Layer& layer) const;
  void single_position_product(Layer& layer, std::int64_t out, std::int64_t in) const;
  void masked_transform(Layer& layer) const;
  void logits(Layer& layer) const;

  const TransformerShape& shape_;
  const BlockParts& parts_;
};

}  // namespace payoff
