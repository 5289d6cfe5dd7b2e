// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "model/compression.hpp"
#include "model/step_plan.hpp"

// Which buckets of gradients a plan treats alike. Buckets of equal tensors are of one kind; a plan
// that compresses some of them, or some by another method, divides a kind by what it does to each.

namespace payoff {

struct KindUse {
  static constexpr std::size_t dense = std::numeric_limits<std::size_t>::max();

  std::size_t kind{};         // of GradientKinds
  std::size_t method{dense};  // of the plan's gradient_methods()

  bool operator==(const KindUse&) const = default;
};

class BucketUses {
 public:
  // Of a plan that treats all buckets alike: the kinds as they are.
  BucketUses(const CompressionPlan& compression, std::size_t kinds);

  // The buckets of a stage, as they are cut: of a plan that chooses among them.
  void add(std::span<const Bucket> buckets);
  // By their places in uses() instead of their kinds.
  void renumber(std::span<Bucket> buckets) const;

  [[nodiscard]] std::span<const KindUse> uses() const { return uses_; }

 private:
  [[nodiscard]] std::size_t method_of(std::size_t bucket) const;
  [[nodiscard]] std::size_t slot_of(const Bucket& bucket, std::size_t number) const;

  const CompressionPlan& compression_;
  std::size_t methods_;
  std::vector<std::size_t> places_;  // in uses_, of each kind by method, dense last
  std::vector<KindUse> uses_;
};

}  // namespace payoff
