// SPDX-License-Identifier: Apache-2.0
#include "model/weight_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

namespace payoff {
namespace {

class WeightCodec {
 public:
  WeightCodec(const CompressionPlan& compression, const GradientContext& context, bool in_node)
      : method_(compression.weights->method),
        index_(compression.methods().size() - 1),
        context_(context),
        network_(in_node ? context.in_node : context.network) {}

  // A unit's messages, one after the other.
  [[nodiscard]] BucketKind kind(const WeightMessages& messages) const {
    BucketKind kind;
    kind.decode.kind = WorkKind::decode;
    for (const std::int64_t elements : messages.others) {
      add(elements, kind);
    }
    for (const std::int64_t elements : messages.experts) {
      kind.elements += elements;
      kind.rounds.push_back({{WorkKind::encode, {}}, gather_message(elements, context_, true)});
    }
    kind.decode.method = index_;
    return kind;
  }

  // Of a message of so many parameters.
  [[nodiscard]] CallCost call(std::int64_t elements) const {
    const Group& group = network_.group();
    const ParameterTensor tensor{elements, 1, true, false};
    CallCost call =
        compress(method_, {&tensor, 1}, element_bytes(), group.ranks, group.ranks_per_node);
    call.method = index_;
    return call;
  }

  void add(std::int64_t elements, BucketKind& kind) const {
    const CallCost cost = call(elements);
    kind.elements += elements;
    kind.state += cost.state;
    if (cost.dense_message > 0_B) {
      kind.rounds.push_back(
          {{WorkKind::encode, {}},
           message(Collective::all_gather, static_cast<double>(elements) * element_bytes())});
    }
    for (const RoundCost& round : cost.rounds) {
      BucketRound& planned = kind.rounds.emplace_back();
      planned.encode = codec_work(WorkKind::encode, round.encode, method_, context_);
      planned.encode.method = index_;
      planned.message = message(round.collective, collective_size(round, network_.group().ranks));
    }
    const Work decode = codec_work(WorkKind::decode, cost.decode, method_, context_);
    extend(kind.decode, decode.alone, decode.memory_share);
  }

 private:
  [[nodiscard]] Bytes element_bytes() const {
    return weight_size(context_.training.precision, context_.software.fp8_weights);
  }

  [[nodiscard]] Message message(Collective collective, Bytes size) const {
    if (network_.group().ranks == 1) {
      return {MessageKind::dp_weights, collective};
    }
    return priced_message(MessageKind::dp_weights, network_, collective, size, context_.gpu);
  }

  const Method& method_;
  std::size_t index_;
  const GradientContext& context_;
  const CollectiveModel& network_;
};

// Of the updated weights of a stage, all at once; 0: nobody gathers them.
std::int64_t updated_elements(const StagePlan& stage) {
  return stage.gather_weights.alone > 0_s
             ? stage.compute->parameters - stage.compute->expert_parameters
             : 0;
}

void compress_update(StagePlan& stage, const WeightCodec& codec) {
  const std::int64_t elements = updated_elements(stage);
  if (elements == 0) {
    return;
  }
  BucketKind kind;
  codec.add(elements, kind);
  if (kind.rounds.empty()) {
    return;
  }
  // Others, as the sum of largest values, are short.
  const auto largest = std::max_element(
      kind.rounds.begin(), kind.rounds.end(),
      [](const BucketRound& a, const BucketRound& b) { return a.message.size < b.message.size; });
  Message gathered = largest->message;
  Seconds least = gathered.least_share * gathered.alone;
  stage.optimizer.alone += kind.decode.alone;
  for (auto round = kind.rounds.begin(); round != kind.rounds.end(); ++round) {
    stage.optimizer.alone += round->encode.alone;
    if (round != largest) {
      gathered.size += round->message.size;
      gathered.alone += round->message.alone;
      least += round->message.least_share * round->message.alone;
    }
  }
  gathered.least_share = gathered.alone > 0_s ? least / gathered.alone : 0.0;
  stage.gather_weights = gathered;
}

}  // namespace

void compress_gathers(StepPlan& plan, const CompressionPlan& compression, const WeightKinds& kinds,
                      const GradientContext& context, std::vector<BucketKind>& gathers) {
  const WeightCodec codec(compression, context, false);
  if (plan.layout.zero < 3) {
    for (StagePlan& stage : plan.stages) {
      compress_update(stage, codec);
    }
    return;
  }
  const bool copies = compression.weights->copy_in_node;
  const WeightCodec inside(compression, context, copies);
  std::vector<BucketKind> of_backward;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    gathers[k] = codec.kind(kinds[k]);
    if (copies) {
      of_backward.push_back(inside.kind(kinds[k]));
    }
  }
  for (StagePlan& stage : plan.stages) {
    for (WeightGather& gather : stage.backward_gathers) {
      gather.kind += copies ? kinds.size() : 0;
    }
  }
  gathers.insert(gathers.end(), std::make_move_iterator(of_backward.begin()),
                 std::make_move_iterator(of_backward.end()));
}

std::vector<CallCost> weight_costs(const StepPlan& plan, const CompressionPlan& compression,
                                   const WeightKinds& kinds, const GradientContext& context) {
  std::set<std::int64_t> sizes;
  if (plan.layout.zero < 3) {
    for (const StagePlan& stage : plan.stages) {
      sizes.insert(updated_elements(stage));
    }
    sizes.erase(0);
  } else {
    for (const WeightMessages& messages : kinds) {
      sizes.insert(messages.others.begin(), messages.others.end());
    }
  }
  std::vector<CallCost> costs;
  const auto add = [&](bool in_node) {
    const WeightCodec codec(compression, context, in_node);
    std::transform(sizes.begin(), sizes.end(), std::back_inserter(costs),
                   [&](std::int64_t elements) { return codec.call(elements); });
  };
  add(false);
  if (plan.layout.zero == 3 && compression.weights->copy_in_node) {
    add(true);
  }
  return costs;
}

}  // namespace payoff
