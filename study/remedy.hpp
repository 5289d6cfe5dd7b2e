// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/remedy_limits.hpp"
#include "study/draws.hpp"

// What a user could do instead of compressing: reduce gradients in 16 bits, choose other buckets,
// accumulate more micro-batches between reductions, overlap, set NCCL_ALGO. The best combination
// within the user's limits is what a compression must really beat; the job as given is one of them,
// so that a remedy is never slower. "Best" is by the most likely parameters, `mean` after an
// observation.

namespace payoff {

// Relative to the experiment as given.
struct Change {
  bool sixteen_bit{};   // gradients cast to 16 bits for their reduction, as DDP's fp16 hook does
  Bytes bucket{};       // zero: as given
  int accumulation{1};  // times as many micro-batches in a step
  bool overlap{};       // turned on where it was off
  Algorithm algorithm{Algorithm::none};  // pinned by NCCL_ALGO

  bool operator==(const Change&) const = default;
};

// The job without compression, changed.
struct Variant {
  Change change;
  std::string description;  // "16-bit reduction, buckets of 100 MiB"; empty for no change
  StepPlan plan;
  StepPrediction prediction;
  double batches{1};  // of the experiment as given, in one step

  [[nodiscard]] Seconds step_per_batch() const { return prediction.step / batches; }
};

// Whether 16-bit reduction would change anything.
[[nodiscard]] bool reduces_in_32_bits(const Experiment& experiment);

[[nodiscard]] Variant uncompressed_variant(const Experiment& experiment, const Change& change);
[[nodiscard]] Variant uncompressed_variant(const PreparedExperiment& job, const Change& change);

// Every combination within the limits, the job as given first. Of accumulation only the most: a
// batch of the job is never longer for fewer reductions. NCCL's choice of an algorithm stands.
[[nodiscard]] std::vector<Change> candidate_changes(const Experiment& experiment,
                                                    const RemedyLimits& limits);

// The algorithms that would send the gradients of `plan` in less time than NCCL's choice takes, by
// more than the spread of the law: NCCL's estimate differs from the price, but a price is no
// measurement. None where NCCL_ALGO would change more than all-reduces of gradients (tensor
// parallelism, sharded states).
[[nodiscard]] std::vector<Algorithm> better_algorithms(const PreparedExperiment& job,
                                                       const StepPlan& plan);

// The fastest of them, with NCCL's algorithm or a better one; each must gain at least 0.1 % over
// those before, and fit the memory where the job as given does.
[[nodiscard]] Variant best_remedy(const Experiment& experiment, const RemedyLimits& limits,
                                  const Latents& mean = {});
[[nodiscard]] Variant best_remedy(const PreparedExperiment& job, const RemedyLimits& limits,
                                  const Latents& mean = {});

}  // namespace payoff
