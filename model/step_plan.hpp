// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/compression.hpp"
#include "model/exchange_graph.hpp"
#include "model/interference.hpp"
#include "model/kernel_waves.hpp"
#include "model/layout.hpp"
#include "model/step_overheads.hpp"
#include "model/step_work.hpp"

// What one training step computes and sends, decided once for both engines. The plan holds no
// schedule: it says which work and which messages there are, on which stage, what each waits for,
// and what each costs when it runs alone. The evaluators (model/evaluate.hpp, sim/) decide what
// overlaps, what waits and what is shared.

namespace payoff {

// What a stage computes, whatever happens to its gradients: shared by all strategies that leave the
// activations alone, and by equal stages. `forward` and `backward` hold one micro-batch in order of
// execution, all chunks of the stage together, recomputation included; the totals are their sums.
// Where the schedule splits backward, its second range holds the gradients of weights: those of a
// layer in one piece, which may run once the pieces of backward before `weights_after` have.
struct StageCompute {
  std::vector<Piece> forward;
  std::vector<Piece> backward;
  std::vector<std::size_t> forward_chunks;   // first piece of each chunk, in order of execution
  std::vector<std::size_t> backward_chunks;  // backward_place(), model/schedule.hpp
  std::vector<std::size_t> weights_after;    // of each piece of that range; empty: all of its chunk
  Seconds forward_work{};
  Seconds forward_messages{};
  Seconds backward_work{};
  Seconds recompute_work{};
  Seconds backward_messages{};
  Seconds context_messages{};        // of both, context parallelism's
  Seconds expert_messages{};         // expert parallelism's, and those of embedding tables
  CodecTime forward_codec;           // of activations
  CodecTime backward_codec;          // of their gradients, and of activations computed again
  std::int64_t parameters{};         // held by one GPU of the stage
  std::int64_t expert_parameters{};  // of them, those of ParameterTensor::of_expert
  bool sends_nothing{};              // whether no piece is known to have a message

  bool operator==(const StageCompute&) const = default;
  [[nodiscard]] Seconds forward_time() const {
    return forward_work + forward_messages + forward_codec.total();
  }
  [[nodiscard]] Seconds backward_time() const {
    return backward_work + recompute_work + backward_messages + backward_codec.total();
  }
};

struct PieceRange {
  std::size_t begin{};
  std::size_t end{};
};

// The pieces of the chunk that is `place`-th in order of execution: forward the first one first,
// backward the last one. A compute without chunks is one.
[[nodiscard]] inline PieceRange pieces_of_chunk(const std::vector<Piece>& pieces,
                                                const std::vector<std::size_t>& starts,
                                                std::size_t place) {
  return {starts.empty() ? 0 : starts[place],
          place + 1 < starts.size() ? starts[place + 1] : pieces.size()};
}

struct StagePlan {
  std::size_t like{};  // the first stage with equal work and gradients, often itself
  std::shared_ptr<const StageCompute> compute;
  Message send_forward;         // activations to the next stage, one micro-batch and chunk
  Message send_backward;        // their gradients to the previous stage
  std::vector<Bucket> buckets;  // in order of readiness; empty where `like` is another stage
  Work optimizer;
  Message gather_weights;  // zero 1, 2: all-gather of the updated weights, but for experts'
  Message gather_experts;  // then of theirs, among the ranks that hold the same ones
  // zero 3: in order of need. In every micro-batch, and let go after use; or in the first one,
  // and kept (StepPlan::gathers_once).
  std::vector<WeightGather> forward_gathers;
  std::vector<WeightGather> backward_gathers;
  // Of activations that are compressed: what the sends would be, where they are; what codecs keep
  // from step to step, and with all micro-batches in flight.
  Bytes dense_send_forward{};
  Bytes dense_send_backward{};
  Bytes codec_state{};
  Bytes codec_saved{};

  // Of the updated weights.
  [[nodiscard]] Seconds gather_time() const { return gather_weights.alone + gather_experts.alone; }
};

// Of pieces in a range, those that are needed there; both lists are in order of pieces.
[[nodiscard]] PieceRange gathers_in(const std::vector<WeightGather>& gathers,
                                    const PieceRange& pieces);
[[nodiscard]] PieceRange buckets_in(const std::vector<Bucket>& buckets, const PieceRange& pieces);

// What of a GPU's compute units messages hold, and what its kernels do on those that are left.
struct StageUnits {
  std::size_t kind{};  // stages with equal GPUs, and equal messages, have the same number
  double reserved_share{};
  double send_share{};
  double exchange_share{};
  std::shared_ptr<const WaveTable> waves;
  PairLaws pairs{};  // of the stage's GPU
};

struct StepPlan {
  ParallelLayout layout;
  std::vector<StagePlan> stages;  // pipeline order; as many as layout.stages()
  std::vector<BucketKind> kinds;  // of gradients, then of weights; likewise for each kind of GPUs
  Placement placement{};
  bool overlap{};
  bool compresses_gradients{};
  bool compresses_activations{};
  bool reduces_every_micro_batch{};  // sharded gradients cannot be added up where they appear
  bool gathers_once{};               // weights stay whole from the first micro-batch to the last
  // After their other gradients and before their optimizers, the first stage and the last one.
  Message tied_gradients;
  double reserved_share{};     // of the GPU's compute units, held by a gradient message
  double send_share{};         // by the sends of a stage, for their life
  double exchange_share{};     // by a message beside the other half of a pair
  Bandwidth host_cores{};      // what all cores of a node stream through this plan's codec
  double pair_quantile = 0.5;  // of what is not known of pairs; 0.5: the law, or their mean
  PairLaws pairs{};            // where they were measured
  std::shared_ptr<const WaveTable> waves;  // none: kernels of unknown blocks
  // By method of gradients, of nodes: whom each sends to; none or null: all wait for all.
  std::vector<std::shared_ptr<const NodeGraph>> graphs;
  std::vector<StageUnits> units;  // of stages, where GPUs differ; empty: as above
  Seconds host{};                 // per step, hidden by nothing
  StepOverheads overheads;        // after that, when all ranks are through

  [[nodiscard]] const std::vector<Bucket>& buckets(std::size_t stage) const {
    return stages[stages[stage].like].buckets;
  }
  [[nodiscard]] const BucketKind& kind(const Bucket& bucket) const { return kinds[bucket.kind]; }
  [[nodiscard]] bool sums_tied(std::size_t stage) const {
    return tied_gradients.alone > 0_s && (stage == 0 || stage + 1 == stages.size());
  }
  // Of the compute units of a stage's GPU.
  [[nodiscard]] double reserved_on(std::size_t stage) const {
    return units.empty() ? reserved_share : units[stage].reserved_share;
  }
  [[nodiscard]] double sends_on(std::size_t stage) const {
    return units.empty() ? send_share : units[stage].send_share;
  }
  [[nodiscard]] double exchanges_on(std::size_t stage) const {
    return units.empty() ? exchange_share : units[stage].exchange_share;
  }
  [[nodiscard]] PairPrior pairs_on(std::size_t stage) const {
    return {pair_quantile, units.empty() ? pairs : units[stage].pairs};
  }
  // Of work on a stage while a share of the units is held. Valid as long as the plan's table.
  [[nodiscard]] Paces paces(std::size_t stage, double held_share) const {
    const WaveTable* table = (units.empty() ? waves : units[stage].waves).get();
    return table != nullptr ? table->paces(held_share) : Paces(Pace(1.0 - held_share), nullptr);
  }
  [[nodiscard]] bool have_equal_units(std::size_t stage, std::size_t other) const {
    return units.empty() || units[stage].kind == units[other].kind;
  }
};

}  // namespace payoff
