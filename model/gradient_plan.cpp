// SPDX-License-Identifier: Apache-2.0
#include "model/gradient_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/buckets.hpp"

namespace payoff {
namespace {

Message dp_message(Collective collective, Bytes size, const GradientContext& context) {
  if (size <= 0_B) {
    return {};
  }
  const CollectivePrice price = context.network.price(collective, size);
  return {MessageKind::dp_gradients, collective, size, price.time, price.channels,
          price.relative_sd};
}

Bytes gradients_of(const BucketTensors& bucket, const GradientContext& context) {
  return static_cast<double>(bucket.elements) * element_size(context.training.gradient);
}

// A bucket is filled from the gradients and emptied into them by streaming copies.
Seconds bucket_copy(const BucketTensors& bucket, const GradientContext& context) {
  const double passes = context.software.bucket_copy_passes;
  if (passes <= 0.0) {
    return {};
  }
  const Gpu& gpu = context.gpu;
  return gpu.law.launch + passes * gradients_of(bucket, context) /
                              (gpu.memory_bandwidth * gpu.law.memory_efficiency);
}

void add_copy(Work& work, Seconds copy) {
  work.alone += copy;
  work.bucket_copy += copy;
}

// With sharded optimiser states every rank needs only its own part of the sum.
Collective dense_collective(const ParallelLayout& layout) {
  return layout.zero > 0 ? Collective::reduce_scatter : Collective::all_reduce;
}

CallCost compress_bucket(const BucketTensors& bucket, const Method& method,
                         const GradientContext& context) {
  const Group& group = context.network.group();
  return compress(method, bucket.tensors, element_size(context.training.gradient), group.ranks,
                  group.ranks_per_node);
}

// nccl-tests counts the gathered buffer of an all-gather; a method states what one worker sends.
Bytes collective_size(const RoundCost& round, int workers) {
  return round.collective == Collective::all_gather ? workers * round.message : round.message;
}

BucketKind compressed_bucket(const BucketTensors& bucket, const Method& method,
                             const GradientContext& context) {
  const CallCost cost = compress_bucket(bucket, method, context);
  const auto price = [&](const PassCost& pass) {
    return price_pass(pass, method.law, context.gpu, context.training.precision);
  };
  BucketKind result{bucket.elements, {}, {WorkKind::decode, price(cost.decode)}, cost.state};
  if (cost.dense_message > 0_B) {
    result.rounds.push_back(
        {{WorkKind::encode, price(cost.dense)},
         dp_message(dense_collective(context.layout), cost.dense_message, context)});
  }
  for (const RoundCost& round : cost.rounds) {
    const bool shard = context.layout.zero > 0 && round.collective == Collective::all_reduce;
    const Collective collective = shard ? Collective::reduce_scatter : round.collective;
    result.rounds.push_back(
        {{WorkKind::encode, price(round.encode)},
         dp_message(collective, collective_size(round, context.network.group().ranks), context)});
  }
  if (!method.bypasses_buckets) {
    const Seconds copy = bucket_copy(bucket, context);
    add_copy(result.rounds.empty() ? result.decode : result.rounds.front().encode, copy);
    add_copy(result.decode, copy);
  }
  return result;
}

BucketKind dense_bucket(const BucketTensors& bucket, const GradientContext& context) {
  const Seconds time = bucket_copy(bucket, context);
  const Work copy{WorkKind::bucket_copy, time, time};
  return {bucket.elements,
          {{copy,
            dp_message(dense_collective(context.layout), gradients_of(bucket, context), context)}},
          copy,
          {}};
}

std::size_t index_of(BucketTensors&& bucket, std::vector<BucketTensors>& kinds) {
  const auto known = std::find(kinds.begin(), kinds.end(), bucket);
  const auto index = static_cast<std::size_t>(known - kinds.begin());
  if (known == kinds.end()) {
    kinds.push_back(std::move(bucket));
  }
  return index;
}

}  // namespace

std::vector<Bucket> cut_buckets(const std::vector<ReadyGradient>& gradients,
                                const Training& training, std::vector<BucketTensors>& kinds) {
  std::vector<Bytes> sizes;
  sizes.reserve(gradients.size());
  for (const ReadyGradient& gradient : gradients) {
    sizes.push_back(static_cast<double>(gradient.tensor.elements()) *
                    element_size(training.gradient));
  }
  std::vector<Bucket> buckets;
  std::size_t next = 0;
  for (const std::size_t count : fill_buckets(sizes, training.first_bucket, training.bucket)) {
    BucketTensors content;
    Bucket& bucket = buckets.emplace_back();
    for (const std::size_t end = next + count; next < end; ++next) {
      const ReadyGradient& gradient = gradients[next];
      bucket.ready_after = std::max(bucket.ready_after, gradient.piece);
      content.elements += gradient.tensor.elements();
      content.tensors.push_back(gradient.tensor);
    }
    bucket.kind = index_of(std::move(content), kinds);
  }
  return buckets;
}

std::vector<BucketKind> plan_kinds(const std::vector<BucketTensors>& kinds,
                                   const CompressionPlan& compression,
                                   const GradientContext& context) {
  std::vector<BucketKind> planned;
  planned.reserve(kinds.size());
  for (const BucketTensors& bucket : kinds) {
    planned.push_back(compression.method ? compressed_bucket(bucket, *compression.method, context)
                                         : dense_bucket(bucket, context));
  }
  return planned;
}

}  // namespace payoff
