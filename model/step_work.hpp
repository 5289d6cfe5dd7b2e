// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/collective.hpp"
#include "model/units.hpp"

// What a training step is made of: work on one GPU or its host, messages, pieces of micro-batches,
// buckets of gradients and gathers of weights. What of it there is, and where, is in
// model/step_plan.hpp.

namespace payoff {

enum class WorkKind { forward, recompute, backward, bucket_copy, encode, decode, optimizer };

struct Work {
  WorkKind kind{};
  Seconds alone{};
  Seconds bucket_copy{};  // the part of it that fills or empties a bucket, codec or not
  double memory_share{};  // of the memory bandwidth that kernels reach, while it runs alone
  std::size_t mix{};      // of its kernels, in StepPlan::waves; 0: of unknown blocks
  std::size_t method{};   // of CompressionPlan::methods(), for encode and decode
  Seconds update{};       // the part of it in which the optimizer updates a bucket's weights

  // What the codec takes of it.
  [[nodiscard]] Seconds codec() const { return alone - bucket_copy - update; }
  bool operator==(const Work&) const = default;
};

// By work that goes right before it or after it: together they move what they move on average.
void extend(Work& work, Seconds time, double memory_share);

// dp_replicas: of gradients, between ranks that hold the same part (layout.shard). ep_gradients,
// ep_replicas and ep_weights: of experts, between the ranks that hold the same ones.
// tied_gradients: of a word embedding that the first and the last stage hold, between them.
enum class MessageKind {
  dp_gradients,
  dp_replicas,
  dp_weights,
  ep_gradients,
  ep_replicas,
  ep_weights,
  tp_activations,
  cp_activations,   // keys and values, or heads: what of them nothing hides
  ep_activations,   // tokens on the way to experts and back
  etp_activations,  // the same tokens, between the ranks that divide each expert
  pp_activations,
  table_activations,  // vectors from embedding tables on the way to their samples, and gradients
  tied_gradients
};

struct Message {
  MessageKind kind{};
  Collective collective{};
  Bytes size{};  // nccl-tests' definition
  Seconds alone{};
  int channels{};  // thread blocks held while it runs
  double relative_sd{};
  double memory_share{};  // of the memory bandwidth that kernels reach, while it runs alone
  double least_share{};   // of `alone`: what no error of the law goes below
  bool from_host{};       // between the memories of hosts: no GPU has anything to do with it
  bool in_node{};         // over the links inside nodes alone
  std::uint32_t graph{};  // of StepPlan::graphs, from 1 on: only neighbours wait for each other

  bool operator==(const Message&) const = default;
};

// Of a price: what its bytes take at line rate, whatever the law's error.
[[nodiscard]] double least_share(const CollectivePrice& price);

// Alone on the network of its group.
[[nodiscard]] Message priced_message(MessageKind kind, const CollectiveModel& network,
                                     Collective collective, Bytes size);
// The same of one that goes on beside work of a GPU: with what it moves through its memory.
[[nodiscard]] Message priced_message(MessageKind kind, const CollectiveModel& network,
                                     Collective collective, Bytes size, const Gpu& gpu);
[[nodiscard]] double memory_share(const Message& message, int ranks, const Gpu& gpu);

// Of what ranks divide a part of the model for: tokens of experts, vectors of embedding tables.
[[nodiscard]] constexpr bool is_of_experts(MessageKind kind) {
  return kind == MessageKind::ep_activations || kind == MessageKind::etp_activations ||
         kind == MessageKind::table_activations;
}

[[nodiscard]] inline bool is_codec(WorkKind kind) {
  return kind == WorkKind::encode || kind == WorkKind::decode;
}

// A piece of a micro-batch on one stage: work, then a message that everything after it waits for
// (tensor, context or expert parallelism). `message.alone` is zero where there is none. Compressed
// activations are encoded by the work before their message, and decoded by the piece after it.
struct Piece {
  Work work;
  Message message;

  bool operator==(const Piece&) const = default;
};

// What a codec that runs on the host adds to a pass, for one GPU while nobody else asks for the
// same: a copy to the host's memory after the GPU's part of the pass, work of the cores, a copy
// back before the GPU's part or the GPU's message. What a pass leaves on the host the next one
// finds there.
struct HostWork {
  bool any{};
  bool from_gpu{};
  bool to_gpu{};
  Seconds copy{};              // either way
  Seconds work{};              // of the share of the cores that one GPU has
  Bytes copied{};              // by the copy
  Bytes traffic{};             // what the cores stream
  double copy_memory_share{};  // of the GPU's memory bandwidth, while it is copied

  [[nodiscard]] Seconds alone() const { return copy + work; }
  bool operator==(const HostWork&) const = default;
};

// One round of a bucket: encode, then send. Rounds of a bucket depend on each other in order. The
// first one's work begins with filling the bucket from the gradients, the decoder's ends with
// emptying it: a codec takes and leaves its tensors in the bucket. Where the software updates
// weights in backward, the optimizer's share of the bucket follows on that.
struct BucketRound {
  Work encode;  // on the GPU
  Message message;
  HostWork host{};  // before the message
};

// What becomes of a bucket's gradients, or of weights that are gathered. Buckets of equal tensors
// are of one kind, in all stages.
struct BucketKind {
  std::int64_t elements{};
  std::vector<BucketRound> rounds;
  Work decode;             // on the GPU
  Bytes state;             // what the codec keeps for it between steps, on the GPU
  HostWork host_decode{};  // before that
  bool left_dense{};       // by a plan that compresses other buckets
};

[[nodiscard]] inline bool uses_host(const BucketKind& kind) {
  return kind.host_decode.any ||
         std::any_of(kind.rounds.begin(), kind.rounds.end(),
                     [](const BucketRound& round) { return round.host.any; });
}

// Gathered ones: experts' too, which may be all of a unit.
[[nodiscard]] inline bool is_of_weights(const BucketKind& kind) {
  return !kind.rounds.empty() && (kind.rounds.front().message.kind == MessageKind::dp_weights ||
                                  kind.rounds.front().message.kind == MessageKind::ep_weights);
}

// Gradients that travel together. Ready when piece `ready_after` of the last micro-batch's backward
// has run (its index in StageCompute::backward).
struct Bucket {
  int ready_after{};
  std::size_t kind{};  // in StepPlan::kinds
};

// Sharded weights that are gathered together before piece `needed_by` runs (an index in
// StageCompute::forward or ::backward).
struct WeightGather {
  std::size_t needed_by{};
  std::size_t kind{};  // in StepPlan::kinds
};

struct CodecTime {
  Seconds encode{};
  Seconds decode{};

  [[nodiscard]] Seconds total() const { return encode + decode; }
  bool operator==(const CodecTime&) const = default;
};

}  // namespace payoff
