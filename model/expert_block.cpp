// SPDX-License-Identifier: Apache-2.0
#include "model/transformer_block.hpp"

// The part of a block that sends tokens to experts (Shazeer et al. 2017, arXiv:1701.06538; Jiang
// et al. 2024, arXiv:2401.04088; DeepSeek-V2, arXiv:2405.04434, section 2.2). Every rank routes the
// tokens that it has between the parallel regions, and sends each of them to `per_token` experts.

namespace payoff {

// Scores in 32 bits, the largest of them, and where each token goes: kept for backward.
void BlockParts::route(Layer& layer) const {
  Operator scores = product(shape_.hidden, shape_.experts.count);
  scores.rows_per_sample /= sequence_parts();
  scores.in_16_bits = true;
  layer.forward.push_back(scores);
  layer.parameters.push_back({shape_.experts.count, shape_.hidden, true});
  const Bytes table = real(shape_.sequence * shape_.experts.count) / sequence_parts() * 4_B;
  layer.forward.push_back(memory_pass(3 * table, 3 * table, 4, 2));
  layer.activation_per_sample += table;
}

// The products of all experts of this rank in one launch (grouped), each of its own tokens. The
// busiest rank has `load` times the mean, all others wait for it.
void BlockParts::expert_products(Layer& layer) const {
  const ExpertShape& experts = shape_.experts;
  const std::int64_t mine = experts.count / experts_.ranks;
  const std::int64_t width = experts.width / experts_.tensor;
  const double own = experts_.load * real(shape_.sequence * experts.per_token) / sequence_parts();
  const double rows = gathers_tokens() ? experts_.tensor * own : own;
  const auto add = [&](std::int64_t depth, std::int64_t columns) {
    Operator grouped = product(depth, columns);
    grouped.rows_per_sample = rows / real(mine);
    grouped.batch_per_sample = real(mine);
    layer.forward.push_back(grouped);
  };
  const std::int64_t inner_matrices = shape_.gated ? 2 : 1;
  add(shape_.hidden, inner_matrices * width);
  const Bytes inner = rows * real(width) * activation_;
  activation_function(layer, inner);
  add(width, shape_.hidden);
  const bool apart = experts_.ranks > 1 || experts_.tensor != tp_;
  for (std::int64_t expert = 0; expert < mine; ++expert) {
    for (std::int64_t matrix = 0; matrix < inner_matrices; ++matrix) {
      layer.parameters.push_back({width, shape_.hidden, true, apart});
    }
    layer.parameters.push_back({shape_.hidden, width, true, apart});
  }
  // Inputs of the experts, outputs of this rank's tokens, and what stands between the products.
  const Bytes routed = (input_share_ * rows + own) * real(shape_.hidden) * activation_;
  layer.activation_per_sample += routed + (real(inner_matrices) + input_share_) * inner;
}

// Ranks that divide an expert and have different tokens.
bool BlockParts::gathers_tokens() const {
  return experts_.tensor > 1 && (sequence_parallel_ || tp_ == 1);
}

// Passed by all tokens, divided by tensor parallelism as any feed-forward.
void BlockParts::shared_expert(Layer& layer) const {
  const std::int64_t width = shape_.experts.shared_width / tp_;
  const std::size_t before = layer.forward.size();
  inner_products(layer, width);
  const std::size_t after = layer.forward.size();
  layer.forward.push_back(product(width, shape_.hidden));
  layer.parameters.push_back({shape_.hidden, width, true});
  if (tp_ > 1) {
    layer.syncs.push_back({.before = before, .after = after, .bytes_per_sample = stream()});
  }
  if (shape_.experts.shared_gate) {
    Operator score = product(shape_.hidden, 1);
    score.rows_per_sample /= sequence_parts();
    layer.forward.push_back(score);
    layer.parameters.push_back({1, shape_.hidden, true});
    const Bytes share = stream() / sequence_parts();
    layer.forward.push_back(memory_pass(2 * share, 4 * share));  // backward: both factors'
    layer.activation_per_sample += share;
  }
}

void BlockParts::expert_block(Layer& layer) const {
  add_norm(layer);
  layer.activation_per_sample += stream() / sequence_parts();
  route(layer);
  if (shape_.experts.shared_width > 0) {
    shared_expert(layer);
  }
  // Tokens are copied in the order of their experts, and added up in their own order.
  const Bytes copies = real(shape_.experts.per_token) * stream() / sequence_parts();
  const Bytes share = stream() / sequence_parts();
  layer.forward.push_back(memory_pass(share + copies, share + copies));
  const std::size_t before = layer.forward.size();
  expert_products(layer);
  if (experts_.ranks * experts_.tensor > 1) {
    const Bytes routed = experts_.load * copies;
    const Bytes whole = gathers_tokens() ? experts_.tensor * routed : routed;
    layer.experts = {before,
                     layer.forward.size() - 1,
                     experts_.ranks > 1 ? routed : 0_B,
                     experts_.tensor > 1 ? whole : 0_B,
                     gathers_tokens(),
                     share,
                     copies};
  }
  layer.forward.push_back(memory_pass(share + copies, 2 * copies + share));
  residual(layer);
}

}  // namespace payoff
