// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/step_plan.hpp"

// A forward of one chunk and the whole backward of the other, of two micro-batches, as one
// (DualPipe: DeepSeek-V3, arXiv:2412.19437, section 3.2.1): pieces of both in turn on the compute
// stream, in an order that is fixed when their kernels are launched. A piece waits for the message
// before it of its own micro-batch, which goes on beside pieces of the other one, one message at a
// time; while it is in flight it holds compute units and moves memory, as one of gradients does
// (model/interference.hpp). Gradients of weights follow as soon as those of a layer's inputs are
// there, and wait for no message. Both outputs leave at the end.

namespace payoff {

struct PairedPiece {
  enum class Part { forward, inputs, weights };

  Part part{};
  std::size_t piece{};  // in StageCompute::forward or ::backward
};

[[nodiscard]] std::vector<PairedPiece> paired_pieces(const StageCompute& compute,
                                                     const ParallelLayout& layout,
                                                     int forward_chunk);

// What of the messages of pairs hides behind work, and what that adds to the work.
struct PairEffect {
  double hidden_tp{};
  double hidden_cp{};
  double hidden_ep{};
  double slowed{};

  [[nodiscard]] double hidden() const { return hidden_tp + hidden_cp + hidden_ep; }
  PairEffect& operator+=(const PairEffect& other) {
    hidden_tp += other.hidden_tp;
    hidden_cp += other.hidden_cp;
    hidden_ep += other.hidden_ep;
    slowed += other.slowed;
    return *this;
  }
  PairEffect operator*(double factor) const {
    return {hidden_tp * factor, hidden_cp * factor, hidden_ep * factor, slowed * factor};
  }
  PairEffect operator-(const PairEffect& other) const {
    return {hidden_tp - other.hidden_tp, hidden_cp - other.hidden_cp, hidden_ep - other.hidden_ep,
            slowed - other.slowed};
  }
};

struct PairSpan {
  double time{};
  PairEffect effect;
};

// The time of pairs: a recurrence over pieces and messages.
class PairTimes {
 public:
  explicit PairTimes(const StepPlan& plan) : plan_(plan), alone_(plan.stages.size()) {}

  // With sends of the stage in flight for so long.
  [[nodiscard]] PairSpan run(std::size_t stage, int forward_chunk, double sending);

 private:
  const StepPlan& plan_;
  std::vector<std::array<std::optional<PairSpan>, 2>> alone_;  // without sends
};

}  // namespace payoff
