// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/kernel_use.hpp"
#include "cli/pair_use.hpp"
#include "model/experiment.hpp"

// What a step prices by fitted laws (messages, kernels, and what kernels do to each other), and how
// much of it lies outside the range that was fitted: every command that predicts tells it.

namespace payoff {

// One kind of message of a plan, priced again for its provenance.
struct MessageUse {
  std::string plan;
  MessageKind kind{};
  Collective collective{};
  Group group;
  Bytes smallest{};
  Bytes largest{};
  std::size_t count{};  // a step and stage
  bool extrapolated{};  // any of them
  std::set<Bytes> sizes{};
};

// How many kinds lie outside.
struct ExtrapolatedKinds {
  std::size_t messages{};
  std::size_t kernels{};
  std::size_t pairs{};

  [[nodiscard]] bool any() const { return messages + kernels + pairs > 0; }
};

// Models of groups of one cluster. Whether a price lies outside does not hang on the rates of
// links, so that of alike nodes a model is good for jobs with other rates.
class GroupModels {
 public:
  // Good until the next call.
  [[nodiscard]] const CollectiveModel& of(const Cluster& cluster, const Group& group);

 private:
  std::vector<std::pair<Group, CollectiveModel>> models_;
};

struct PricedUses {
  std::vector<MessageUse> messages;
  std::vector<KernelUse> kernels;
  std::vector<PairUse> pairs;

  [[nodiscard]] ExtrapolatedKinds extrapolated() const;
};

// How many kinds of messages of a plan lie outside, without saying which.
[[nodiscard]] std::size_t extrapolated_messages(const PreparedExperiment& prepared,
                                                const StepPlan& plan, GroupModels& models);

// Of a strategy, without the kernels that are its job's.
void add_uses_of_plan(const PreparedExperiment& prepared, const CompressionPlan& plan,
                      PricedUses& uses);
// With them.
[[nodiscard]] PricedUses uses_of_plan(const PreparedExperiment& prepared,
                                      const CompressionPlan& plan);
// Of all strategies of the job.
[[nodiscard]] PricedUses uses_of_plans(const PreparedExperiment& prepared);

// "2 of 4 kinds of messages are priced beyond what was measured": empty where none is.
[[nodiscard]] std::string extrapolation_text(const PricedUses& uses);
// The same as a sentence that says where to see which.
[[nodiscard]] std::string extrapolation_sentence(const PricedUses& uses);
// `messages_extrapolated`, `kernels_extrapolated` and `pairs_extrapolated` of a result: counts.
void add_extrapolated(const ExtrapolatedKinds& kinds, nlohmann::ordered_json& json);

}  // namespace payoff
