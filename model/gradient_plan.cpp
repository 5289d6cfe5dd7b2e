// SPDX-License-Identifier: Apache-2.0
#include "model/gradient_plan.hpp"

#include <algorithm>
#include <cstddef>

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

// A bucket is filled from the gradients and emptied into them by streaming copies.
Work bucket_copy(Bytes size, const GradientContext& context) {
  const double passes = context.software.bucket_copy_passes;
  if (passes <= 0.0) {
    return {WorkKind::bucket_copy, {}};
  }
  const Gpu& gpu = context.gpu;
  return {WorkKind::bucket_copy,
          gpu.law.launch + passes * size / (gpu.memory_bandwidth * gpu.law.memory_efficiency)};
}

// With sharded optimiser states every rank needs only its own part of the sum.
Collective dense_collective(const ParallelLayout& layout) {
  return layout.zero > 0 ? Collective::reduce_scatter : Collective::all_reduce;
}

CallCost compress_bucket(const PreparedBucket& bucket, const Method& method,
                         const GradientContext& context) {
  const Group& group = context.network.group();
  return compress(method, bucket.tensors, element_size(context.training.gradient), group.ranks,
                  group.ranks_per_node);
}

// nccl-tests counts the gathered buffer of an all-gather; a method states what one worker sends.
Bytes collective_size(const RoundCost& round, int workers) {
  return round.collective == Collective::all_gather ? workers * round.message : round.message;
}

Bucket compressed_bucket(const PreparedBucket& bucket, const Method& method,
                         const GradientContext& context) {
  const CallCost cost = compress_bucket(bucket, method, context);
  const auto price = [&](const PassCost& pass) {
    return price_pass(pass, method.law, context.gpu, context.training.precision);
  };
  Bucket result{
      bucket.ready_after, bucket.elements, {}, {WorkKind::decode, price(cost.decode)}, cost.state};
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
  return result;
}

Bucket dense_bucket(const PreparedBucket& bucket, const GradientContext& context) {
  const Bytes size = static_cast<double>(bucket.elements) * element_size(context.training.gradient);
  const Work copy = bucket_copy(size, context);
  return {bucket.ready_after,
          bucket.elements,
          {{copy, dp_message(dense_collective(context.layout), size, context)}},
          copy,
          {}};
}

void find_equal(std::vector<PreparedBucket>& buckets) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    buckets[b].like = b;
    for (std::size_t earlier = 0; earlier < b && buckets[b].like == b; ++earlier) {
      if (buckets[earlier].like == earlier && buckets[earlier].tensors == buckets[b].tensors) {
        buckets[b].like = earlier;
      }
    }
  }
}

}  // namespace

std::vector<PreparedBucket> cut_buckets(const std::vector<ReadyGradient>& gradients,
                                        const Training& training) {
  std::vector<Bytes> sizes;
  sizes.reserve(gradients.size());
  for (const ReadyGradient& gradient : gradients) {
    sizes.push_back(static_cast<double>(gradient.tensor.elements()) *
                    element_size(training.gradient));
  }
  std::vector<PreparedBucket> buckets;
  std::size_t next = 0;
  for (const std::size_t count : fill_buckets(sizes, training.first_bucket, training.bucket)) {
    PreparedBucket& bucket = buckets.emplace_back();
    for (const std::size_t end = next + count; next < end; ++next) {
      const ReadyGradient& gradient = gradients[next];
      bucket.ready_after = std::max(bucket.ready_after, gradient.piece);
      bucket.elements += gradient.tensor.elements();
      bucket.tensors.push_back(gradient.tensor);
    }
  }
  find_equal(buckets);
  return buckets;
}

std::vector<Bucket> plan_buckets(const std::vector<PreparedBucket>& buckets,
                                 const CompressionPlan& compression,
                                 const GradientContext& context) {
  std::vector<Bucket> planned;
  planned.reserve(buckets.size());
  for (const PreparedBucket& bucket : buckets) {
    if (bucket.like < planned.size()) {
      planned.push_back(planned[bucket.like]);
      planned.back().ready_after = bucket.ready_after;
    } else if (compression.method) {
      planned.push_back(compressed_bucket(bucket, *compression.method, context));
    } else {
      planned.push_back(dense_bucket(bucket, context));
    }
  }
  return planned;
}

}  // namespace payoff
