// SPDX-License-Identifier: Apache-2.0
#include "model/gradient_plan.hpp"

#include "model/compute.hpp"
#include "model/gradient_prices.hpp"
#include "model/host_codec.hpp"
#include "model/silent_rounds.hpp"

namespace payoff {
namespace {

Bytes gradients_of(std::int64_t elements, const GradientContext& context) {
  return static_cast<double>(elements) * element_size(context.training.gradient);
}

// The gradients of a kind of bucket, and whose they are.
struct KindContent {
  std::int64_t elements{};
  std::int64_t tensors{};
  bool of_experts{};
};

std::vector<KindContent> contents_of(const GradientKinds& kinds) {
  std::vector<KindContent> contents(kinds.elements.size());
  for (const EqualTensors& tensors : kinds.tensors) {
    KindContent& content = contents[tensors.call];
    content.elements = kinds.elements[tensors.call];
    content.tensors += tensors.count;
    content.of_experts = tensors.tensor.of_expert;
  }
  return contents;
}

// A bucket is filled and emptied by streaming copies: one, or one a tensor.
Work bucket_copy(const KindContent& content, const GradientContext& context) {
  const double passes = context.software.bucket_copy_passes;
  if (passes <= 0.0) {
    return {WorkKind::bucket_copy};
  }
  const Bytes traffic = passes * gradients_of(content.elements, context);
  Seconds time = streaming_time(traffic, context.gpu);
  if (context.software.copies_each_tensor) {
    time += static_cast<double>(content.tensors - 1) * context.gpu.law.launch;
  }
  return {WorkKind::bucket_copy, time, time, memory_share(traffic, time, context.gpu)};
}

// Among how many ranks the sum of a bucket is divided.
int parts_of(const ParallelLayout& layout, bool of_experts) {
  return of_experts ? layout.expert_shards() : layout.shard_ranks();
}

// After a reduce-scatter only the rank's own part is left to empty into the gradients.
Work emptied(Work copy, const ParallelLayout& layout, bool of_experts) {
  const int parts = parts_of(layout, of_experts);
  copy.alone /= parts;
  copy.bucket_copy /= parts;
  return copy;
}

void add_copy(Work& work, const Work& copy) {
  extend(work, copy.alone, copy.memory_share);
  work.bucket_copy += copy.alone;
}

// Where weights are updated in backward: those of the bucket, or the rank's part of them.
void add_update(BucketKind& kind, const KindContent& content, const GradientContext& context) {
  if (!updates_in_backward(context.software, context.layout)) {
    return;
  }
  const int parts = parts_of(context.layout, content.of_experts);
  const std::int64_t updated = (content.elements + parts - 1) / parts;
  const Bytes traffic =
      static_cast<double>(updated) * context.training.optimizer_traffic_per_parameter;
  const Seconds time = streaming_time(traffic, context.gpu);
  extend(kind.decode, time, memory_share(traffic, time, context.gpu));
  kind.decode.update = time;
}

// With sharded optimiser states every rank needs only its own part of the sum.
Collective dense_collective(const ParallelLayout& layout) {
  return layout.zero > 0 ? Collective::reduce_scatter : Collective::all_reduce;
}

// Copies of the model add up their parts once each has scattered its own; a rank that holds a copy
// alone, all of it.
void add_sum(BucketKind& kind, const Work& work, const Message& message, Bytes scattered,
             bool of_experts, const GradientContext& context, GradientPrices& prices) {
  const bool copies = (of_experts ? context.expert_replicas : context.replicas).group().ranks > 1;
  const bool alone = (of_experts ? context.experts : context.network).group().ranks == 1;
  if (copies && alone) {
    kind.rounds.push_back({work, prices.replica_message(scattered, of_experts)});
    return;
  }
  kind.rounds.push_back({work, message});
  if (copies) {
    kind.rounds.push_back({{WorkKind::encode, {}}, prices.replica_message(scattered, of_experts)});
  }
}

// Who waits for whom follows from the graph.
Message over_graph(Message message, const RoundCost& round, const Method& method,
                   std::size_t index) {
  if (method.graph) {
    message.graph = static_cast<std::uint32_t>(index + 1);
    message.in_node = round.among == Among::node;
  }
  return message;
}

// A method of a plan, by its number there.
struct PlannedMethod {
  const Method& method;
  std::size_t index;
};

Work work_of_codec(WorkKind kind, const PassCost& pass, const PlannedMethod& of,
                   const GradientContext& context) {
  Work work = codec_work(kind, pass, of.method, context);
  work.method = of.index;
  return work;
}

void add_rounds(BucketKind& kind, const CallCost& cost, const PlannedMethod& of, bool of_experts,
                const GradientContext& context, GradientPrices& prices) {
  const Method& method = of.method;
  const int sharers = sharers_of_host(context.cluster, context.layout);
  bool on_host = false;  // what the last round left
  for (const RoundCost& round : cost.rounds) {
    const bool shard = context.layout.zero > 0 && round.collective == Collective::all_reduce;
    const Collective collective = shard ? Collective::reduce_scatter : round.collective;
    const Message message = prices.round_message(round, collective, of_experts);
    add_sum(kind, work_of_codec(WorkKind::encode, round.encode, of, context),
            over_graph(message, round, method, of.index), round.message, of_experts, context,
            prices);
    if (round.encode.on_host) {
      const bool sends = round.among == Among::nodes;
      kind.rounds.back().host =
          host_work(round.encode, {!on_host, !sends}, *method.host, context.cluster, sharers);
      on_host = sends;
    }
  }
  if (cost.decode.on_host) {
    kind.host_decode =
        host_work(cost.decode, {false, true}, *method.host, context.cluster, sharers);
  }
}

BucketKind compressed_kind(const KindContent& content, const CallCost& cost,
                           const PlannedMethod& of, const GradientContext& context,
                           GradientPrices& prices) {
  const bool of_experts = content.of_experts;
  BucketKind kind{content.elements,
                  {},
                  work_of_codec(WorkKind::decode, cost.decode, of, context),
                  of.method.host ? 0_B : cost.state};
  kind.rounds.reserve(cost.rounds.size() + 1);
  if (cost.dense_message > 0_B) {
    add_sum(kind, work_of_codec(WorkKind::encode, cost.dense, of, context),
            prices.dp_message(dense_collective(context.layout), cost.dense_message, of_experts),
            cost.dense_message, of_experts, context, prices);
  }
  add_rounds(kind, cost, of, of_experts, context, prices);
  if (!of.method.bypasses_buckets) {
    const Work copy = bucket_copy(content, context);
    add_copy(kind.rounds.empty() ? kind.decode : kind.rounds.front().encode, copy);
    add_copy(kind.decode, emptied(copy, context.layout, of_experts));
  }
  merge_silent_rounds(kind);
  return kind;
}

BucketKind dense_kind(const KindContent& content, const GradientContext& context,
                      GradientPrices& prices) {
  const bool of_experts = content.of_experts;
  const Work copy = bucket_copy(content, context);
  const Bytes size = gradients_of(content.elements, context);
  BucketKind kind{content.elements, {}, emptied(copy, context.layout, of_experts), {}};
  add_sum(kind, copy, prices.dp_message(dense_collective(context.layout), size, of_experts), size,
          of_experts, context, prices);
  return kind;
}

}  // namespace

Work codec_work(WorkKind kind, const PassCost& pass, const Method& method,
                const GradientContext& context) {
  const Seconds time = price_pass(pass, method.law, context.gpu, context.training.precision);
  return {kind, time, {}, memory_share(memory_traffic(pass, context.gpu), time, context.gpu)};
}

std::vector<BucketKind> plan_kinds(const GradientKinds& kinds, const CompressionPlan& compression,
                                   std::span<const KindUse> uses, std::span<const CallCost> costs,
                                   const GradientContext& context) {
  GradientPrices prices(context);
  const std::vector<const Method*> methods = compression.gradient_methods();
  const std::vector<KindContent> contents = contents_of(kinds);
  std::vector<BucketKind> planned;
  planned.reserve(uses.size());
  for (std::size_t use = 0; use < uses.size(); ++use) {
    const KindContent& content = contents[uses[use].kind];
    const std::size_t method = uses[use].method;
    if (method == KindUse::dense) {
      planned.push_back(dense_kind(content, context, prices));
      planned.back().left_dense = !methods.empty();
    } else {
      planned.push_back(
          compressed_kind(content, costs[use], {*methods[method], method}, context, prices));
    }
    add_update(planned.back(), content, context);
  }
  return planned;
}

}  // namespace payoff
