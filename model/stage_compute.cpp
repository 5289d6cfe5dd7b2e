// SPDX-License-Identifier: Apache-2.0
#include "model/stage_compute.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace payoff {
namespace {

class StageBuilder {
 public:
  StageBuilder(const ParallelLayout& layout, const ComputeContext& context,
               const CollectiveModel& tensor_network)
      : layout_(layout), context_(context), tensor_network_(tensor_network) {}

  void add_forward(const Layer& layer) {
    std::size_t next_sync = 0;
    Seconds work;
    for (std::size_t i = 0; i < layer.forward.size(); ++i) {
      work += forward_time(layer.forward[i], layout_.micro_batch, context_);
      for (; next_sync < layer.syncs.size() && layer.syncs[next_sync].after == i; ++next_sync) {
        add_pieces(compute_.forward, {WorkKind::forward, work}, layer.syncs[next_sync]);
        work = {};
      }
    }
    if (work > 0_s || layer.forward.empty()) {
      compute_.forward.push_back({{WorkKind::forward, work}, {}});
    }
  }

  // Recomputation runs the forward again, with its communication; backward has as many
  // synchronisations as forward (the conjugate operators), spread evenly over its work.
  void add_backward(const Layer& layer) {
    add_recomputation(layer);
    Seconds work;
    for (const Operator& op : layer.forward) {
      work += backward_time(op, layout_.micro_batch, context_);
    }
    if (layer.syncs.empty()) {
      compute_.backward.push_back({{WorkKind::backward, work}, {}});
    }
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(layer.syncs.size(), 1));
    for (const TensorParallelSync& sync : layer.syncs) {
      add_pieces(compute_.backward, {WorkKind::backward, share * work}, sync);
    }
    add_gradients(layer);
  }

  PreparedStage finish() {
    for (const Piece& piece : compute_.forward) {
      compute_.forward_work += piece.work.alone;
      compute_.forward_messages += piece.message.alone;
    }
    for (const Piece& piece : compute_.backward) {
      (piece.work.kind == WorkKind::recompute ? compute_.recompute_work : compute_.backward_work) +=
          piece.work.alone;
      compute_.backward_messages += piece.message.alone;
    }
    return {std::make_shared<const StageCompute>(std::move(compute_)), std::move(gradients_)};
  }

 private:
  void add_recomputation(const Layer& layer) {
    if (layout_.recompute == Recompute::none || !layer.recomputable) {
      return;
    }
    if (layout_.recompute == Recompute::selective) {
      Seconds work;
      for (const Operator& op : layer.forward) {
        if (op.kind == OperatorKind::attention) {
          work += forward_time(op, layout_.micro_batch, context_);
        }
      }
      compute_.backward.push_back({{WorkKind::recompute, work}, {}});
      return;
    }
    std::vector<Piece> forward;
    std::swap(forward, compute_.forward);
    add_forward(layer);
    std::swap(forward, compute_.forward);
    for (Piece& piece : forward) {
      piece.work.kind = WorkKind::recompute;
      compute_.backward.push_back(piece);
    }
  }

  // With sequence parallelism an all-reduce becomes its two halves, of equal volume.
  void add_pieces(std::vector<Piece>& pieces, Work work, const TensorParallelSync& sync) {
    const Bytes size = layout_.micro_batch * sync.bytes_per_sample;
    if (layout_.sequence_parallel) {
      pieces.push_back({work, message(Collective::reduce_scatter, size)});
      pieces.push_back({{work.kind, {}}, message(Collective::all_gather, size)});
    } else {
      pieces.push_back({work, message(Collective::all_reduce, size)});
    }
  }

  [[nodiscard]] Message message(Collective collective, Bytes size) const {
    const CollectivePrice price = tensor_network_.price(collective, size);
    return {MessageKind::tp_activations, collective, size, price.time, price.channels,
            price.relative_sd};
  }

  void add_gradients(const Layer& layer) {
    const int piece = static_cast<int>(compute_.backward.size()) - 1;
    for (auto tensor = layer.parameters.rbegin(); tensor != layer.parameters.rend(); ++tensor) {
      gradients_.push_back({*tensor, piece});
      compute_.parameters += tensor->elements();
    }
  }

  const ParallelLayout& layout_;
  const ComputeContext& context_;
  const CollectiveModel& tensor_network_;
  StageCompute compute_;
  std::vector<ReadyGradient> gradients_;
};

}  // namespace

std::vector<std::vector<std::size_t>> divide_layers(const Workload& workload,
                                                    const ParallelLayout& layout) {
  const auto is_block = [](const Layer& layer) { return layer.recomputable; };
  const auto& layers = workload.layers;
  const auto first = static_cast<std::size_t>(
      std::distance(layers.begin(), std::find_if(layers.begin(), layers.end(), is_block)));
  const auto last = layers.size() - static_cast<std::size_t>(std::distance(
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
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t blocks = last - first;
    for (std::size_t i = chunk * blocks / chunks; i < (chunk + 1) * blocks / chunks; ++i) {
      stages[chunk % stages.size()].push_back(first + i);
    }
  }
  for (std::size_t i = last; i < layers.size(); ++i) {
    stages.back().push_back(i);
  }
  return stages;
}

PreparedStage prepare_stage(const Workload& workload, const std::vector<std::size_t>& layers,
                            const ParallelLayout& layout, const ComputeContext& context,
                            const CollectiveModel& tensor_network) {
  StageBuilder builder(layout, context, tensor_network);
  for (const std::size_t layer : layers) {
    builder.add_forward(workload.layers[layer]);
  }
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    builder.add_backward(workload.layers[*layer]);
  }
  return builder.finish();
}

}  // namespace payoff
