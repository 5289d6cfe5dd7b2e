// SPDX-License-Identifier: Apache-2.0
#include "model/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace payoff {
namespace {

Bytes without_recomputation(const Layer& layer, bool fused_attention) {
  return fused_attention ? layer.selective_activation_per_sample : layer.activation_per_sample;
}

Bytes kept(const Layer& layer, const ParallelLayout& layout, bool fused_attention) {
  if (layer.recomputable && layout.recompute == Recompute::full) {
    return layer.boundary_per_sample;
  }
  if (layer.recomputable && layout.recompute == Recompute::selective) {
    return layer.selective_activation_per_sample;
  }
  return without_recomputation(layer, fused_attention);
}

// The encoder's output, where a chunk begins with blocks of the decoder: it came with their input.
Bytes received_source(std::span<const Layer* const> layers, const ParallelLayout& layout) {
  std::vector<std::size_t> blocks;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i]->recomputable) {
      blocks.push_back(i);
    }
  }
  const auto chunks = static_cast<std::size_t>(layout.virtual_stages);
  Bytes sum{};
  for (std::size_t chunk = 0; chunk < chunks && !blocks.empty(); ++chunk) {
    const std::size_t first = blocks[chunk * blocks.size() / chunks];
    const bool follows_encoder = first > 0 && !layers[first - 1]->recomputable;
    sum += follows_encoder ? Bytes{} : layers[first]->source_per_sample;
  }
  return sum;
}

// At the moment at which the chunks of a stage hold most together.
Bytes alive_activations(const StageContent& content, const ParallelLayout& layout) {
  if (content.alive.empty()) {
    return micro_batches_in_flight(layout, content.stage) *
           kept_activations(content.layers, layout, content.fused_attention);
  }
  ParallelLayout of_one = layout;
  of_one.virtual_stages = 1;
  std::vector<Bytes> of_chunk;
  for (std::size_t chunk = 0; chunk < content.chunks.size(); ++chunk) {
    const std::size_t begin = content.chunks[chunk];
    const std::size_t end =
        chunk + 1 < content.chunks.size() ? content.chunks[chunk + 1] : content.layers.size();
    of_chunk.push_back(kept_activations(content.layers.subspan(begin, end - begin), of_one,
                                        content.fused_attention));
  }
  return held(content.alive, of_chunk);
}

// The layer that is being computed again has all of its activations for a moment.
Bytes recomputation_peak(std::span<const Layer* const> layers, const ParallelLayout& layout,
                         bool fused_attention) {
  Bytes peak{};
  for (const Layer* layer : layers) {
    if (layer->recomputable) {
      peak = std::max(peak, without_recomputation(*layer, fused_attention) -
                                kept(*layer, layout, fused_attention));
    }
  }
  return layout.micro_batch * peak;
}

// Gradients that stand in buckets at once. With sharded weights those of a unit go before the next
// but one comes; else all that other ranks sum too.
double in_buckets(const StageContent& content, const ParallelLayout& layout) {
  if (layout.zero == 3) {
    return static_cast<double>(content.reduced);
  }
  const std::int64_t experts = content.expert_parameters;
  const std::int64_t others = content.parameters - experts;
  return static_cast<double>((layout.data_ranks() > 1 ? others : 0) +
                             (layout.expert_replicas() > 1 ? experts : 0));
}

// Whether a rank keeps the sum of its own part alone. What only the last micro-batch reduces has
// to stand whole until then.
bool adds_parts(const ParallelLayout& layout) {
  return (layout.zero == 2 && layout.passes() == 1) ||
         (layout.zero == 3 && !layout.keeps_weights());
}

}  // namespace

double micro_batches_in_flight(const ParallelLayout& layout, int stage) {
  if (layout.schedule == PipelineSchedule::gpipe) {
    return layout.passes();
  }
  if (is_v_shaped(layout.schedule)) {
    const double alive =
        layout.schedule == PipelineSchedule::zb_v ? layout.stages() : layout.stages() + 0.5;
    return std::min<double>(alive, layout.passes());
  }
  if (splits_backward(layout.schedule)) {
    const int alive =
        layout.schedule == PipelineSchedule::zb_h1 ? layout.stages() : 2 * layout.stages() - 1;
    return std::min(alive, layout.passes());
  }
  const double chunks = layout.virtual_stages;
  const double after = layout.stages() - 1 - stage;
  const double warm_up = layout.virtual_stages == 1
                             ? after + 1
                             : (2 * after + (chunks - 1) * layout.stages() + 1) / chunks;
  return std::min<double>(warm_up, layout.passes());
}

Bytes kept_activations(std::span<const Layer* const> layers, const ParallelLayout& layout,
                       bool fused_attention) {
  Bytes sum = received_source(layers, layout);
  for (const Layer* layer : layers) {
    sum += kept(*layer, layout, fused_attention);
  }
  return layout.micro_batch * sum;
}

Memory stage_memory(const StageContent& content, const ParallelLayout& layout,
                    const Training& training, Bytes capacity) {
  const auto parameters = static_cast<double>(content.parameters);
  const auto gathered = static_cast<double>(content.gathered);
  const double whole = std::max(gathered, static_cast<double>(content.kept));
  const double parts = layout.shard_ranks();
  // Of one rank, with sharded states.
  const auto experts = static_cast<double>(content.expert_parameters);
  const double part = (parameters - experts) / parts + experts / layout.expert_shards();
  Memory memory;
  memory.parameters = (layout.zero == 3 ? part + whole : parameters) *
                      weight_size(training.precision, content.fp8_weights);
  memory.gradients =
      (adds_parts(layout) ? part + gathered : parameters) * element_size(training.gradient);
  memory.optimizer = part * training.optimizer_bytes_per_parameter;
  memory.activations = alive_activations(content, layout) +
                       recomputation_peak(content.layers, layout, content.fused_attention);
  for (const Layer* layer : content.layers) {
    memory.parameters += layer->tables.weights;
    memory.optimizer += layer->tables.state;
  }
  memory.buckets =
      content.bucket_copies * in_buckets(content, layout) * element_size(training.gradient);
  memory.codec_state = content.codec_state;
  memory.margin_ratio = training.memory_margin;
  memory.capacity = capacity;
  return memory;
}

}  // namespace payoff
