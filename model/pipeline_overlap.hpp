// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/evaluate.hpp"
#include "model/gradient_streams.hpp"
#include "model/stage_sends.hpp"

// The last backward operations of all stages of a pipeline, with their gradients. What gradients
// add to an operation (codec work between its pieces, messages that hold compute units) delays the
// stage before it, and by way of the first stage the next chunk of the last one: every operation
// starts when its stage is free and its input has come. Forwards are over by then. Exact.
//
// Most stages do the same at another time. What follows from an operation that began with nothing
// queued and nothing in flight, and from equal operations after equal waits, is computed once for
// all stages (`Sequence`).

namespace payoff {

class PipelineOverlap {
 public:
  PipelineOverlap(const StepPlan& plan, const std::vector<StageEnd>& ends);

  // The end of the last operation of a stage.
  [[nodiscard]] Seconds operations_end(std::size_t stage) const { return {stages_[stage].now}; }
  // What sends that are in flight after it still take.
  [[nodiscard]] Seconds sending_after(std::size_t stage) const {
    return {holds_sends_ ? std::max(0.0, stages_[stage].sends.until() - stages_[stage].now) : 0.0};
  }
  // Until when a send of the stage is in flight.
  [[nodiscard]] Seconds sending_until(std::size_t stage) const {
    return {stages_[stage].sends.until()};
  }
  // How much later than without gradients its first one starts.
  [[nodiscard]] Seconds delay(std::size_t stage) const {
    return {stages_[stage].start - ends_[stage].start.si};
  }
  // To the last decoded bucket; `finish` is a date of the step.
  [[nodiscard]] OverlapResult finish(std::size_t stage);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // Operations since streams were last idle, which was date zero.
  struct Sequence {
    GradientStreams streams;    // after them
    double end{};               // of the last of them
    OverlapResult operation{};  // what the last one adds
    std::size_t like{none};     // the last one
    double wait{};              // before it
    StageSends sending{};       // of sends that were in flight at date zero, how long still
    Toward toward{};            // of the last one's output,
    double send{};              // how long it travels there
    StageSends sends{};         // after them, where sends hold compute units
    std::size_t longer{none};   // a sequence with one operation more,
    std::size_t another{none};  // and another one that is as long
    bool is_finished{};         // the following are known:
    double finish{};            // the end when no operation comes after them
    OverlapResult rest{};       // what that adds
  };
  struct Stage {
    double start{};
    double now{};
    StageSends sends;
    OverlapResult result{};
    std::size_t sequence{none};  // none where its streams are idle
    double since{};
  };

  void run_operations();
  void run_without_gradients();
  [[nodiscard]] bool has_input(std::size_t stage, std::size_t place) const;
  void run(std::size_t stage, std::size_t place);
  void end_operation(std::size_t stage, std::size_t place);
  [[nodiscard]] bool is_sending(const Stage& stage) const {
    return holds_sends_ && stage.sends.until() > stage.now;
  }
  [[nodiscard]] bool becomes_idle(Stage& stage, double input);
  [[nodiscard]] double arrival(std::size_t stage, std::size_t place) const;
  [[nodiscard]] std::size_t sequence(std::size_t stage, const StageOperation& operation,
                                     double wait);
  const Sequence& finished(std::size_t sequence);

  const StepPlan& plan_;
  const std::vector<StageEnd>& ends_;
  CodecCalls calls_;
  std::vector<Stage> stages_;
  std::vector<Sequence> sequences_;
  std::size_t shortest_{none};  // of one operation
  std::size_t operations_;      // of a stage, at most
  bool holds_sends_;
  std::vector<double> arrivals_;  // of what operations send on, or pass on within their stage
};

}  // namespace payoff
