// SPDX-License-Identifier: Apache-2.0
#include "model/stage_compute.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "model/layer_division.hpp"
#include "model/measured_pieces.hpp"
#include "model/recomputation.hpp"

namespace payoff {
namespace {

bool send_nothing(const std::vector<Piece>& pieces) {
  return std::none_of(pieces.begin(), pieces.end(),
                      [](const Piece& piece) { return piece.message.size > 0_B; });
}

class StageBuilder {
 public:
  StageBuilder(const ParallelLayout& layout, const ComputeContext& context,
               const StageNetworks& networks, WaveTable& waves, ActivationCodecs* codecs)
      : layout_(layout),
        context_(context),
        messages_(layout, context, networks),
        networks_(networks),
        waves_(waves),
        codecs_(codecs) {}

  // `number`: of the layer in the workload, as its codec knows it.
  void add_forward(const Layer& layer, std::size_t number) {
    number_ = number;
    layers_.push_back({compute_.forward.size(), 0});
    run_forward(layer, WorkKind::forward, compute_.forward);
    if (layer.measured) {
      use_measured(compute_.forward, layers_.back().forward, WorkKind::forward,
                   layer.measured->forward);
    }
  }

  void add_backward(const Layer& layer, std::size_t index, std::size_t number) {
    number_ = number;
    const std::size_t first = compute_.backward.size();
    layers_[index].backward = first;
    if (layer.recomputable && layout_.recompute == Recompute::full) {
      run_forward(layer, WorkKind::recompute, compute_.backward);
    } else if (layer.recomputable && layout_.recompute == Recompute::selective) {
      recompute_selected(layer);
    }
    run_backward(layer);
    if (layer.measured) {
      use_measured_backward(layer, index, first);
    }
    if (!splits_backward(layout_.schedule)) {
      add_gradients(layer, index);
      return;
    }
    backward_ends_.resize(std::max(backward_ends_.size(), index + 1));
    backward_ends_[index] = compute_.backward.size();
  }

  // Where the schedule splits backward: after all of the above.
  void add_weights(const Layer& layer, std::size_t index) {
    const std::size_t first = compute_.backward.size();
    compute_.backward.push_back({backward(layer.forward, BackwardPart::weights), {}});
    compute_.weights_after.push_back(backward_ends_[index]);
    if (layer.measured) {
      stretch(compute_.backward, first, WorkKind::backward, backward_ratios_[index]);
    }
    add_gradients(layer, index);
  }

  void begin_forward_chunk() { compute_.forward_chunks.push_back(compute_.forward.size()); }
  void begin_backward_chunk() { compute_.backward_chunks.push_back(compute_.backward.size()); }
  void add_codec(const std::vector<Work>& codec, bool forward) {
    for (const Work& work : codec) {
      if (work.alone > 0_s) {
        (forward ? compute_.forward : compute_.backward).push_back({work, {}});
      }
    }
  }

  PreparedStage finish() {
    compute_.sends_nothing = send_nothing(compute_.forward) && send_nothing(compute_.backward);
    if (layout_.overlaps_pairs()) {
      share_memory(compute_.forward);
      share_memory(compute_.backward);
    }
    for (const Piece& piece : compute_.forward) {
      (is_codec(piece.work.kind) ? codec_time(piece, compute_.forward_codec)
                                 : compute_.forward_work) += piece.work.alone;
      compute_.forward_messages += piece.message.alone;
      count_apart(piece);
    }
    for (const Piece& piece : compute_.backward) {
      (is_codec(piece.work.kind)                ? codec_time(piece, compute_.backward_codec)
       : piece.work.kind == WorkKind::recompute ? compute_.recompute_work
                                                : compute_.backward_work) += piece.work.alone;
      compute_.backward_messages += piece.message.alone;
      count_apart(piece);
    }
    return {std::make_shared<const StageCompute>(std::move(compute_)), std::move(gradients_),
            std::move(layers_)};
  }

 private:
  // What selective recomputation computes again keeps its price: nobody timed it apart.
  void use_measured_backward(const Layer& layer, std::size_t index, std::size_t first) {
    std::vector<Piece>& pieces = compute_.backward;
    if (layout_.recompute == Recompute::full) {
      use_measured(pieces, first, WorkKind::recompute, layer.measured->forward);
    }
    const double ratio = measured_ratio(pieces, first, WorkKind::backward, layer.measured->backward,
                                        weights_time(layer));
    stretch(pieces, first, WorkKind::backward, ratio);
    backward_ratios_.resize(std::max(backward_ratios_.size(), index + 1), 1.0);
    backward_ratios_[index] = ratio;
  }

  // Of a layer whose gradients of weights run apart; 0 where they do not.
  [[nodiscard]] Seconds weights_time(const Layer& layer) const {
    return splits_backward(layout_.schedule)
               ? price_backward(layer.forward, layout_.micro_batch, context_, BackwardPart::weights)
                     .time
               : 0_s;
  }

  // Messages move memory beside the other half of a pair.
  void share_memory(std::vector<Piece>& pieces) const {
    for (Piece& piece : pieces) {
      Message& message = piece.message;
      if (message.alone > 0_s) {
        message.memory_share =
            memory_share(message, network_of(message.kind).group().ranks, context_.gpu);
      }
    }
  }
  [[nodiscard]] const CollectiveModel& network_of(MessageKind kind) const {
    return kind == MessageKind::cp_activations    ? networks_.context
           : kind == MessageKind::ep_activations  ? networks_.experts
           : kind == MessageKind::etp_activations ? networks_.expert_tensor
                                                  : networks_.tensor;
  }

  static Seconds& codec_time(const Piece& piece, CodecTime& of) {
    return piece.work.kind == WorkKind::encode ? of.encode : of.decode;
  }

  void count_apart(const Piece& piece) {
    if (piece.message.kind == MessageKind::cp_activations) {
      compute_.context_messages += piece.message.alone;
    } else if (is_of_experts(piece.message.kind)) {
      compute_.expert_messages += piece.message.alone;
    }
  }

  // Work runs uninterrupted up to the operator whose output must travel.
  void run_forward(const Layer& layer, WorkKind kind, std::vector<Piece>& pieces) {
    const std::span<const Operator> operators(layer.forward);
    std::size_t start = 0;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::vector<Message> messages = messages_.after_forward(layer, i);
      if (!messages.empty()) {
        add_pieces(pieces, forward(kind, operators.subspan(start, i + 1 - start)), messages,
                   {number_, i, true});
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
      if (const std::vector<Piece> codec = codec_gradients(layer, i); !codec.empty()) {
        if (i + 1 < end) {
          compute_.backward.push_back({backward(operators.subspan(i + 1, end - i - 1)), {}});
        }
        compute_.backward.insert(compute_.backward.end(), codec.begin(), codec.end());
        end = i + 1;
      }
      const std::vector<Message> messages = messages_.before_backward(layer, i);
      if (!messages.empty()) {
        add_pieces(compute_.backward, backward(operators.subspan(i, end - i)), messages,
                   {number_, i, false});
        end = i;
      }
    }
    if (end > 0) {
      compute_.backward.push_back({backward(operators.first(end)), {}});
    }
  }

  // Of what learned to compress the output of operator `op`.
  [[nodiscard]] std::vector<Piece> codec_gradients(const Layer& layer, std::size_t op) const {
    if (codecs_ != nullptr) {
      for (const TensorParallelSync& sync : layer.syncs) {
        if (sync.after == op) {
          return codecs_->gradients_through(sync, number_);
        }
      }
    }
    return {};
  }

  // Attention that waits for keys of other ranks waits for them again.
  void recompute_selected(const Layer& layer) {
    const std::vector<Operator> again = computed_again(layer, layout_.recompute, context_.software);
    if (again.empty()) {
      return;
    }
    const Work work = forward(WorkKind::recompute, again);
    const std::vector<Message> messages = context_.software.recomputes_products
                                              ? std::vector<Message>{}
                                              : messages_.around_again(layer);
    messages.empty() ? compute_.backward.push_back({work, {}})
                     : add_pieces(compute_.backward, work, messages,
                                  {number_, layer.contexts.front().attention, true});
  }

  [[nodiscard]] Work forward(WorkKind kind, std::span<const Operator> operators) const {
    KernelMix mix;
    return work(kind, price_forward(operators, layout_.micro_batch, context_, &mix), mix);
  }
  [[nodiscard]] Work backward(std::span<const Operator> operators) const {
    return backward(operators,
                    splits_backward(layout_.schedule) ? BackwardPart::inputs : BackwardPart::both);
  }
  [[nodiscard]] Work backward(std::span<const Operator> operators, BackwardPart part) const {
    KernelMix mix;
    return work(WorkKind::backward,
                price_backward(operators, layout_.micro_batch, context_, part, &mix), mix);
  }
  [[nodiscard]] Work work(WorkKind kind, const ComputePrice& price, const KernelMix& mix) const {
    return {kind, price.time, {}, price.memory_share, waves_.add(mix)};
  }

  // A message that is compressed has pieces of its own in its place.
  void add_pieces(std::vector<Piece>& pieces, Work work, const std::vector<Message>& messages,
                  const ActivationCodecs::Place& place) const {
    for (const Message& message : messages) {
      const auto compressed = codecs_ ? codecs_->in_place_of(message, place) : std::vector<Piece>{};
      if (compressed.empty() || work.alone > 0_s) {
        pieces.push_back({work, compressed.empty() ? message : Message{}});
      }
      pieces.insert(pieces.end(), compressed.begin(), compressed.end());
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
  StageNetworks networks_;
  WaveTable& waves_;
  ActivationCodecs* codecs_;  // null: nothing is compressed
  std::size_t number_{};      // of the present layer
  StageCompute compute_;
  std::vector<ReadyGradient> gradients_;
  std::vector<FirstPieces> layers_;
  std::vector<double> backward_ratios_;     // of measured layers, over their prices
  std::vector<std::size_t> backward_ends_;  // of layers, where gradients of weights are apart
};

}  // namespace

PreparedStage prepare_stage(const Workload& workload, const std::vector<std::size_t>& layers,
                            const ParallelLayout& layout, const ComputeContext& context,
                            const StageNetworks& networks, WaveTable& waves,
                            ActivationCodecs* codecs) {
  StageBuilder builder(layout, context, networks, waves, codecs);
  const std::vector<std::size_t> starts = chunk_starts(workload, layers, layout);
  const auto end_of = [&](std::size_t chunk) {
    return chunk + 1 < starts.size() ? starts[chunk + 1] : layers.size();
  };
  const auto send_after = [&](std::size_t layer, bool forward) {
    return codecs == nullptr || layout.pp == 1 ? ActivationCodecs::Send{}
                                               : codecs->send(layer, forward);
  };
  // What enters a chunk was encoded by the stage before it, whose last layer stands before the
  // chunk's first one.
  const auto received = [&](std::size_t chunk, bool forward) {
    const std::size_t first = layers[starts[chunk]];
    return first == 0 ? ActivationCodecs::Send{} : send_after(first - 1, forward);
  };
  const auto sent = [&](std::size_t chunk, bool forward) {
    const std::size_t last = layers[end_of(chunk) - 1];
    return last + 1 == workload.layers.size() ? ActivationCodecs::Send{}
                                              : send_after(last, forward);
  };
  for (std::size_t chunk = 0; chunk < starts.size(); ++chunk) {
    builder.begin_forward_chunk();
    builder.add_codec({received(chunk, true).decode}, true);
    for (std::size_t i = starts[chunk]; i < end_of(chunk); ++i) {
      builder.add_forward(workload.layers[layers[i]], layers[i]);
    }
    builder.add_codec(sent(chunk, true).encode, true);
  }
  for (std::size_t chunk = starts.size(); chunk-- > 0;) {
    builder.begin_backward_chunk();
    builder.add_codec({sent(chunk, false).decode}, false);
    for (std::size_t i = end_of(chunk); i-- > starts[chunk];) {
      builder.add_backward(workload.layers[layers[i]], i, layers[i]);
    }
    builder.add_codec(received(chunk, false).encode, false);
  }
  for (std::size_t chunk = starts.size(); splits_backward(layout.schedule) && chunk-- > 0;) {
    builder.begin_backward_chunk();
    for (std::size_t i = end_of(chunk); i-- > starts[chunk];) {
      builder.add_weights(workload.layers[layers[i]], i);
    }
  }
  return builder.finish();
}

}  // namespace payoff
