// SPDX-License-Identifier: Apache-2.0
#include "model/overlap.hpp"

#include "model/codec_calls.hpp"
#include "model/gradient_streams.hpp"
#include "model/stage_sends.hpp"

namespace payoff {

OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage,
                                std::span<const StageOperation> operations) {
  const CodecCalls calls(plan);
  GradientStreams streams(plan, calls, stage, 0);
  StageSends sends;
  for (const StageOperation& operation : operations) {
    streams.wait_until(operation.arrival.si);
    streams.run(operation);
    sends.send(operation.toward, streams.now(), operation.send.si);
    streams.send_until(sends.until());
  }
  streams.release_all();
  streams.finish();
  OverlapResult result = streams.take_result();
  result.finish = {streams.now()};
  return result;
}

OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage) {
  const StageCompute& compute = *plan.stages[stage].compute;
  StageOperation whole = operation_of(compute.backward, 0, compute.backward.size());
  whole.completes_gradients = true;
  return overlap_gradients(plan, stage, {&whole, 1});
}

StageOperation operation_of(const std::vector<Piece>& pieces, std::size_t first_piece,
                            std::size_t end_piece) {
  StageOperation operation;
  operation.first_piece = first_piece;
  operation.end_piece = end_piece;
  for (std::size_t i = first_piece; i < end_piece; ++i) {
    operation.work += pieces[i].work.alone;
    operation.messages += pieces[i].message.alone;
  }
  return operation;
}

}  // namespace payoff
