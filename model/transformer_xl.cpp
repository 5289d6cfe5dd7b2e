// SPDX-License-Identifier: Apache-2.0
#include "model/transformer_xl.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "model/transformer.hpp"
#include "model/transformer_block.hpp"

namespace payoff {
namespace {

// Of a cluster's vectors.
std::int64_t width_of(const TransformerXlShape& shape, std::size_t cluster) {
  std::int64_t width = shape.hidden;
  for (std::size_t i = 0; i < cluster; ++i) {
    width /= shape.narrower;
  }
  return std::max<std::int64_t>(width, 1);
}

// Of all tokens, those whose word is in a cluster: frequencies as 1 / rank, whose sum from a to b
// is log(b / a), and Euler's constant more from the first one on.
std::vector<double> token_shares(const std::vector<std::int64_t>& clusters) {
  constexpr double euler = 0.5772156649;
  std::vector<double> shares;
  double last = 0;
  double rank = 0;
  for (const std::int64_t words : clusters) {
    rank += real(words);
    const double sum = std::log(rank) + euler;
    shares.push_back(sum - last);
    last = sum;
  }
  for (double& share : shares) {
    share /= last;
  }
  return shares;
}

Operator product(double rows, std::int64_t depth, std::int64_t columns) {
  Operator op{.kind = OperatorKind::gemm};
  op.rows_per_sample = rows;
  op.depth = real(depth);
  op.columns = real(columns);
  return op;
}

class Builder {
 public:
  Builder(const TransformerXlShape& shape, Bytes activation)
      : shape_(shape),
        activation_(activation),
        tokens_(real(shape.sequence)),
        stream_(tokens_ * real(shape.hidden) * activation),
        scores_(tokens_ * real(shape.sequence + shape.memory) * real(shape.heads) * activation) {}

  // What a block of GPT does not have. Rows of keys and values of the memory; past states are
  // copied in front of the segment.
  void extend(Layer& block) const {
    const auto scores =
        std::find_if(block.forward.begin(), block.forward.end(),
                     [](const Operator& op) { return op.kind == OperatorKind::attention; });
    const double memory = real(shape_.memory);
    scores->columns += memory;
    scores->causal_fraction = 1;  // no kernel of that code skips what the mask hides
    scores->bytes_per_sample *= 1 + memory / tokens_;
    scores->backward_bytes_per_sample *= 1 + memory / tokens_;
    const std::int64_t head = shape_.hidden / shape_.heads;
    // Of queries with vectors of distances; their projection is shared by the samples of a batch,
    // and left out.
    Operator by_distance =
        product(tokens_ * real(shape_.heads), head, shape_.sequence + shape_.memory);
    std::vector<Operator> before{by_distance};
    // Shifted by a copy; then added to the others and scaled in one kernel; then masked.
    before.push_back(memory_pass(7 * scores_, 7 * scores_, 3, 3));
    before.push_back(product(memory, shape_.hidden, 2 * shape_.hidden));
    before.push_back(memory_pass(2 * (1 + memory / tokens_) * stream_, 2 * stream_));
    block.forward.insert(scores, before.begin(), before.end());
    block.parameters.push_back({shape_.hidden, shape_.hidden, true});
    const Bytes kept = 2 * memory / tokens_ * stream_ + 2 * scores_;
    block.activation_per_sample += kept;
    block.selective_activation_per_sample += 2 * memory / tokens_ * stream_;
  }

  [[nodiscard]] Layer embedding() const {
    Layer layer;
    layer.name = "embedding";
    Operator lookup = memory_pass(2 * stream_, 3 * stream_);
    const std::vector<double> shares = token_shares(shape_.clusters);
    for (std::size_t i = 0; i < shape_.clusters.size(); ++i) {
      const std::int64_t width = width_of(shape_, i);
      lookup.backward_bytes_fixed += real(shape_.clusters[i] * width) * activation_;
      layer.parameters.push_back({shape_.clusters[i], width, true});
      if (shape_.narrower > 1) {
        layer.forward.push_back(product(shares[i] * tokens_, width, shape_.hidden));
        layer.parameters.push_back({shape_.hidden, width, true});
      }
    }
    layer.forward.push_back(lookup);
    layer.forward.push_back(memory_pass(2 * stream_, 2 * stream_));  // dropout
    layer.activation_per_sample = stream_ / activation_ * 1_B;       // the mask
    layer.selective_activation_per_sample = layer.activation_per_sample;
    layer.boundary_per_sample = 4_B * tokens_;
    return layer;
  }

  // Tables are the embedding's. The first cluster has a word for each of the others.
  [[nodiscard]] Layer head() const {
    Layer layer;
    layer.name = "head";
    const std::vector<double> shares = token_shares(shape_.clusters);
    for (std::size_t i = 0; i < shape_.clusters.size(); ++i) {
      const std::int64_t width = width_of(shape_, i);
      const std::int64_t others = i == 0 ? static_cast<std::int64_t>(shares.size()) - 1 : 0;
      const std::int64_t words = shape_.clusters[i] + others;
      const double rows = i == 0 ? tokens_ : shares[i] * tokens_;
      if (shape_.narrower > 1) {
        layer.forward.push_back(product(rows, shape_.hidden, width));
      }
      layer.forward.push_back(product(rows, width, words));
      // Passes of a loss in 32 bits, as of other transformers (model/transformer_ends.cpp).
      layer.forward.push_back(
          memory_pass(rows * real(words) * 20_B, rows * real(words) * 12_B, 5, 5));
      layer.parameters.push_back({words, 1, false});
      if (others > 0) {
        layer.parameters.push_back({others, shape_.hidden, true});
      }
      layer.activation_per_sample += rows * real(words) * 4_B;
    }
    layer.activation_per_sample += stream_;
    layer.selective_activation_per_sample = layer.activation_per_sample;
    layer.boundary_per_sample = stream_;
    return layer;
  }

 private:
  const TransformerXlShape& shape_;
  Bytes activation_;
  double tokens_;
  Bytes stream_;
  Bytes scores_;
};

}  // namespace

std::vector<std::int64_t> wikitext_clusters() { return {19997, 20000, 160000, 67738}; }

std::int64_t parameter_count(const TransformerXlShape& shape) {
  return transformer_xl_workload(shape, 4_B).parameters();
}

Workload transformer_xl_workload(const TransformerXlShape& shape, Bytes activation) {
  TransformerShape blocks;
  blocks.name = shape.name;
  blocks.family = TransformerFamily::gpt;
  blocks.layers = shape.layers;
  blocks.hidden = shape.hidden;
  blocks.heads = shape.heads;
  blocks.kv_heads = shape.heads;
  blocks.head_size = shape.hidden / shape.heads;
  blocks.feed_forward = shape.feed_forward;
  blocks.sequence = shape.sequence;
  blocks.vocabulary = 1;
  blocks.tied_embeddings = true;
  Workload workload = transformer_workload(blocks, 1, false, activation);
  const Builder builder(shape, activation);
  for (Layer& layer : workload.layers) {
    if (layer.recomputable) {
      builder.extend(layer);
    }
  }
  workload.layers.front() = builder.embedding();
  workload.layers.back() = builder.head();
  return workload;
}

}  // namespace payoff
