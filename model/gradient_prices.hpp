// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/compression.hpp"
#include "model/gradient_plan.hpp"
#include "model/step_plan.hpp"

// What the messages of gradients cost alone: those of a method's rounds, over the links that each
// goes on, and those that travel dense.

namespace payoff {

// Of one plan: many buckets send messages of equal size.
class GradientPrices {
 public:
  explicit GradientPrices(const GradientContext& context) : context_(context) {}

  // A round of a method; experts' go among all that hold the same ones.
  [[nodiscard]] Message round_message(const RoundCost& round, Collective collective,
                                      bool of_experts);

  [[nodiscard]] Message dp_message(Collective collective, Bytes size, bool of_experts);

  // What the ranks with the same part of the sum do with it, after a reduce-scatter.
  [[nodiscard]] Message replica_message(Bytes size, bool of_experts);

 private:
  Message graph_message(const RoundCost& round);
  Message host_message(const RoundCost& round, Collective collective);
  Message message(MessageKind kind, const CollectiveModel& network, Collective collective,
                  Bytes size);

  const GradientContext& context_;
  std::map<int, CollectiveModel> graphs_;  // by neighbours
  std::vector<std::pair<const CollectiveModel*, Message>> known_;
};

}  // namespace payoff
