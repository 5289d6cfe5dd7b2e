// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/context_parallel.hpp"
#include "model/expert_parallel.hpp"
#include "model/hardware.hpp"
#include "model/host_jitter.hpp"
#include "model/problem.hpp"
#include "model/schedule.hpp"
#include "model/step_overheads.hpp"
#include "model/units.hpp"

// How a training job is laid out on a cluster. Ranks are numbered with tp innermost, then cp, then
// dp, then pp (Megatron's default), so that a tensor-parallel group fills a node first, unless
// `order` puts them on other GPUs. Of a pipeline with two ends those that hold the same layers
// follow one another, after dp: they are one stage.

namespace payoff {

enum class Recompute { none, selective, full };

// Which ranks are neighbours, from the innermost: Megatron-LM's --order. dp has the copies of a
// pipeline with two ends in it.
enum class Degree : std::uint8_t { tp, cp, dp, pp };
using RankOrder = std::array<Degree, 4>;
inline constexpr RankOrder usual_order{Degree::tp, Degree::cp, Degree::dp, Degree::pp};

// Of degrees as a user wrote them, which check_layout may yet refuse: no more than an int holds.
[[nodiscard]] constexpr int ranks_of(int degree, int other) {
  return static_cast<int>(
      std::min<std::int64_t>(std::int64_t{degree} * other, std::numeric_limits<int>::max()));
}

struct ParallelLayout {
  int dp{1};
  int tp{1};
  int pp{1};
  int cp{1};  // context parallelism: ranks that share the tokens of a sequence
  ContextExchange context_exchange{ContextExchange::ring};
  int ep{1};   // of the ranks of a stage, those that divide the experts between them
  int etp{1};  // and those that divide the matrices of each expert
  double expert_imbalance{1};    // tokens of the busiest rank, over the mean
  double expert_capacity{};      // every expert computes so many times the mean, drops what is more
                                 // and pads what is less; 0: as many as are sent to it
  RankOrder order{usual_order};  // of the GPUs, node by node (model/rank_order)
  PipelineSchedule schedule{};
  std::vector<int> stage_layers{};  // blocks of each part (model/layer_division); empty: even
  int virtual_stages{1};            // chunks of layers per pipeline stage (interleaved 1F1B)
  bool pair_overlap{};              // where the schedule has_pairs()
  int zero{0};   // 0: all-reduce of gradients; 1, 2: reduce-scatter, then all-gather of weights;
                 // 3: weights sharded too, gathered where they are needed (FSDP)
  int shard{0};  // with zero: of the data ranks, those that hold one copy between them; 0: all
                 // (HSDP: few)
  bool reshard{true};  // zero 3: gathered weights are let go after forward, and gathered again
  int tp_overlap{1};   // pieces of a product, each beside the tp message of another; 1: none
  AllReduceBy dp_collective{AllReduceBy::nccl};  // sums gradients (model/other_all_reduce)
  bool sequence_parallel{};  // tp all-reduces become reduce-scatter + all-gather of equal volume
  int micro_batch{1};        // samples per GPU and micro-batch
  int micro_batches{1};      // per step: gradient accumulation, or what fills the pipeline
  Recompute recompute{Recompute::none};

  [[nodiscard]] int ranks() const { return ranks_of(ranks_of(dp, cp), ranks_of(tp, pp)); }
  // Of the weights, in one pipeline.
  [[nodiscard]] int copies() const { return is_two_ended(schedule) ? 2 : 1; }
  // Of which each has its own layers.
  [[nodiscard]] int stages() const { return pp / copies(); }
  // Micro-batches that come in at one end of a pipeline: each chunk runs so many.
  [[nodiscard]] int passes() const { return micro_batches / copies(); }
  [[nodiscard]] bool overlaps_pairs() const { return pair_overlap && has_pairs(schedule); }
  // Ranks that hold the same parameters, whose gradients are summed: other samples, other tokens.
  [[nodiscard]] int data_ranks() const { return ranks_of(ranks_of(dp, cp), copies()); }
  [[nodiscard]] int stage_ranks() const { return ranks_of(tp, data_ranks()); }
  // Of them, those of one copy of the weights.
  [[nodiscard]] int copy_ranks() const { return ranks_of(ranks_of(tp, cp), dp); }
  // Neighbours that hold all experts between them.
  [[nodiscard]] int expert_ranks() const { return ranks_of(ep, etp); }
  // Ranks that hold the same experts, or the same part of them.
  [[nodiscard]] int expert_replicas() const { return stage_ranks() / expert_ranks(); }
  // Whether the gradients of experts are summed over other ranks than all the others are.
  [[nodiscard]] bool has_expert_groups() const { return ep > 1 || etp != tp; }
  [[nodiscard]] ExpertParts experts() const {
    return {ep, expert_capacity > 0 ? expert_capacity : expert_imbalance, etp};
  }
  [[nodiscard]] int shard_ranks() const { return zero == 0 ? 1 : shard > 0 ? shard : data_ranks(); }
  // Ranks that hold the same part; without zero nobody holds a part.
  [[nodiscard]] int replicas() const { return zero == 0 ? 1 : data_ranks() / shard_ranks(); }
  // The same of experts: of the ranks that hold one copy of all other weights, those with the same
  // experts hold one copy of these.
  [[nodiscard]] int expert_shards() const {
    return zero == 0 ? 1 : ranks_of(tp, shard_ranks()) / expert_ranks();
  }
  // Pipelines that do not reshard keep what is gathered first, and add gradients up, to the last
  // micro-batch.
  [[nodiscard]] bool keeps_weights() const { return zero == 3 && !reshard && pp > 1; }
  [[nodiscard]] double global_batch() const {
    return static_cast<double>(dp) * micro_batch * micro_batches;
  }
};

struct Training {
  Precision precision{Precision::bf16};     // of the matrix products
  Precision gradient{Precision::bf16};      // of the reduced gradients, uncompressed
  Bytes bucket{25_MiB};                     // torch DDP's bucket_cap_mb
  Bytes first_bucket{1_MiB};                // torch DDP's first bucket
  bool overlap{true};                       // reduce buckets while backward runs
  double codec_speed{1};                    // all codecs so many times as fast as they are
  Bytes optimizer_bytes_per_parameter{};    // state kept: 12 B for Adam with fp32 master weights
  Bytes optimizer_traffic_per_parameter{};  // read + written by one update
  double memory_margin{};                   // of what is held, beside it
  DataLoading data;
  HostJitter host_jitter;
  Checkpointing checkpoint;
};

// What a framework does beyond the operators: one profile per stack generation.
struct Software {
  std::string name;
  bool fused_attention{};       // FlashAttention-like: no score matrix in memory
  bool fused_elementwise{};     // fused_kernels instead of kernels of each operator
  bool fp8_weights{};           // with fp8 products: kept and gathered in fp8 too
  double bucket_copy_passes{};  // memory passes over a bucket to fill and to empty it
  bool copies_each_tensor{};    // by a kernel of its own, into the bucket and out of it
  // The weights of a bucket are updated as soon as their gradients are there, by the hook that
  // waits for them (torch.distributed.optim._apply_optimizer_in_backward): no norm of all
  // gradients.
  bool optimizer_in_backward{};
  // Selective recomputation is not of attention but of every other product and all that streams.
  bool recomputes_products{};
  // Sharded state: matrices of a unit that travel together have so many parameters; 0: all of them.
  std::int64_t gather_bucket{};
  std::int64_t scatter_bucket{};
  // 0: every kernel waits for its launch, 1: launches queue ahead of the GPU.
  double hides_launch{};
  // Fitted (profiles/fitted/compute.yaml):
  Seconds host_per_kernel{};       // the host needs this to launch a kernel
  Seconds host_per_step{};         // what no kernel hides: optimiser launch, data, Python
  double memory_traffic_ratio{1};  // of memory-bound operators, over their 16-bit tensors: casts
  double relative_sd{};            // spread of step times of this stack
};

// All impossible combinations of a layout and a cluster at once; paths as in the experiment file
// ("layout.tp"). `layers` is the number of layers that pp must divide among its stages.
[[nodiscard]] Problems check_layout(const ParallelLayout& layout, const Cluster& cluster,
                                    int layers);

}  // namespace payoff
