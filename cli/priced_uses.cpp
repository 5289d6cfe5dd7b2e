// SPDX-License-Identifier: Apache-2.0
#include "cli/priced_uses.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/groups.hpp"

namespace payoff {
namespace {

// Its smallest or its largest.
template <typename Use>
bool is_extrapolated(const Use& use, const CollectiveModel& model) {
  return model.price(use.collective, use.smallest).extrapolated ||
         model.price(use.collective, use.largest).extrapolated;
}

// The use that a message belongs to, made where it is the first of its kind, and as wide as the
// message wants it. `last`: where the one before belonged, as most do.
template <typename Use>
Use& widened(std::vector<Use>& uses, std::size_t& last, const Message& message,
             const Group& group) {
  const auto is_like = [&](const Use& known) {
    return known.kind == message.kind && known.collective == message.collective &&
           known.group == group;
  };
  if (last >= uses.size() || !is_like(uses[last])) {
    last = static_cast<std::size_t>(std::find_if(uses.begin(), uses.end(), is_like) - uses.begin());
  }
  if (last == uses.size()) {
    Use& first = uses.emplace_back();
    first.kind = message.kind;
    first.collective = message.collective;
    first.group = group;
    first.smallest = message.size;
  }
  Use& use = uses[last];
  use.smallest = std::min(use.smallest, message.size);
  use.largest = std::max(use.largest, message.size);
  return use;
}

// Of stages that share their pieces all, or each piece once.
enum class SharedPieces { of_each_stage, once };

bool is_shared_before(const StepPlan& plan, std::size_t stage) {
  return std::any_of(
      plan.stages.begin(), plan.stages.begin() + static_cast<std::ptrdiff_t>(stage),
      [&](const StagePlan& other) { return other.compute == plan.stages[stage].compute; });
}

// take(message, group) of each that is sent.
template <typename Take>
void for_each_message(const PreparedExperiment& prepared, const StepPlan& plan,
                      SharedPieces pieces_of, const Take& take) {
  const Experiment& experiment = prepared.experiment();
  const int node = experiment.cluster.gpus_per_node;
  const auto add_to = [&](const Message& message, const Group& group) {
    if (message.size > Bytes{} && group.ranks > 1) {
      take(message, group);
    }
  };
  std::map<MessageKind, Group> groups;
  const auto add = [&](const Message& message) {
    if (message.size > Bytes{}) {
      const auto [known, is_new] = groups.try_emplace(message.kind);
      if (is_new) {
        known->second = group_of(message.kind, experiment.layout, node);
      }
      add_to(message, known->second);
    }
  };
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    if (pieces_of == SharedPieces::of_each_stage || !is_shared_before(plan, s)) {
      for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
        for (const Piece& piece : *pieces) {
          add(piece.message);
        }
      }
    }
    const Group boundary = boundary_group(experiment.layout, node, static_cast<int>(s));
    add_to(stage.send_forward, boundary);
    add_to(stage.send_backward, boundary);
    add(stage.gather_weights);
    add(stage.gather_experts);
    if (plan.sums_tied(s)) {
      add(plan.tied_gradients);
    }
    const auto add_rounds = [&](const BucketKind& kind) {
      for (const BucketRound& round : kind.rounds) {
        add(round.message);
      }
    };
    for (const Bucket& bucket : stage.buckets) {
      add_rounds(plan.kind(bucket));
    }
    for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
      for (const WeightGather& gather : *gathers) {
        add_rounds(plan.kinds[gather.kind]);
      }
    }
  }
}

// By kind and collective.
std::vector<MessageUse> messages_of(const PreparedExperiment& prepared, const StepPlan& plan,
                                    const std::string& label) {
  std::vector<MessageUse> uses;
  std::size_t last = 0;
  for_each_message(prepared, plan, SharedPieces::of_each_stage,
                   [&](const Message& message, const Group& group) {
                     MessageUse& use = widened(uses, last, message, group);
                     use.count += 1;
                     use.sizes.insert(message.size);
                   });
  GroupModels models;
  for (MessageUse& use : uses) {
    use.plan = label;
    use.extrapolated = is_extrapolated(use, models.of(prepared.experiment().cluster, use.group));
  }
  return uses;
}

template <typename Use>
void append(std::vector<Use> more, std::vector<Use>& uses) {
  std::move(more.begin(), more.end(), std::back_inserter(uses));
}

// Of what no strategy changes.
PricedUses uses_of_job(const PreparedExperiment& prepared) {
  PricedUses uses;
  uses.kernels = kernels_of_layers(prepared);
  append(kernels_of_buckets(prepared, prepared.plan(CompressionPlan{})), uses.kernels);
  return uses;
}

}  // namespace

ExtrapolatedKinds PricedUses::extrapolated() const {
  const auto count = [](const auto& uses, const auto& is_extrapolated) {
    return static_cast<std::size_t>(std::count_if(uses.begin(), uses.end(), is_extrapolated));
  };
  return {count(messages, [](const MessageUse& use) { return use.extrapolated; }),
          count(kernels, [](const KernelUse& use) { return use.extrapolated(); }),
          count(pairs, [](const PairUse& use) { return use.extrapolated(); })};
}

const CollectiveModel& GroupModels::of(const Cluster& cluster, const Group& group) {
  constexpr std::size_t most = 256;
  const auto known = std::find_if(models_.begin(), models_.end(),
                                  [&](const auto& each) { return each.first == group; });
  if (known != models_.end()) {
    return known->second;
  }
  if (models_.size() >= most) {
    models_.clear();
  }
  return models_.emplace_back(group, CollectiveModel(cluster, group)).second;
}

std::size_t extrapolated_messages(const PreparedExperiment& prepared, const StepPlan& plan,
                                  GroupModels& models) {
  struct Kind {
    MessageKind kind{};
    Collective collective{};
    Group group;
    Bytes smallest{};
    Bytes largest{};
  };
  std::vector<Kind> kinds;
  std::size_t last = 0;
  for_each_message(
      prepared, plan, SharedPieces::once,
      [&](const Message& message, const Group& group) { widened(kinds, last, message, group); });
  return static_cast<std::size_t>(std::count_if(kinds.begin(), kinds.end(), [&](const Kind& each) {
    return is_extrapolated(each, models.of(prepared.experiment().cluster, each.group));
  }));
}

void add_uses_of_plan(const PreparedExperiment& prepared, const CompressionPlan& plan,
                      PricedUses& uses) {
  const std::vector<CallCost> calls = prepared.codec_costs(plan);
  const StepPlan step = prepared.plan(plan, calls);
  append(messages_of(prepared, step, plan.label), uses.messages);
  append(kernels_of_codec(prepared, plan, step, calls), uses.kernels);
  append(pairs_of_plan(step, plan.label), uses.pairs);
}

PricedUses uses_of_plan(const PreparedExperiment& prepared, const CompressionPlan& plan) {
  PricedUses uses = uses_of_job(prepared);
  add_uses_of_plan(prepared, plan, uses);
  return uses;
}

PricedUses uses_of_plans(const PreparedExperiment& prepared) {
  PricedUses uses = uses_of_job(prepared);
  for (const CompressionPlan& plan : prepared.experiment().plans) {
    add_uses_of_plan(prepared, plan, uses);
  }
  return uses;
}

std::string extrapolation_text(const PricedUses& uses) {
  const ExtrapolatedKinds beyond = uses.extrapolated();
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::size_t of, std::string_view what) {
    if (count > 0) {
      parts.push_back(fmt::format("{} of {} kinds of {}", count, of, what));
    }
  };
  add(beyond.messages, uses.messages.size(), "messages");
  add(beyond.kernels, uses.kernels.size(), "kernels");
  add(beyond.pairs, uses.pairs.size(), "pairs of kernels");
  return parts.empty()
             ? std::string()
             : fmt::format("{} are priced beyond what was measured", fmt::join(parts, " and "));
}

std::string extrapolation_sentence(const PricedUses& uses) {
  const std::string text = extrapolation_text(uses);
  return text.empty() ? text : text + ": `payoff explain` shows which.";
}

void add_extrapolated(const ExtrapolatedKinds& kinds, nlohmann::ordered_json& json) {
  json["messages_extrapolated"] = kinds.messages;
  json["kernels_extrapolated"] = kinds.kernels;
  json["pairs_extrapolated"] = kinds.pairs;
}

}  // namespace payoff
