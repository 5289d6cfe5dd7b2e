// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "model/collective.hpp"
#include "model/experiment.hpp"
#include "model/step_plan.hpp"
#include "model/stretched_codec.hpp"
#include "model/units.hpp"

// A plan along two axes that are its own: the time of its codecs and the size of its compressed
// messages, gradients and activations alike, everything else as it is.

namespace payoff {

// Encode and decode in one step, of the stage that spends most; without the codec of updated
// weights (zero 1, 2), which is part of the optimizer's work.
[[nodiscard]] Seconds codec_time(const StepPlan& plan);
// A free codec of gradients is given a shape that can be stretched: half before, half after, by
// elements.
void give_codec_time(StepPlan& plan);

// The networks that compressed messages of a job use.
class MessageSizes {
 public:
  explicit MessageSizes(const Experiment& experiment);

  // Bytes that what `plan` compresses takes in `uncompressed`, over those that it sends; of weights
  // those that a rank gathers.
  [[nodiscard]] double wire_ratio(const StepPlan& plan, const StepPlan& uncompressed) const;
  // All compressed messages `factor` times as long, priced again, but for the gather of updated
  // weights (zero 1, 2). They hold as many compute units as they do now.
  [[nodiscard]] StepPlan resized(StepPlan plan, double factor) const;
  // What every worker gathers of gradients summed on the way instead, among the same ranks; what is
  // gathered inside nodes after a sum between them stays. Nothing where no payload is gathered.
  [[nodiscard]] std::optional<StepPlan> all_reduced(StepPlan plan) const;

  // What NCCL chooses for them, at this factor.
  [[nodiscard]] std::vector<int> choices(const StepPlan& plan, double factor) const;

 private:
  struct Sent {
    double dense{};
    double compressed{};
  };
  [[nodiscard]] Sent of_gradients(const StepPlan& plan) const;
  [[nodiscard]] Sent of_activations(const StepPlan& plan, const StepPlan& uncompressed) const;
  [[nodiscard]] static Sent of_weights(const StepPlan& plan, const StepPlan& uncompressed);
  [[nodiscard]] Bytes contribution(const Message& message) const;
  void resize(Message& message, double factor) const;
  void resize_send(Message& send, double factor, std::size_t boundary) const;

  // Of a collective of the job; sends have their boundary's.
  [[nodiscard]] const CollectiveModel& network(MessageKind kind) const;
  [[nodiscard]] const CollectiveModel& network(const Message& message) const;

  Bytes gradient_;
  std::map<MessageKind, CollectiveModel> networks_;
  std::vector<CollectiveModel> parts_;       // of data parallelism: in a node, and across nodes
  std::vector<CollectiveModel> boundaries_;  // after each stage
};

}  // namespace payoff
