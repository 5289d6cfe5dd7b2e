// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/chunks_alive.hpp"
#include "model/layout.hpp"
#include "model/units.hpp"
#include "model/workload.hpp"

// Memory of one GPU: parameters, gradients, optimizer state (divided among the replicas by zero),
// and the activations of the micro-batches in flight. Activations by recomputation policy follow
// Korthikanti et al. 2022, equations 1-6; micro-batches in flight follow one-forward-one-backward
// (Narayanan et al. 2021, section 2.2): pp - stage, and with v chunks a stage
// pp (1 + (pp - 1) / (pp v)) of them on the first; all of them with GPipe; pp and 2 pp - 1 on every
// stage with ZB-H1 and ZB-H2 (Qi et al. 2023, section 2), without what the gradients of weights
// need beside their inputs. Zero 2 keeps a part of the gradients only of a single micro-batch: the
// sum of several stands whole until the last one reduces it (DeepSpeed reduces in each instead).
// Fragmentation, workspaces, the CUDA context and the framework's caches
// take a few GB more: a share that the user states (training.memory_margin), none unless given.

namespace payoff {

// Of one GPU.
struct Memory {
  Bytes parameters{};
  Bytes gradients{};
  Bytes optimizer{};
  Bytes activations{};
  Bytes buckets{};
  Bytes codec_state{};
  double margin_ratio{};  // of all of it: what fragments, workspaces and caches take beside it
  Bytes capacity{};

  [[nodiscard]] Bytes held() const {
    return parameters + gradients + optimizer + activations + buckets + codec_state;
  }
  [[nodiscard]] Bytes margin() const { return margin_ratio * held(); }
  [[nodiscard]] Bytes total() const { return held() + margin(); }
  [[nodiscard]] bool fits() const { return total() <= capacity; }
};

// What one GPU of a pipeline stage holds.
struct StageContent {
  std::int64_t parameters{};
  std::int64_t expert_parameters{};      // of them, those that are summed over ranks of their own
  std::int64_t gathered{};               // zero 3: those that are whole at once
  std::span<const Layer* const> layers;  // all chunks of the stage
  int stage{};
  bool fused_attention{};  // keeps no scores
  bool fp8_weights{};      // keeps only what fp8 products read
  double bucket_copies{};  // of gradients, held for their reduction
  Bytes codec_state{};
  std::int64_t kept{};     // zero 3: those that stay whole after forward, where it does not reshard
  std::int64_t reduced{};  // zero 3: those whose gradients are held for their reduction at once
  // Where its chunks differ: where each begins among the layers, and most_alive() of them.
  std::span<const std::size_t> chunks = {};
  std::span<const ChunksAlive> alive = {};
};

// Micro-batches whose activations a stage holds at once, in units of the whole stage.
[[nodiscard]] double micro_batches_in_flight(const ParallelLayout& layout, int stage);

// Kept of one micro-batch by all layers, and the peak while one layer is computed again.
[[nodiscard]] Bytes kept_activations(std::span<const Layer* const> layers,
                                     const ParallelLayout& layout, bool fused_attention);

[[nodiscard]] Memory stage_memory(const StageContent& content, const ParallelLayout& layout,
                                  const Training& training, Bytes capacity);

}  // namespace payoff
