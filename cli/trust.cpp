// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cli/facts_read.hpp"
#include "model/groups.hpp"

namespace payoff {
namespace {

// The messages of one plan, by kind and collective.
class MessageCounter {
 public:
  MessageCounter(const Experiment& experiment, std::string plan)
      : experiment_(experiment), plan_(std::move(plan)) {}

  void add(const Message& message, const Group& group) {
    if (message.size <= Bytes{} || group.ranks < 2) {
      return;
    }
    auto use = std::find_if(uses_.begin(), uses_.end(), [&](const MessageUse& known) {
      return known.kind == message.kind && known.collective == message.collective &&
             known.group == group;
    });
    if (use == uses_.end()) {
      uses_.push_back({.plan = plan_,
                       .kind = message.kind,
                       .collective = message.collective,
                       .group = group,
                       .smallest = message.size,
                       .largest = message.size});
      use = uses_.end() - 1;
    }
    use->smallest = std::min(use->smallest, message.size);
    use->largest = std::max(use->largest, message.size);
    use->count += 1;
    use->sizes.insert(message.size);
  }

  std::vector<MessageUse> priced() {
    for (MessageUse& use : uses_) {
      const CollectiveModel model(experiment_.cluster, use.group);
      use.extrapolated = model.price(use.collective, use.smallest).extrapolated ||
                         model.price(use.collective, use.largest).extrapolated;
    }
    return std::move(uses_);
  }

 private:
  const Experiment& experiment_;
  std::string plan_;
  std::vector<MessageUse> uses_;
};

std::vector<MessageUse> messages_of(const PreparedExperiment& prepared,
                                    const CompressionPlan& compression) {
  const Experiment& experiment = prepared.experiment();
  const int node = experiment.cluster.gpus_per_node;
  const auto group = [&](const Message& message) {
    return group_of(message.kind, experiment.layout, node);
  };
  const StepPlan plan = prepared.plan(compression);
  MessageCounter counter(experiment, compression.label);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
      for (const Piece& piece : *pieces) {
        counter.add(piece.message, group(piece.message));
      }
    }
    const Group boundary = boundary_group(experiment.layout, node, static_cast<int>(s));
    counter.add(stage.send_forward, boundary);
    counter.add(stage.send_backward, boundary);
    counter.add(stage.gather_weights, group(stage.gather_weights));
    counter.add(stage.gather_experts, group(stage.gather_experts));
    if (plan.sums_tied(s)) {
      counter.add(plan.tied_gradients, group(plan.tied_gradients));
    }
    for (const Bucket& bucket : stage.buckets) {
      for (const BucketRound& round : plan.kind(bucket).rounds) {
        counter.add(round.message, group(round.message));
      }
    }
    for (const auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
      for (const WeightGather& gather : *gathers) {
        const Message& message = plan.kinds[gather.kind].rounds.front().message;
        counter.add(message, group(message));
      }
    }
  }
  return counter.priced();
}

}  // namespace

std::size_t Trust::extrapolated_messages() const {
  return static_cast<std::size_t>(std::count_if(
      messages.begin(), messages.end(), [](const MessageUse& use) { return use.extrapolated; }));
}

std::size_t Trust::extrapolated_kernels() const {
  return static_cast<std::size_t>(std::count_if(
      kernels.begin(), kernels.end(), [](const KernelUse& use) { return use.extrapolated(); }));
}

std::size_t Trust::extrapolated_pairs() const {
  return static_cast<std::size_t>(std::count_if(
      pairs.begin(), pairs.end(), [](const PairUse& use) { return use.extrapolated(); }));
}

Trust trust_in(const PreparedExperiment& prepared, const Facts& facts) {
  Trust trust;
  trust.kernels = kernels_of_job(prepared);
  for (const CompressionPlan& plan : prepared.experiment().plans) {
    for (KernelUse& use : kernels_of_codec(prepared, plan)) {
      trust.kernels.push_back(std::move(use));
    }
    for (PairUse& use : pairs_of_plan(prepared, plan)) {
      trust.pairs.push_back(std::move(use));
    }
    for (MessageUse& use : messages_of(prepared, plan)) {
      trust.messages.push_back(std::move(use));
    }
  }
  trust.read = facts_read(prepared, trust.messages, facts);
  const Facts once = distinct(trust.read);
  trust.numbers = once.size();
  std::copy_if(once.begin(), once.end(), std::back_inserter(trust.assumed),
               [](const Fact& fact) { return fact.kind == Provenance::assumed; });
  return trust;
}

std::string trust_text(const Trust& trust) {
  std::vector<std::string> parts;
  if (!trust.assumed.empty()) {
    parts.push_back(fmt::format("{} of {} numbers are assumed, not measured or published",
                                trust.assumed.size(), trust.numbers));
  }
  const auto unchecked =
      std::count_if(trust.assumed.begin(), trust.assumed.end(),
                    [](const Fact& fact) { return fact.path.ends_with(".unchecked"); });
  if (unchecked > 0) {
    parts.push_back(
        fmt::format("{} {} unchecked", unchecked, unchecked == 1 ? "method is" : "methods are"));
  }
  std::vector<std::string> beyond;
  if (const std::size_t count = trust.extrapolated_messages(); count > 0) {
    beyond.push_back(fmt::format("{} of {} kinds of messages", count, trust.messages.size()));
  }
  if (const std::size_t count = trust.extrapolated_kernels(); count > 0) {
    beyond.push_back(fmt::format("{} of {} kinds of kernels", count, trust.kernels.size()));
  }
  if (const std::size_t count = trust.extrapolated_pairs(); count > 0) {
    beyond.push_back(fmt::format("{} of {} kinds of pairs of kernels", count, trust.pairs.size()));
  }
  if (!beyond.empty()) {
    parts.push_back(
        fmt::format("{} are priced beyond what was measured", fmt::join(beyond, " and ")));
  }
  return parts.empty() ? std::string()
                       : fmt::format("{}: `payoff explain` shows which.", fmt::join(parts, "; "));
}

}  // namespace payoff
