// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
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
//
// Activations are matrices of tokens x hidden size. Another kind of traffic (expert all-to-all) is
// another case of `codec_of`.

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
                   const CollectiveModel& tensor);

  // Instead of a message between two operators of a layer (its index in the workload); empty where
  // it goes as it is.
  [[nodiscard]] std::vector<Piece> in_place_of(const Message& dense, std::size_t layer,
                                               bool forward);

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
  // By the sums of a layer.
  [[nodiscard]] Kept kept(std::size_t layer);

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
    Kept kept;
  };

  [[nodiscard]] const Codec* codec_of(MessageKind kind) const;
  [[nodiscard]] bool compresses(const Codec& codec, std::size_t layer, bool forward) const;
  [[nodiscard]] const Sum& sum(const Codec& codec, Collective collective, Bytes size);
  void add_whole_sum(const Codec& codec, Sum& sum);
  void add_half(const Codec& codec, Sum& sum);
  [[nodiscard]] Send price_send(const Codec& codec, const Method& method, Bytes size);
  [[nodiscard]] CallCost cost(const Method& method, Bytes size, const Workers& group) const;
  [[nodiscard]] Work work(const Codec& codec, WorkKind kind, const PassCost& pass);
  [[nodiscard]] Message tensor_message(Collective collective, Bytes size) const;

  const Workload& workload_;
  const ParallelLayout& layout_;
  const ComputeContext& compute_;
  const CollectiveModel& tensor_;
  Bytes element_;
  std::vector<std::int64_t> block_of_;  // of each layer; below 0: none
  std::vector<Codec> codecs_;
  std::vector<Sum> sums_;  // all blocks have the same
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
