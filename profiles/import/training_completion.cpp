// SPDX-License-Identifier: Apache-2.0
#include "profiles/import/training_completion.hpp"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace payoff::import_detail {
namespace {

using MaybeCount = std::optional<std::int64_t>;

// Of what a row states: nothing where a part is not stated, or no count.
MaybeCount product(std::initializer_list<std::optional<int>> factors) {
  std::int64_t count = 1;
  for (const std::optional<int>& factor : factors) {
    if (!factor || *factor < 1) {
      return std::nullopt;
    }
    count *= *factor;
    if (count > std::numeric_limits<int>::max()) {
      return std::nullopt;
    }
  }
  return count;
}

MaybeCount quotient(const std::optional<int>& whole, const MaybeCount& part) {
  return whole && part && *whole > 0 && *whole % *part == 0 ? MaybeCount(*whole / *part)
                                                            : std::nullopt;
}

void fill(std::optional<int>& field, const MaybeCount& value) {
  if (!field && value) {
    field = static_cast<int>(*value);
  }
}

}  // namespace

void complete(TrainingRow& row) {
  TrainingCluster& cluster = row.cluster;
  TrainingLayout& layout = row.layout;
  const int context = layout.cp.value_or(1);
  if (!row.misses("gpus")) {
    fill(cluster.gpus, product({layout.tp, layout.pp, layout.dp, context}));
  }
  if (!row.misses("tp") && !row.misses("pp")) {
    fill(layout.tp, quotient(cluster.gpus, product({layout.pp, layout.dp, context})));
    fill(layout.pp, quotient(cluster.gpus, product({layout.tp, layout.dp, context})));
  }
  if (cluster.gpus && cluster.gpus_per_node && *cluster.gpus_per_node > 0 && !row.misses("nodes")) {
    // One node may be used in part.
    const bool one = *cluster.gpus > 0 && *cluster.gpus <= *cluster.gpus_per_node;
    fill(cluster.nodes, one ? MaybeCount(1) : quotient(cluster.gpus, *cluster.gpus_per_node));
  }
  const MaybeCount model = product({layout.tp.value_or(1), layout.pp.value_or(1), context});
  const MaybeCount replicas = layout.dp ? product({layout.dp}) : quotient(cluster.gpus, model);
  const std::optional<int> count = layout.grad_accum ? layout.grad_accum : layout.num_micro_batches;
  if (!replicas || !count || row.misses("global_batch") || row.misses("micro_batch")) {
    return;
  }
  const std::optional<int> dp(static_cast<int>(*replicas));
  fill(layout.global_batch, product({layout.micro_batch, count, dp}));
  fill(layout.micro_batch, quotient(layout.global_batch, product({count, dp})));
}

}  // namespace payoff::import_detail
