// SPDX-License-Identifier: Apache-2.0
#include "study/plan_axes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>

#include "model/groups.hpp"

namespace payoff {
namespace {

// Encode and decode of a stage.
Seconds codec_time(const StepPlan& plan, const StagePlan& stage) {
  Seconds total;
  for (const Bucket& bucket : stage.buckets) {
    const BucketKind& kind = plan.kind(bucket);
    total += kind.decode.codec();
    for (const BucketRound& round : kind.rounds) {
      total += round.encode.codec();
    }
  }
  const StageCompute& compute = *stage.compute;
  return total + plan.layout.micro_batches *
                     (compute.forward_codec.total() + compute.backward_codec.total());
}

void stretch_codec(Work& work, double factor) {
  work.alone = work.codec() * factor + work.bucket_copy + work.update;
}

void stretch_codec(std::vector<Piece>& pieces, double factor) {
  for (Piece& piece : pieces) {
    if (is_codec(piece.work.kind)) {
      stretch_codec(piece.work, factor);
    }
  }
}

// `change` is made once to what several stages compute alike.
template <typename Change>
void change_computes(StepPlan& plan, Change change) {
  std::map<const StageCompute*, std::shared_ptr<const StageCompute>> changed;
  for (StagePlan& stage : plan.stages) {
    auto& mine = changed[stage.compute.get()];
    if (!mine) {
      auto copy = std::make_shared<StageCompute>(*stage.compute);
      change(*copy);
      mine = std::move(copy);
    }
    stage.compute = mine;
  }
}

bool is_compressed(const Piece& piece) {
  return piece.work.kind == WorkKind::encode && piece.message.alone > 0_s;
}

int choice_of(const CollectivePrice& price) {
  return static_cast<int>(price.algorithm) * protocol_count + static_cast<int>(price.protocol);
}

}  // namespace

Seconds codec_time(const StepPlan& plan) {
  Seconds most;
  for (const StagePlan& stage : plan.stages) {
    most = std::max(most, codec_time(plan, stage));
  }
  return most;
}

StepPlan stretched_codec(StepPlan plan, double factor) {
  for (BucketKind& kind : plan.kinds) {
    stretch_codec(kind.decode, factor);
    for (BucketRound& round : kind.rounds) {
      stretch_codec(round.encode, factor);
    }
  }
  if (plan.compresses_activations) {
    change_computes(plan, [&](StageCompute& compute) {
      stretch_codec(compute.forward, factor);
      stretch_codec(compute.backward, factor);
      for (CodecTime* time : {&compute.forward_codec, &compute.backward_codec}) {
        time->encode *= factor;
        time->decode *= factor;
      }
    });
  }
  return plan;
}

void give_codec_time(StepPlan& plan) {
  for (BucketKind& kind : plan.kinds) {
    const Seconds share = static_cast<double>(kind.elements) * 1_ns;
    kind.decode.alone += share;
    kind.rounds.front().encode.alone += share;
  }
}

MessageSizes::MessageSizes(const Experiment& experiment)
    : gradient_(element_size(experiment.training.gradient)) {
  for (const MessageKind kind :
       {MessageKind::dp_gradients, MessageKind::dp_replicas, MessageKind::dp_weights,
        MessageKind::ep_gradients, MessageKind::ep_replicas, MessageKind::ep_weights,
        MessageKind::tp_activations}) {
    networks_.emplace(
        kind, CollectiveModel(experiment.cluster,
                              group_of(kind, experiment.layout, experiment.cluster.gpus_per_node)));
  }
  for (int stage = 0; stage < experiment.layout.pp && experiment.layout.pp > 1; ++stage) {
    boundaries_.emplace_back(
        experiment.cluster,
        boundary_group(experiment.layout, experiment.cluster.gpus_per_node, stage));
  }
}

const CollectiveModel& MessageSizes::network(MessageKind kind) const { return networks_.at(kind); }

Bytes MessageSizes::contribution(const Message& message) const {
  return message.collective == Collective::all_gather
             ? message.size / network(message.kind).group().ranks
             : message.size;
}

MessageSizes::Sent MessageSizes::of_gradients(const StepPlan& plan) const {
  double elements = 0.0;
  Bytes sent;
  for (const StagePlan& stage : plan.stages) {
    for (const Bucket& bucket : stage.buckets) {
      const BucketKind& kind = plan.kind(bucket);
      elements += static_cast<double>(kind.elements);
      for (const BucketRound& round : kind.rounds) {
        sent += contribution(round.message);
      }
    }
  }
  return {elements * gradient_ / 1_B, sent / 1_B};
}

// What a plan leaves as it is does not count.
MessageSizes::Sent MessageSizes::of_activations(const StepPlan& plan,
                                                const StepPlan& uncompressed) const {
  Sent sent;
  const auto tensor_bytes = [&](const StageCompute& compute, bool all) {
    Bytes bytes;
    for (const auto* pieces : {&compute.forward, &compute.backward}) {
      for (const Piece& piece : *pieces) {
        if (piece.message.kind == MessageKind::tp_activations && piece.message.alone > 0_s &&
            (all || is_compressed(piece))) {
          bytes += contribution(piece.message);
        }
      }
    }
    return bytes / 1_B;
  };
  const double micro_batches = plan.layout.micro_batches;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    const double compressed = tensor_bytes(*stage.compute, false);
    const double as_is = tensor_bytes(*stage.compute, true) - compressed;
    const double dense = tensor_bytes(*uncompressed.stages[s].compute, true) - as_is;
    const auto send = [&](const Message& message, Bytes whole) {
      sent.dense += micro_batches * (whole / 1_B);
      sent.compressed += whole > 0_B ? micro_batches * (message.size / 1_B) : 0.0;
    };
    sent.dense += micro_batches * dense;
    sent.compressed += micro_batches * compressed;
    send(stage.send_forward, stage.dense_send_forward);
    send(stage.send_backward, stage.dense_send_backward);
  }
  return sent;
}

double MessageSizes::wire_ratio(const StepPlan& plan, const StepPlan& uncompressed) const {
  if (!plan.compresses_activations) {
    const Sent sent = of_gradients(plan);
    return sent.dense / sent.compressed;
  }
  const Sent activations = of_activations(plan, uncompressed);
  const Sent gradients = plan.compresses_gradients ? of_gradients(plan) : Sent{};
  return (activations.dense + gradients.dense) / (activations.compressed + gradients.compressed);
}

// Several messages one after the other grow together.
void MessageSizes::resize_send(Message& send, double factor, std::size_t boundary) const {
  const CollectiveModel& network = boundaries_[boundary];
  const Seconds now = network.price(send.collective, send.size).time;
  send.size *= factor;
  send.alone += network.price(send.collective, send.size).time - now;
}

StepPlan MessageSizes::resized(StepPlan plan, double factor) const {
  if (plan.compresses_gradients || !plan.compresses_activations) {
    for (BucketKind& kind : plan.kinds) {
      for (BucketRound& round : kind.rounds) {
        Message& message = round.message;
        message.size *= factor;
        message.alone = network(message.kind).price(message.collective, message.size).time;
      }
    }
  }
  if (!plan.compresses_activations) {
    return plan;
  }
  change_computes(plan, [&](StageCompute& compute) {
    for (auto* pieces : {&compute.forward, &compute.backward}) {
      Seconds& messages =
          pieces == &compute.forward ? compute.forward_messages : compute.backward_messages;
      for (Piece& piece : *pieces) {
        if (is_compressed(piece)) {
          Message& message = piece.message;
          messages -= message.alone;
          message.size *= factor;
          message.alone = network(message.kind).price(message.collective, message.size).time;
          messages += message.alone;
        }
      }
    }
  });
  const std::size_t stages = plan.stages.size();
  for (std::size_t s = 0; s < stages; ++s) {
    StagePlan& stage = plan.stages[s];
    if (stage.dense_send_forward > 0_B) {
      resize_send(stage.send_forward, factor, s);
    }
    if (stage.dense_send_backward > 0_B) {
      resize_send(stage.send_backward, factor, (s + stages - 1) % stages);
    }
  }
  return plan;
}

std::vector<int> MessageSizes::choices(const StepPlan& plan, double factor) const {
  std::vector<int> result;
  for (const BucketKind& kind : plan.kinds) {
    for (const BucketRound& round : kind.rounds) {
      result.push_back(
          choice_of(network(round.message.kind)
                        .price(round.message.collective, round.message.size * factor)));
    }
  }
  if (!plan.compresses_activations) {
    return result;
  }
  for (const StagePlan& stage : plan.stages) {
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        if (is_compressed(piece)) {
          result.push_back(
              choice_of(network(piece.message.kind)
                            .price(piece.message.collective, piece.message.size * factor)));
        }
      }
    }
  }
  return result;
}

}  // namespace payoff
