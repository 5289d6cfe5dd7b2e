// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/changed_computes.hpp"
#include "model/groups.hpp"
#include "study/compressed_kinds.hpp"
#include "study/plan_axes.hpp"

namespace payoff {
namespace {

// Of a kind that plans compress, whether this one does or not.
bool is_compressible(const Message& message) {
  return message.alone > 0_s && (message.kind == MessageKind::tp_activations ||
                                 message.kind == MessageKind::ep_activations ||
                                 message.kind == MessageKind::table_activations);
}

bool is_compressed(const Piece& piece) {
  return piece.work.kind == WorkKind::encode && piece.message.alone > 0_s;
}

int choice_of(const CollectivePrice& price) {
  return static_cast<int>(price.algorithm) * protocol_count + static_cast<int>(price.protocol);
}

}  // namespace

MessageSizes::MessageSizes(const Experiment& experiment)
    : gradient_(element_size(experiment.training.gradient)) {
  for (const MessageKind kind :
       {MessageKind::dp_gradients, MessageKind::dp_replicas, MessageKind::dp_weights,
        MessageKind::ep_gradients, MessageKind::ep_replicas, MessageKind::ep_weights,
        MessageKind::tp_activations, MessageKind::ep_activations, MessageKind::table_activations}) {
    networks_.emplace(
        kind, CollectiveModel(experiment.cluster,
                              group_of(kind, experiment.layout, experiment.cluster.gpus_per_node)));
  }
  const Group data = network(MessageKind::dp_gradients).group();
  parts_.emplace_back(experiment.cluster, part_in_node(data));
  parts_.emplace_back(experiment.cluster, part_across_nodes(data));
  for (int stage = 0; stage < experiment.layout.stages() && experiment.layout.stages() > 1;
       ++stage) {
    boundaries_.emplace_back(
        experiment.cluster,
        boundary_group(experiment.layout, experiment.cluster.gpus_per_node, stage));
  }
}

const CollectiveModel& MessageSizes::network(MessageKind kind) const { return networks_.at(kind); }

// A message does not say whether it goes among all ranks of its group or among those of a node, or
// with the same place in every node: its price does.
const CollectiveModel& MessageSizes::network(const Message& message) const {
  const CollectiveModel& all = network(message.kind);
  if (message.kind != MessageKind::dp_gradients && message.kind != MessageKind::dp_weights) {
    return all;
  }
  const auto is_of = [&](const CollectiveModel& network) {
    return network.group().ranks > 1 &&
           network.price(message.collective, message.size).time == message.alone;
  };
  const auto part = std::find_if(parts_.begin(), parts_.end(), is_of);
  return is_of(all) || part == parts_.end() ? all : *part;
}

// Priced again; what keeps its size keeps its price.
void MessageSizes::resize(Message& message, double factor) const {
  if (message.alone > 0_s) {
    const CollectiveModel& among = network(message);
    const CollectivePrice now = among.price(message.collective, message.size);
    const CollectivePrice then = among.price(message.collective, message.size * factor);
    message.alone *= then.time / now.time;
    message.least_share = least_share(then);
  }
  message.size *= factor;
}

Bytes MessageSizes::contribution(const Message& message) const {
  return message.collective == Collective::all_gather
             ? message.size / network(message).group().ranks
             : message.size;
}

MessageSizes::Sent MessageSizes::of_gradients(const StepPlan& plan) const {
  double elements = 0.0;
  Bytes sent;
  for (const StagePlan& stage : plan.stages) {
    for (const Bucket& bucket : stage.buckets) {
      const BucketKind& kind = plan.kind(bucket);
      if (kind.left_dense) {
        continue;
      }
      elements += static_cast<double>(kind.elements);
      for (const BucketRound& round : kind.rounds) {
        sent += contribution(round.message);
      }
    }
  }
  return {reductions(plan) * elements * gradient_ / 1_B, reductions(plan) * (sent / 1_B)};
}

// By the bytes that each rank gathers; nothing where they are as they were.
MessageSizes::Sent MessageSizes::of_weights(const StepPlan& plan, const StepPlan& uncompressed) {
  const Sent sent{gathered_weights(uncompressed) / 1_B, gathered_weights(plan) / 1_B};
  return sent.dense == sent.compressed ? Sent{} : sent;
}

// What a plan leaves as it is does not count.
MessageSizes::Sent MessageSizes::of_activations(const StepPlan& plan,
                                                const StepPlan& uncompressed) const {
  Sent sent;
  const auto bytes_of = [&](const StageCompute& compute, bool all) {
    Bytes bytes;
    for (const auto* pieces : {&compute.forward, &compute.backward}) {
      for (const Piece& piece : *pieces) {
        if (is_compressible(piece.message) && (all || is_compressed(piece))) {
          bytes += contribution(piece.message);
        }
      }
    }
    return bytes / 1_B;
  };
  const double micro_batches = plan.layout.passes();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    const double compressed = bytes_of(*stage.compute, false);
    const double as_is = bytes_of(*stage.compute, true) - compressed;
    const double dense = bytes_of(*uncompressed.stages[s].compute, true) - as_is;
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
  const Sent weights = of_weights(plan, uncompressed);
  const bool others = plan.compresses_activations || weights.dense > 0;
  const Sent activations =
      plan.compresses_activations ? of_activations(plan, uncompressed) : Sent{};
  const Sent gradients = plan.compresses_gradients || !others ? of_gradients(plan) : Sent{};
  return (activations.dense + gradients.dense + weights.dense) /
         (activations.compressed + gradients.compressed + weights.compressed);
}

// Several messages one after the other grow together.
void MessageSizes::resize_send(Message& send, double factor, std::size_t boundary) const {
  const CollectiveModel& network = boundaries_[boundary];
  const Seconds now = network.price(send.collective, send.size).time;
  send.size *= factor;
  send.alone += network.price(send.collective, send.size).time - now;
}

StepPlan MessageSizes::resized(StepPlan plan, double factor) const {
  for_compressed_rounds(plan, [&](Message& message) { resize(message, factor); });
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
          resize(message, factor);
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

std::optional<StepPlan> MessageSizes::all_reduced(StepPlan plan) const {
  bool changes = false;
  for (BucketKind& kind : plan.kinds) {
    for (BucketRound& round : kind.rounds) {
      Message& message = round.message;
      if (message.collective != Collective::all_gather ||
          message.kind != MessageKind::dp_gradients) {
        continue;
      }
      const CollectiveModel& among = network(message);
      if (&among == &parts_.front()) {
        continue;  // nodes put the sum together again
      }
      changes = true;
      message.collective = Collective::all_reduce;
      message.size /= among.group().ranks;  // nccl-tests counts what is gathered
      const CollectivePrice price = among.price(message.collective, message.size);
      message.alone = price.time;
      message.least_share = least_share(price);
    }
  }
  return changes ? std::optional(std::move(plan)) : std::nullopt;
}

std::vector<int> MessageSizes::choices(const StepPlan& plan, double factor) const {
  std::vector<int> result;
  for_compressed_rounds(plan, [&](const Message& message) {
    result.push_back(choice_of(network(message).price(message.collective, message.size * factor)));
  });
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
