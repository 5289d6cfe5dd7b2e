// SPDX-License-Identifier: Apache-2.0
#include "model/bucket_uses.hpp"

namespace payoff {

BucketUses::BucketUses(const CompressionPlan& compression, std::size_t kinds)
    : compression_(compression), methods_(compression.gradient_methods().size()) {
  if (compression.chooses_buckets()) {
    places_.assign(kinds * (methods_ + 1), KindUse::dense);
    return;
  }
  uses_.reserve(kinds);
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    uses_.push_back({kind, methods_ > 0 ? 0 : KindUse::dense});
  }
}

// None: methods_.
std::size_t BucketUses::method_of(std::size_t bucket) const {
  std::size_t method = 0;
  while (method < methods_ && !compression_.buckets_of(method).holds(bucket)) {
    ++method;
  }
  return method;
}

std::size_t BucketUses::slot_of(const Bucket& bucket, std::size_t number) const {
  return bucket.kind * (methods_ + 1) + method_of(number);
}

void BucketUses::add(std::span<const Bucket> buckets) {
  for (std::size_t number = 0; number < buckets.size() && !places_.empty(); ++number) {
    const std::size_t slot = slot_of(buckets[number], number);
    if (places_[slot] == KindUse::dense) {
      const std::size_t method = slot % (methods_ + 1);
      places_[slot] = uses_.size();
      uses_.push_back({buckets[number].kind, method < methods_ ? method : KindUse::dense});
    }
  }
}

void BucketUses::renumber(std::span<Bucket> buckets) const {
  for (std::size_t number = 0; number < buckets.size() && !places_.empty(); ++number) {
    buckets[number].kind = places_[slot_of(buckets[number], number)];
  }
}

}  // namespace payoff
