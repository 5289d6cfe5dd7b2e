// SPDX-License-Identifier: Apache-2.0
#include "model/stage_compute.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

namespace payoff {
namespace {

class StageBuilder {
 public:
  StageBuilder(const ParallelLayout& layout, const ComputeContext& context,
               const StageNetworks& networks, WaveTable& waves)
      : layout_(layout), context_(context), messages_(layout, context, networks), waves_(waves) {}

  void add_forward(const Layer& layer) {
    layers_.push_back({compute_.forward.size(), 0});
    run_forward(layer, WorkKind::forward, compute_.forward);
  }

  void add_backward(const Layer& layer, std::size_t index) {
    layers_[index].backward = compute_.backward.size();
    if (layer.recomputable && layout_.recompute == Recompute::full) {
      run_forward(layer, WorkKind::recompute, compute_.backward);
    } else if (layer.recomputable && layout_.recompute == Recompute::selective) {
      recompute_attention(layer);
    }
    run_backward(layer);
    if (!splits_backward(layout_.schedule)) {
      add_gradients(layer, index);
    }
  }

  // Where the schedule splits backward: after all of the above.
  void add_weights(const Layer& layer, std::size_t index) {
    compute_.backward.push_back({backward(layer.forward, BackwardPart::weights), {}});
    add_gradients(layer, index);
  }

  void begin_forward_chunk() { compute_.forward_chunks.push_back(compute_.forward.size()); }
  void begin_backward_chunk() { compute_.backward_chunks.push_back(compute_.backward.size()); }

  PreparedStage finish() {
    for (const Piece& piece : compute_.forward) {
      compute_.forward_work += piece.work.alone;
      compute_.forward_messages += piece.message.alone;
      count_apart(piece);
    }
    for (const Piece& piece : compute_.backward) {
      (piece.work.kind == WorkKind::recompute ? compute_.recompute_work : compute_.backward_work) +=
          piece.work.alone;
      compute_.backward_messages += piece.message.alone;
      count_apart(piece);
    }
    return {std::make_shared<const StageCompute>(std::move(compute_)), std::move(gradients_),
            std::move(layers_)};
  }

 private:
  void count_apart(const Piece& piece) {
    if (piece.message.kind == MessageKind::cp_activations) {
      compute_.context_messages += piece.message.alone;
    } else if (piece.message.kind == MessageKind::ep_activations) {
      compute_.expert_messages += piece.message.alone;
    }
  }

  // Work runs uninterrupted up to the operator whose output must travel.
  void run_forward(const Layer& layer, WorkKind kind, std::vector<Piece>& pieces) const {
    const std::span<const Operator> operators(layer.forward);
    std::size_t start = 0;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::vector<Message> messages = messages_.after_forward(layer, i);
      if (!messages.empty()) {
        add_pieces(pieces, forward(kind, operators.subspan(start, i + 1 - start)), messages);
        start = i + 1;
      }
    }
    if (start < operators.size()) {
      pieces.push_back({forward(kind, operators.subspan(start)), {}});
    }
  }

  // The same backwards: up to the operator whose input gradient must travel.
  void run_backward(const Layer& layer) {
    const std::span<const Operator> operators(layer.forward);
    std::size_t end = operators.size();
    for (std::size_t i = operators.size(); i-- > 0;) {
      const std::vector<Message> messages = messages_.before_backward(layer, i);
      if (!messages.empty()) {
        add_pieces(compute_.backward, backward(operators.subspan(i, end - i)), messages);
        end = i;
      }
    }
    if (end > 0) {
      compute_.backward.push_back({backward(operators.first(end)), {}});
    }
  }

  // Korthikanti et al. 2022, section 5: only what attention computes from its inputs.
  void recompute_attention(const Layer& layer) {
    Seconds time;
    Seconds streaming;
    KernelMix mix;
    for (const Operator& op : layer.forward) {
      if (op.kind == OperatorKind::attention) {
        const ComputePrice price =
            price_forward(std::span(&op, 1), layout_.micro_batch, context_, &mix);
        time += price.time;
        streaming += price.memory_share * price.time;
      }
    }
    if (time > 0_s) {
      const Work again = work(WorkKind::recompute, {time, streaming / time}, mix);
      const std::vector<Message> messages = messages_.around_again(layer);
      messages.empty() ? compute_.backward.push_back({again, {}})
                       : add_pieces(compute_.backward, again, messages);
    }
  }

  [[nodiscard]] Work forward(WorkKind kind, std::span<const Operator> operators) const {
    KernelMix mix;
    return work(kind, price_forward(operators, layout_.micro_batch, context_, &mix), mix);
  }
  [[nodiscard]] Work backward(std::span<const Operator> operators) const {
    return backward(operators, splits_backward(layout_.schedule) ? BackwardPart::inputs
                                                                 : BackwardPart::both);
  }
  [[nodiscard]] Work backward(std::span<const Operator> operators, BackwardPart part) const {
    KernelMix mix;
    return work(WorkKind::backward,
                price_backward(operators, layout_.micro_batch, context_, part, &mix), mix);
  }
  [[nodiscard]] Work work(WorkKind kind, const ComputePrice& price, const KernelMix& mix) const {
    return {kind, price.time, {}, price.memory_share, waves_.add(mix)};
  }

  static void add_pieces(std::vector<Piece>& pieces, Work work,
                         const std::vector<Message>& messages) {
    for (const Message& message : messages) {
      pieces.push_back({work, message});
      work = {work.kind, {}};
    }
  }

  void add_gradients(const Layer& layer, std::size_t index) {
    const int piece = std::max(0, static_cast<int>(compute_.backward.size()) - 1);
    for (auto tensor = layer.parameters.rbegin(); tensor != layer.parameters.rend(); ++tensor) {
      gradients_.push_back({*tensor, piece, index});
      compute_.parameters += tensor->elements();
      compute_.expert_parameters += tensor->of_expert ? tensor->elements() : 0;
    }
  }

  const ParallelLayout& layout_;
  const ComputeContext& context_;
  StageMessages messages_;
  WaveTable& waves_;
  StageCompute compute_;
  std::vector<ReadyGradient> gradients_;
  std::vector<FirstPieces> layers_;
};

// Where each chunk of a stage begins among its layers: chunks have equally many blocks; what stands
// before the first block belongs to the first chunk, what follows the last one to the last.
std::vector<std::size_t> chunk_starts(const Workload& workload,
                                      const std::vector<std::size_t>& layers, int chunks) {
  std::size_t blocks = 0;
  for (const std::size_t layer : layers) {
    blocks += workload.layers[layer].recomputable ? 1U : 0U;
  }
  const std::size_t of_chunk = blocks / static_cast<std::size_t>(chunks);
  std::vector<std::size_t> starts{0};
  std::size_t seen = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!workload.layers[layers[i]].recomputable) {
      continue;
    }
    if (seen > 0 && seen % of_chunk == 0 && starts.size() < static_cast<std::size_t>(chunks)) {
      starts.push_back(i);
    }
    ++seen;
  }
  return starts;
}

}  // namespace

std::vector<std::vector<std::size_t>> divide_layers(const Workload& workload,
                                                    const ParallelLayout& layout) {
  const auto is_block = [](const Layer& layer) { return layer.recomputable; };
  const auto& layers = workload.layers;
  const auto first = static_cast<std::size_t>(
      std::distance(layers.begin(), std::find_if(layers.begin(), layers.end(), is_block)));
  const auto last =
      layers.size() - static_cast<std::size_t>(std::distance(
                          layers.rbegin(), std::find_if(layers.rbegin(), layers.rend(), is_block)));
  std::vector<std::vector<std::size_t>> stages(static_cast<std::size_t>(layout.pp));
  if (first >= last) {  // a table of layers without blocks is one stage
    for (std::size_t i = 0; i < layers.size(); ++i) {
      stages.front().push_back(i);
    }
    return stages;
  }
  const std::size_t chunks = stages.size() * static_cast<std::size_t>(layout.virtual_stages);
  for (std::size_t i = 0; i < first; ++i) {
    stages.front().push_back(i);
  }
  std::size_t next = first;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t end = layout.stage_layers.empty()
                                ? first + (chunk + 1) * (last - first) / chunks
                                : next + static_cast<std::size_t>(layout.stage_layers[chunk]);
    for (; next < end; ++next) {
      stages[chunk % stages.size()].push_back(next);
    }
  }
  for (std::size_t i = last; i < layers.size(); ++i) {
    stages.back().push_back(i);
  }
  return stages;
}

PreparedStage prepare_stage(const Workload& workload, const std::vector<std::size_t>& layers,
                            const ParallelLayout& layout, const ComputeContext& context,
                            const StageNetworks& networks, WaveTable& waves) {
  StageBuilder builder(layout, context, networks, waves);
  const std::vector<std::size_t> starts = chunk_starts(workload, layers, layout.virtual_stages);
  for (std::size_t chunk = 0; chunk < starts.size(); ++chunk) {
    builder.begin_forward_chunk();
    const std::size_t end = chunk + 1 < starts.size() ? starts[chunk + 1] : layers.size();
    for (std::size_t i = starts[chunk]; i < end; ++i) {
      builder.add_forward(workload.layers[layers[i]]);
    }
  }
  for (std::size_t chunk = starts.size(); chunk-- > 0;) {
    builder.begin_backward_chunk();
    const std::size_t end = chunk + 1 < starts.size() ? starts[chunk + 1] : layers.size();
    for (std::size_t i = end; i-- > starts[chunk];) {
      builder.add_backward(workload.layers[layers[i]], i);
    }
  }
  if (splits_backward(layout.schedule)) {
    builder.begin_backward_chunk();
    for (std::size_t i = layers.size(); i-- > 0;) {
      builder.add_weights(workload.layers[layers[i]], i);
    }
  }
  return builder.finish();
}

}  // namespace payoff
