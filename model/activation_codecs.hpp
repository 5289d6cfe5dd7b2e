// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/compression.hpp"
#include "model/compute.hpp"
#include "model/layout.hpp"
#include "model/step_plan.hpp"
#include "model/workload.hpp"

// Compression of what model-parallel ranks send each other: which messages of a stage a plan
// compresses, and what stands in their place. Encoding and decoding are work of the stage that
// everything after them waits for, as in MCBench (Bian et al., MLSys 2024; uw-mad-dash/MCBench at
// 117a03e, megatron/mpu/layers.py), so they are pieces like all others.
//
// * A sum over tensor-parallel ranks runs the rounds of the method, whatever their collectives: a
//   payload that cannot be summed is gathered.
// * Its halves under sequence parallelism: parts of payloads that can be summed are scattered as
//   sums, those of others are exchanged and added up decoded (as Flash Communication, arXiv
//   2412.04964, and ZeRO++, arXiv 2306.10209, do); what is gathered is encoded by its owner.
// * A send carries all messages of the method, one after the other.
// * Tokens on the way to experts are encoded once by their owner, however many experts they have,
//   and decoded by all of these; what comes back is encoded by the experts and decoded before it is
//   added up, as DeepSeek-V3 does it (arXiv 2412.19437, section 3.3.3). Every token goes where it
//   has to, so only payloads that divide by tokens can be sent (model/activation_check.hpp).
// * Vectors of embedding tables are encoded by the rank that has the tables and decoded by those
//   of the samples, their gradients the other way round. A row is what one sample gets from one
//   rank. Messages are what the layer beside them leaves exposed (model/table_exchange.hpp).
//
// Activations are matrices of tokens x hidden size.

namespace payoff {

// What a piece of work of a codec does on the GPU.
struct CodecPass {
  Work work;
  Traffic traffic{};
  PassCost cost;
};

class ActivationCodecs {
 public:
  ActivationCodecs(const CompressionPlan& plan, const Workload& workload,
                   const ParallelLayout& layout, const ComputeContext& compute,
                   const CollectiveModel& tensor, const CollectiveModel& experts,
                   const CollectiveModel& tables);

  // A message of a layer (its index in the workload): forward it follows operator `op`, backward
  // the gradient of what goes into `op`.
  struct Place {
    std::size_t layer{};
    std::size_t op{};
    bool forward{};
  };
  // Instead of a message; empty where it goes as it is.
  [[nodiscard]] std::vector<Piece> in_place_of(const Message& dense, const Place& place);

  // Backward of encoder and decoder of a layer's sum, where they are learned and it was compressed
  // forward; else empty.
  [[nodiscard]] std::vector<Piece> gradients_through(const TensorParallelSync& sync,
                                                     std::size_t layer);

  // The output of a layer (or, backward, its gradient) on its way to another stage.
  struct Send {
    std::vector<Work> encode;     // in the order of the messages
    std::vector<Bytes> messages;  // empty: it goes as it is
    Work decode;
    Bytes state;  // kept by each of the two stages from step to step,
    Bytes saved;  // and by the sender for each micro-batch in flight
  };
  [[nodiscard]] const Send& send(std::size_t layer, bool forward);

  struct Kept {
    Bytes state;
    Bytes saved;  // of one micro-batch
  };
  // By the sums of a layer, and by what it sends to experts and back.
  [[nodiscard]] Kept kept(std::size_t number);

  // All different passes of the pieces that it has made.
  [[nodiscard]] const std::vector<CodecPass>& passes() const { return passes_; }

 private:
  struct Codec {
    const ActivationCompression* of{};
    std::size_t method{};  // of CompressionPlan::methods()
    Method sent;           // to one other rank
    Method backward;
  };
  struct Sum {
    Collective collective{};
    Bytes size{};
    std::vector<Piece> pieces;
  };

  struct Exchange {
    Traffic traffic{};
    std::vector<Piece> pieces;
    Kept kept;
    bool forward{true};  // of tables: vectors, not gradients
  };

  [[nodiscard]] const Codec* codec_of(Traffic traffic) const;
  [[nodiscard]] const Codec* codec_of(const Message& dense, const Place& place) const;
  [[nodiscard]] bool compresses(const Codec& codec, std::size_t layer, bool forward) const;
  [[nodiscard]] const Sum& sum(const Codec& codec, Collective collective, Bytes size);
  template <typename MessageOf>
  [[nodiscard]] std::vector<Piece> pieces_of(const Codec& codec, const CallCost& encoded,
                                             const CallCost& sent, const PassCost& decode,
                                             MessageOf message_of);
  void add_whole_sum(const Codec& codec, Sum& sum);
  void add_half(const Codec& codec, Sum& sum);
  [[nodiscard]] const Exchange& exchange(const Codec& codec, const ExpertSync& experts);
  [[nodiscard]] const Exchange& exchange(const Codec& codec, const Layer& layer, bool forward);
  [[nodiscard]] Send price_send(const Codec& codec, const Method& method, Bytes size);
  [[nodiscard]] CallCost cost(const Method& method, Bytes size, const Workers& group) const;
  [[nodiscard]] Work work(const Codec& codec, WorkKind kind, const PassCost& pass);
  [[nodiscard]] Message tensor_message(Collective collective, Bytes size) const;
  void keep_sums(const Layer& layer, std::size_t number, Kept& all);
  [[nodiscard]] Kept kept_by_sum(const Codec& codec, Bytes size);
  static void add(const Kept& one, bool forward, Kept& all);

  const Workload& workload_;
  const ParallelLayout& layout_;
  const ComputeContext& compute_;
  const CollectiveModel& tensor_;
  const CollectiveModel& experts_;
  const CollectiveModel& tables_;
  Bytes element_;
  std::vector<std::int64_t> block_of_;  // of each layer; below 0: none
  std::vector<Codec> codecs_;
  std::vector<Sum> sums_;  // all blocks have the same
  std::vector<std::pair<Bytes, Kept>> kept_by_sums_;
  std::vector<Exchange> exchanges_;  // as all that have experts
  Send none_;
  std::vector<Send> sends_;  // forward, backward
  std::vector<CodecPass> passes_;
};

// The tensor behind `size` bytes of activations of a model.
[[nodiscard]] ParameterTensor activation_tensor(Bytes size, Bytes element, std::int64_t width);

// Bytes of a layer's output that one rank sends to the next stage in a micro-batch: with sequence
// parallelism each rank of a tensor group sends its part.
[[nodiscard]] Bytes boundary_size(const Layer& layer, const ParallelLayout& layout);

// The number of each layer among the blocks of a transformer; -1 for what is none.
[[nodiscard]] std::vector<std::int64_t> blocks_of_layers(const Workload& workload);

}  // namespace payoff
