// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "model/chunks_alive.hpp"
#include "model/collective.hpp"
#include "model/experiment.hpp"
#include "model/units.hpp"

// What a layout takes and holds at least, without preparing it: no plan of the layout, compressed
// or not, has a shorter step (docs/search.md has the argument). The layers are priced once for all
// layouts that divide them alike, and a stage is a sum of them. On one stage s of p, with m
// micro-batches of F_s + B_s (recomputation and the messages between operators included),
//
//   step >= host + max over s of max(before_s + m (F_s + B_s) + update_s,
//                                    before_s + m (F_s + B_s) + after_s + update_0)
//
// where before_s is the forward of one micro-batch through the stages before s, which its first
// operation waits for, and after_s its backward through them, which waits for the last operation of
// s where that is a backward (where gradients of weights run apart it need not be: 0). With chunks
// both are the shortest chunks'. What is left out (sends, gradients, codecs, interference, the rest
// of the bubble) only adds. Updates that the software runs in backward may hide and are left out.

namespace payoff {

struct StepBound {
  Seconds step{};          // of plans that leave activations alone
  Seconds without_sums{};  // of plans that compress what the ranks of a model exchange
};

// For layouts with the tp, cp, ep, etp and sequence parallelism of a job. Not for several threads.
class StepBounds {
 public:
  // `job` has a sound layout; it must outlive the bounds.
  explicit StepBounds(const Experiment& job);

  // Requires a layout of these parts that check() accepts, without `stage_layers`.
  [[nodiscard]] StepBound step(const ParallelLayout& layout);
  // Of the fullest stage, without what codecs keep; with zero 3 without the weights gathered.
  [[nodiscard]] Memory memory(const ParallelLayout& layout) const;
  [[nodiscard]] const Workload& workload() const { return *workload_; }

 private:
  // The time of one micro-batch.
  struct LayerTime {
    Seconds forward{};
    Seconds backward{};
    Seconds messages{};  // of both
  };
  struct StageTime {
    LayerTime all;
    LayerTime shortest_chunk;
  };
  struct Share {
    std::vector<std::size_t> layers;
    std::vector<const Layer*> content;
    std::vector<std::size_t> chunks;  // where they begin
    std::int64_t parameters{};
    std::int64_t expert_parameters{};
  };
  using Division = std::vector<Share>;
  using DivisionKey = std::tuple<int, int, bool>;     // pp, chunks, V
  using PriceKey = std::tuple<int, Recompute, bool>;  // samples, what runs again, split backward

  // Of all stages.
  using Alive = std::vector<std::vector<ChunksAlive>>;
  using AliveKey = std::tuple<PipelineSchedule, int, int>;  // pp, micro-batches

  const Division& divide(const ParallelLayout& layout) const;
  const Alive& alive(const ParallelLayout& layout) const;
  const std::vector<LayerTime>& price(const ParallelLayout& layout);
  const std::vector<StageTime>& stages(const ParallelLayout& layout);
  [[nodiscard]] Seconds update(const Share& share, const ParallelLayout& layout) const;

  const Experiment& job_;
  std::shared_ptr<const Workload> workload_;
  std::vector<std::size_t> alike_;  // of every layer, the first one equal to it
  CollectiveModel tensor_;
  CollectiveModel context_;
  CollectiveModel experts_;
  CollectiveModel expert_tensor_;
  CollectiveModel tables_;
  mutable std::map<DivisionKey, Division> divisions_;
  mutable std::map<AliveKey, Alive> alive_;
  std::map<PriceKey, std::vector<LayerTime>> prices_;
  std::map<std::pair<DivisionKey, PriceKey>, std::vector<StageTime>> stages_;
};

}  // namespace payoff
