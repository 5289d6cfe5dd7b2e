// SPDX-License-Identifier: Apache-2.0
#include "model/transformer_block.hpp"

// Queries, keys and values by way of narrow vectors (DeepSeek-V2, arXiv:2405.04434, section 2.1 and
// appendix C; DeepSeek-V3, arXiv:2412.19437, section 2.1.1), as training computes them: widened to
// all heads before the scores. The products to the narrow vectors and their norms are not divided
// by tensor parallelism.

namespace payoff {

// Down to `width` elements and, in the same product, `beside` more that have no norm.
void BlockParts::narrow(Layer& layer, std::int64_t width, std::int64_t beside) const {
  layer.forward.push_back(product(shape_.hidden, width + beside));
  layer.parameters.push_back({width + beside, shape_.hidden, true});
  const Bytes narrowed = tokens_bytes(width);
  layer.forward.push_back(memory_pass(2 * narrowed, 5 * narrowed));
  layer.forward.push_back(memory_pass(8 * narrowed, 8 * narrowed, 4, 0));
  layer.parameters.push_back({width, 1, false});
  layer.activation_per_sample += 2 * narrowed + tokens_bytes(beside);
}

BlockParts::Heads BlockParts::latent_projections(Layer& layer) const {
  const LatentAttention& latent = shape_.latent;
  const std::int64_t heads = query_width_ / shape_.head_size;
  const std::int64_t plain = shape_.head_size - latent.rotated;
  if (latent.query_rank > 0) {
    narrow(layer, latent.query_rank, 0);
  }
  const std::int64_t query_depth = latent.query_rank > 0 ? latent.query_rank : shape_.hidden;
  layer.forward.push_back(product(query_depth, query_width_));
  layer.parameters.push_back({query_width_, query_depth, true});
  narrow(layer, latent.key_rank, latent.rotated);
  const std::int64_t widened = heads * (plain + latent.value_size);
  layer.forward.push_back(product(latent.key_rank, widened));
  layer.parameters.push_back({widened, latent.key_rank, true});
  // The rotated parts alone are rotated, then joined to the others.
  const Bytes query = tokens_bytes(query_width_);
  const Bytes rotated = tokens_bytes(heads * latent.rotated + latent.rotated);
  layer.forward.push_back(memory_pass(2 * (rotated + query), 2 * (rotated + query), 8, 2));
  return {query, query, tokens_bytes(heads * latent.value_size)};
}

}  // namespace payoff
