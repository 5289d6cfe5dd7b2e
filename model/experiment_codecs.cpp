// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/layer_division.hpp"
#include "model/memory.hpp"
#include "model/stage_compute.hpp"
#include "model/stretched_codec.hpp"

// Stages whose activations a plan compresses: other pieces, other sends, what codecs keep.

namespace payoff {
namespace {

// The first layer of a stage whose output goes to another stage, and the first whose input comes
// from one.
std::optional<std::size_t> sending_layer(const std::vector<std::size_t>& layers, std::size_t all) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool stays = i + 1 < layers.size() && layers[i + 1] == layers[i] + 1;
    if (!stays && layers[i] + 1 < all) {
      return layers[i];
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> receiving_layer(const std::vector<std::size_t>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool stays = i > 0 && layers[i - 1] + 1 == layers[i];
    if (!stays && layers[i] > 0) {
      return layers[i];
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<CodecPass> PreparedExperiment::codec_passes(const CompressionPlan& compression) const {
  if (compression.activations.empty()) {
    return {};
  }
  const ComputeContext context = compute_context();
  ActivationCodecs codecs(compression, *workload_, experiment_.layout, context, tensor_network_,
                          expert_network_, table_network_);
  (void)with_codecs(codecs);
  std::vector<CodecPass> passes = codecs.passes();
  for (CodecPass& pass : passes) {
    stretch_codec(pass.work, 1.0 / experiment_.training.codec_speed);
  }
  return passes;
}

PreparedExperiment::Stages PreparedExperiment::with_codecs(
    const CompressionPlan& compression) const {
  const ComputeContext context = compute_context();
  ActivationCodecs codecs(compression, *workload_, experiment_.layout, context, tensor_network_,
                          expert_network_, table_network_);
  return with_codecs(codecs);
}

PreparedExperiment::Stages PreparedExperiment::with_codecs(ActivationCodecs& codecs) const {
  const ParallelLayout& layout = experiment_.layout;
  const ComputeContext context = compute_context();
  const auto division = divide_layers(*workload_, layout);
  GradientKinds kinds = kinds_;
  WeightKinds weights = weights_;
  const auto waves = std::make_shared<WaveTable>(
      experiment_.cluster.gpu.compute_units, experiment_.cluster.gpu.pairs.compute_beside_message);
  std::vector<Stage> stages = stages_;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    Stage& stage = stages[s];
    stage.prepared =
        prepare_stage(*workload_, division[s], layout, context, stage_networks(), *waves, &codecs);
    share_equal(stages, s);
    cut_gradients(stages, s, kinds, weights);
    Bytes saved;
    Bytes computed_again;
    for (const std::size_t layer : division[s]) {
      const ActivationCodecs::Kept kept = codecs.kept(layer);
      stage.codec_state += kept.state;
      if (layout.recompute == Recompute::full) {
        computed_again = std::max(computed_again, kept.saved);
      } else {
        saved += kept.saved;
      }
    }
    stage.codec_saved =
        micro_batches_in_flight(layout, static_cast<int>(s)) * saved + computed_again;
    if (layout.pp > 1) {
      compress_sends(stage, s, division[s], codecs);
    }
  }
  return {std::move(stages), waves};
}

// Chunks of a stage send alike: check() refuses blocks that would have them differ.
void PreparedExperiment::compress_sends(Stage& stage, std::size_t s,
                                        const std::vector<std::size_t>& layers,
                                        ActivationCodecs& codecs) const {
  const std::size_t before = (s + stages_.size() - 1) % stages_.size();
  const double in_flight = micro_batches_in_flight(experiment_.layout, static_cast<int>(s));
  if (const auto sender = sending_layer(layers, workload_->layers.size())) {
    const ActivationCodecs::Send& codec = codecs.send(*sender, true);
    compress_send(s, codec, stage.send_forward, stage.dense_send_forward);
    stage.codec_state += codec.state;
    stage.codec_saved += in_flight * codec.saved;
  }
  if (const auto receiver = receiving_layer(layers)) {
    compress_send(before, codecs.send(*receiver - 1, false), stage.send_backward,
                  stage.dense_send_backward);
    stage.codec_state += codecs.send(*receiver - 1, true).state;
  }
}

void PreparedExperiment::compress_send(std::size_t boundary, const ActivationCodecs::Send& codec,
                                       Message& send, Bytes& dense) const {
  if (codec.messages.empty()) {
    return;
  }
  dense = send.size;
  send = {};
  for (const Bytes size : codec.messages) {
    const Message message = boundary_message(boundary, size);
    const Bytes together = send.size + message.size;
    const Seconds time = send.alone + message.alone;
    const Seconds least = send.least_share * send.alone + message.least_share * message.alone;
    const int channels = std::max(send.channels, message.channels);
    send = message;
    send.size = together;
    send.alone = time;
    send.channels = channels;
    send.least_share = time > 0_s ? least / time : 0.0;
  }
}

}  // namespace payoff
