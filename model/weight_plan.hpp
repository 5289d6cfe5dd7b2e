// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/gradient_plan.hpp"
#include "model/stage_compute.hpp"
#include "model/step_plan.hpp"
#include "model/workload.hpp"

// Weights that are sharded over the data-parallel ranks (zero 3, FSDP): which layers are gathered,
// used and let go together, and what a gather costs. Every block of a transformer is a unit of its
// own, as PyTorch's FSDP is wrapped in practice; what stands outside the blocks is the root, which
// is kept from forward to backward (torch.distributed.fsdp: the root is not resharded after
// forward). In a pipeline, where another micro-batch comes between the two, there is no root: the
// layers outside the blocks are units of their own. DeepSpeed gathers and scatters the matrices of
// a block in messages of a given number of parameters (`software.gather_bucket`, reached or
// exceeded; `scatter_bucket`, exceeded by single matrices only), which never span two blocks. A
// table of layers is cut into units of a bucket's size. Rajbhandari et al. 2020, section 7: three
// times the parameters travel in a step, half as much again as without sharding. Experts that are
// summed over ranks of their own are sharded over these, in messages of their own; those that one
// rank holds alone are never gathered. Without `layout.reshard` (reshard_after_forward=False)
// nothing is gathered in backward. Without: copies around the gathered buffer.

namespace payoff {

struct WeightUnit {
  std::int64_t elements{};
  std::vector<std::int64_t> matrices;  // elements of each, what follows it included
  std::vector<std::int64_t> experts;   // of ParameterTensor::of_expert likewise, not in `matrices`
  FirstPieces first;                   // of its first layer in forward, of its last one in backward
  bool is_root{};
};

struct WeightUnits {
  std::vector<WeightUnit> units;      // in order of first use
  std::vector<std::size_t> of_layer;  // of the stage
};

[[nodiscard]] WeightUnits weight_units(std::span<const Layer* const> layers,
                                       const PreparedStage& stage, const Training& training,
                                       const ParallelLayout& layout);

// Parameters that are whole at once: the root, the unit in use and the one fetched ahead; and all
// that are gathered.
[[nodiscard]] std::int64_t most_gathered(const WeightUnits& units);
[[nodiscard]] std::int64_t all_gathered(const WeightUnits& units);

// The gradients of a unit travel together, as soon as its backward is done; the root's come last.
[[nodiscard]] std::vector<Bucket> unit_buckets(const PreparedStage& stage, const WeightUnits& units,
                                               const Software& software,
                                               const ParallelLayout& layout, GradientKinds& kinds);

// Parameters of each message of a unit, first of those that are no experts'.
struct WeightMessages {
  std::vector<std::int64_t> others;
  std::vector<std::int64_t> experts;

  bool operator==(const WeightMessages&) const = default;
};
// The different units, in order of their first appearance: what their messages hold.
using WeightKinds = std::vector<WeightMessages>;

struct StageGathers {
  std::vector<WeightGather> forward;  // kinds are indices of `WeightKinds`
  std::vector<WeightGather> backward;
};

[[nodiscard]] StageGathers stage_gathers(const WeightUnits& units, const Software& software,
                                         const ParallelLayout& layout, WeightKinds& kinds);

// All-gather of weights among data-parallel ranks, or among those that hold the same experts, in
// the precision that they are kept in.
[[nodiscard]] Message gather_message(std::int64_t elements, const GradientContext& context,
                                     bool of_experts = false);

[[nodiscard]] std::vector<BucketKind> plan_gathers(const WeightKinds& kinds,
                                                   const GradientContext& context);

}  // namespace payoff
