// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/schedule.hpp"
#include "model/step_plan.hpp"
#include "model/units.hpp"

// The last backward operations of a stage with its gradient traffic: three streams of one GPU
// (compute, codec beside it, communication) and the buckets that pass through them.
//
// * Buckets become ready in backward order. Their messages run one at a time, in the order in which
//   they were handed over (one NCCL communicator: one stream).
// * Codec work on the compute stream runs between two pieces of backward, as soon as it can, also
//   while the stage waits for its next operation's input; on the side stream its kernels and those
//   of backward take turns, half of the time each, and it has the tails of backward's waves (work
//   is conserved). Copies into and out of a bucket go with the codec's first and last work.
// * While a gradient message runs it holds compute units for its life, and what computes beside it
//   runs at the rate of the units left (model/interference.hpp). So does a send of the stage.
// * What of a codec runs on the host (model/host_chains) takes none of the GPU's units, only the
//   bandwidth of its memory that copies move.
// * `after_backward`, or no overlap: every bucket waits for the end of backward.
//
// A recurrence over pieces and codec calls (model/gradient_streams): the messages handed over so
// far are known to end at fixed times, so the end of a piece follows from its start in closed form.
// What gradients add to an operation delays the stages that wait for it: model/pipeline_overlap.

namespace payoff {

// Neighbouring pieces that a stage runs without waiting for another stage: one micro-batch through
// one chunk, or with sharded weights a part of it. With interleaved chunks several stand between
// the first one that completes gradients and the end of the stage.
struct StageOperation {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t first_piece{};
  std::size_t end_piece{};
  bool completes_gradients{};
  std::size_t like{};          // the same number: equal pieces, completes equal buckets
  std::size_t first_bucket{};  // of the stage, complete with it or later
  Seconds arrival{};           // of its input, from the start of the first operation
  Seconds work{};              // of its pieces
  Seconds messages{};
  Toward toward{};  // where its output goes
  Seconds send{};   // how long it travels to another stage
  // The operation of another stage that its input comes from, where that is one of its last too.
  std::size_t from_stage{none};
  std::size_t from_place{};
};

[[nodiscard]] StageOperation operation_of(const std::vector<Piece>& pieces, std::size_t first_piece,
                                          std::size_t end_piece);

struct OverlapResult {
  Seconds finish{};  // from the start of the first operation to the last decoded bucket
  Seconds work{};    // of the pieces, alone
  Seconds exposed_tp{};
  Seconds wait{};          // for the inputs of the operations
  Seconds interference{};  // what sharing added to work on the critical path
  Seconds encode{};        // codec work on the critical path
  Seconds decode{};
  Seconds bucket_copy{};
  Seconds exposed_dp{};      // gradient messages that nothing hides
  Seconds dp_busy{};         // time with a gradient message in flight
  Seconds optimizer{};       // updates of buckets on the critical path
  Seconds encode_on_host{};  // of encode and decode: the GPU waits for its host, copies included
  Seconds decode_on_host{};

  // One after the other; `finish` is not a sum.
  OverlapResult& operator+=(const OverlapResult& next) {
    work += next.work;
    exposed_tp += next.exposed_tp;
    wait += next.wait;
    interference += next.interference;
    encode += next.encode;
    decode += next.decode;
    bucket_copy += next.bucket_copy;
    exposed_dp += next.exposed_dp;
    dp_busy += next.dp_busy;
    optimizer += next.optimizer;
    encode_on_host += next.encode_on_host;
    decode_on_host += next.decode_on_host;
    return *this;
  }
};

[[nodiscard]] OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage,
                                              std::span<const StageOperation> operations);

// What gradients add to the operations of each stage at most: every codec call and message on its
// own, and what the messages slow down.
[[nodiscard]] std::vector<Seconds> most_added(const StepPlan& plan);

// The whole backward pass of the last micro-batch in one operation.
[[nodiscard]] OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage);

}  // namespace payoff
