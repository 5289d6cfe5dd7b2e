// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "model/experiment.hpp"

// The layouts of a search: every way to run a job on its own GPUs with its own global batch. Of a
// transformer all divisors of the GPUs are tried as tp and pp, of its experts as ep, of the batch
// as micro-batch, of the blocks as chunks of a stage, powers of two as cp, and every schedule,
// recomputation and zero; of a table of layers the micro-batch and zero. What does not vary,
// because it is kept or because the space has no axis for it (`shard`, `context_exchange`, the load
// of experts), is as the job has it; stages are as even as they can be. Combinations without
// meaning (chunks or a schedule without a pipeline, sequence parallelism without tp, zero without
// replicas, batches that do not divide) are no candidates and are not counted.

namespace payoff {

enum class LayoutAxis {
  tp,
  pp,
  cp,
  ep,
  virtual_stages,
  micro_batch,
  zero,
  sequence_parallel,
  schedule,
  recompute
};
inline constexpr std::array all_layout_axes{LayoutAxis::tp,
                                            LayoutAxis::pp,
                                            LayoutAxis::cp,
                                            LayoutAxis::ep,
                                            LayoutAxis::virtual_stages,
                                            LayoutAxis::micro_batch,
                                            LayoutAxis::zero,
                                            LayoutAxis::sequence_parallel,
                                            LayoutAxis::schedule,
                                            LayoutAxis::recompute};
[[nodiscard]] std::string_view name(LayoutAxis axis);  // as in the experiment file

// The values that a search may give to each part of a layout.
struct LayoutSpace {
  ParallelLayout given;
  std::vector<int> tp;
  std::vector<int> pp;
  std::vector<int> cp;
  std::vector<int> ep;
  std::vector<int> chunks;  // of a stage, with 1f1b
  std::vector<int> micro_batch;
  std::vector<int> zero;
  std::vector<bool> sequence_parallel;
  std::vector<PipelineSchedule> schedules;
  std::vector<Recompute> recompute;
};

[[nodiscard]] LayoutSpace layout_space(const Experiment& experiment,
                                       const std::vector<LayoutAxis>& keep = {});

// One candidate in few bytes: a search holds millions.
struct LayoutChoice {
  std::int32_t dp{1};
  std::int32_t tp{1};
  std::int32_t pp{1};
  std::int32_t cp{1};
  std::int32_t ep{1};
  std::int32_t chunks{1};
  std::int32_t micro_batch{1};
  std::int32_t micro_batches{1};
  std::uint8_t zero{};
  bool sequence_parallel{};
  PipelineSchedule schedule{};
  Recompute recompute{};

  bool operator==(const LayoutChoice&) const = default;
};

[[nodiscard]] LayoutChoice choice_of(const ParallelLayout& layout);
// With what no axis changes as `given` has it.
[[nodiscard]] ParallelLayout layout_of(const LayoutChoice& choice, const ParallelLayout& given);

// What the layers of one rank depend on: candidates that share it are found together.
struct ModelParts {
  int tp{1};
  int cp{1};
  int ep{1};
  bool sequence_parallel{};
};
[[nodiscard]] std::vector<ModelParts> model_parts(const LayoutSpace& space);
[[nodiscard]] ParallelLayout with_parts(ParallelLayout layout, const ModelParts& parts);

// Every candidate with these parts, in an order of its own.
void for_each_choice(const LayoutSpace& space, const ModelParts& parts,
                     const std::function<void(const LayoutChoice&)>& visit);

// How many means a layout uses: a layout that does the same with fewer is the simpler one. Of
// equally many, less model parallelism.
struct Complexity {
  int means{};
  int degree{};  // tp x pp x cp x ep x chunks

  auto operator<=>(const Complexity&) const = default;
};
[[nodiscard]] Complexity complexity_of(const LayoutChoice& choice);

}  // namespace payoff
