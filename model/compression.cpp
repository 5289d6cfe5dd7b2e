// SPDX-License-Identifier: Apache-2.0
#include "model/compression.hpp"

#include <algorithm>
#include <cstddef>

namespace payoff {

PassCost& PassCost::operator+=(const PassCost& other) {
  bytes += other.bytes;
  random_bytes += other.random_bytes;
  block_bytes += other.block_bytes;
  flops += other.flops;
  kernels += other.kernels;
  host_syncs += other.host_syncs;
  host_time += other.host_time;
  on_host = on_host || other.on_host;
  copied += other.copied;
  return *this;
}

bool BucketSet::holds(std::size_t bucket) const {
  const auto number = static_cast<std::int64_t>(bucket);
  return is_all() || std::any_of(ranges.begin(), ranges.end(),
                                 [&](const BlockRange& range) { return range.holds(number); });
}

bool BucketSet::overlaps(const BucketSet& other) const {
  if (is_all() || other.is_all()) {
    return true;
  }
  return std::any_of(ranges.begin(), ranges.end(), [&](const BlockRange& a) {
    return std::any_of(other.ranges.begin(), other.ranges.end(),
                       [&](const BlockRange& b) { return a.first <= b.last && b.first <= a.last; });
  });
}

std::vector<const Method*> CompressionPlan::gradient_methods() const {
  std::vector<const Method*> all;
  if (method) {
    all.push_back(&*method);
  }
  for (const BucketCompression& of : others) {
    all.push_back(&of.method);
  }
  return all;
}

Placement CompressionPlan::usual_placement() const {
  const std::vector<const Method*> all = gradient_methods();
  const bool waits =
      std::any_of(all.begin(), all.end(), [](const Method* each) { return each->after_backward; });
  return waits ? Placement::after_backward : Placement::compute_stream;
}

std::vector<const Method*> CompressionPlan::methods() const {
  std::vector<const Method*> all = gradient_methods();
  for (const ActivationCompression& of : activations) {
    all.push_back(&of.method);
  }
  if (weights) {
    all.push_back(&weights->method);
  }
  return all;
}

Bytes collective_size(const RoundCost& round, int workers) {
  return round.collective == Collective::all_gather ? workers * round.message : round.message;
}

Bytes memory_traffic(const PassCost& cost, const Gpu& gpu) {
  if (cost.on_host) {
    return {};
  }
  const Bytes resident = std::min(cost.bytes, gpu.l2 * std::max(cost.kernels, 1.0));
  return cost.bytes - resident + cost.random_bytes + cost.block_bytes;
}

Seconds price_pass(const PassCost& cost, const CodecLaw& law, const Gpu& gpu,
                   Precision arithmetic) {
  if (cost.on_host) {
    return {};
  }
  const Bandwidth memory = gpu.memory_bandwidth;
  const double kernels = std::max(cost.kernels, 1.0);
  const Bytes resident = std::min(cost.bytes, gpu.l2 * kernels);
  Seconds gpu_time = cost.kernels * gpu.law.launch;
  if (resident > 0_B) {
    gpu_time += resident / (memory * law.resident_efficiency);
  }
  if (cost.bytes > resident) {
    gpu_time += (cost.bytes - resident) / (memory * law.memory_efficiency);
  }
  if (cost.random_bytes > 0_B) {
    gpu_time += cost.random_bytes / (memory * law.random_efficiency);
  }
  if (cost.block_bytes > 0_B) {
    gpu_time += cost.block_bytes / (memory / gpu.compute_units * law.memory_efficiency);
  }
  if (cost.flops > 0_flop) {
    gpu_time += cost.flops / product_rate(law, gpu, arithmetic);
  }
  const Seconds waiting = cost.host_syncs * law.host_sync + cost.host_time;
  return std::max(cost.kernels * law.dispatch, gpu_time) + waiting;
}

}  // namespace payoff
