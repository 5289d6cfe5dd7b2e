// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "model/experiment.hpp"
#include "model/host_codec.hpp"
#include "model/interference.hpp"
#include "model/method_on_graph.hpp"
#include "model/stretched_codec.hpp"
#include "model/weight_codec.hpp"

namespace payoff {
namespace {

// Their kinds come after those of gradients.
void add_gathers(StepPlan& plan, std::vector<BucketKind> kinds) {
  for (StagePlan& stage : plan.stages) {
    for (auto* gathers : {&stage.forward_gathers, &stage.backward_gathers}) {
      for (WeightGather& gather : *gathers) {
        gather.kind += plan.kinds.size();
      }
    }
  }
  plan.kinds.insert(plan.kinds.end(), std::make_move_iterator(kinds.begin()),
                    std::make_move_iterator(kinds.end()));
}

// Of the messages that pieces wait for.
int exchange_channels(const StageCompute& compute) {
  int channels = 0;
  for (const auto* pieces : {&compute.forward, &compute.backward}) {
    for (const Piece& piece : *pieces) {
      channels = std::max(channels, piece.message.channels);
    }
  }
  return channels;
}

}  // namespace

StagePlan PreparedExperiment::planned(const Stage& stage, bool has_buckets) {
  StagePlan plan;
  plan.like = stage.like;
  plan.compute = stage.prepared.compute;
  plan.send_forward = stage.send_forward;
  plan.send_backward = stage.send_backward;
  if (has_buckets) {
    plan.buckets = stage.buckets;
  }
  plan.optimizer = stage.optimizer;
  plan.gather_weights = stage.gather_weights;
  plan.gather_experts = stage.gather_experts;
  plan.forward_gathers = stage.gathers.forward;
  plan.backward_gathers = stage.gathers.backward;
  plan.dense_send_forward = stage.dense_send_forward;
  plan.dense_send_backward = stage.dense_send_backward;
  plan.codec_state = stage.codec_state;
  plan.codec_saved = stage.codec_saved;
  return plan;
}

StepPlan PreparedExperiment::unpriced(const CompressionPlan& compression,
                                      const std::vector<Stage>& stages,
                                      std::shared_ptr<const WaveTable> waves) const {
  StepPlan plan;
  plan.layout = experiment_.layout;
  plan.placement = compression.placement;
  plan.overlap = compression.overlap && experiment_.training.overlap;
  plan.compresses_gradients = compression.method.has_value();
  plan.compresses_activations = !compression.activations.empty();
  plan.gathers_once = experiment_.layout.keeps_weights();
  plan.waves = std::move(waves);
  plan.pairs = experiment_.cluster.gpu.pairs;
  plan.host = experiment_.software.host_per_step;
  plan.overheads = overheads();
  plan.tied_gradients = tied_gradients_;
  plan.stages.reserve(stages.size());
  int channels = 0;
  int exchanges = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const StagePlan& stage = plan.stages.emplace_back(planned(stages[s], stages[s].like == s));
    plan.reduces_every_micro_batch |= !plan.gathers_once && !stage.forward_gathers.empty();
    channels = std::max({channels, stage.send_forward.channels, stage.send_backward.channels});
    if (plan.layout.overlaps_pairs()) {
      exchanges = std::max(exchanges, exchange_channels(*stage.compute));
    }
  }
  if (plan.layout.overlaps_pairs()) {
    plan.exchange_share = reserved_share(exchanges, experiment_.cluster.gpu.compute_units);
  }
  plan.send_share = reserved_share(channels, experiment_.cluster.gpu.compute_units);
  return plan;
}

StepPlan PreparedExperiment::plan(const CompressionPlan& compression) const {
  return plan(compression, codec_costs(compression));
}

StepPlan PreparedExperiment::plan(const CompressionPlan& compression,
                                  std::span<const CallCost> codec_costs) const {
  StepPlan plan = parts_.empty() ? plan_as_one(compression, codec_costs)
                                 : plan_of_parts(compression, codec_costs);
  const double speed = experiment_.training.codec_speed;
  if (speed != 1.0) {
    plan = stretched_codec(std::move(plan), 1.0 / speed);
  }
  return plan;
}

StepPlan PreparedExperiment::plan_as_one(const CompressionPlan& compression,
                                         std::span<const CallCost> codec_costs) const {
  StepPlan plan;
  if (compression.activations.empty()) {
    plan = unpriced(compression, stages_, waves_);
  } else {
    const Stages compressed = with_codecs(compression);
    plan = unpriced(compression, compressed.stages, compressed.waves);
  }
  const BucketUses uses = bucket_uses(compression);
  for (StagePlan& stage : plan.stages) {
    uses.renumber(stage.buckets);
  }
  plan.kinds = plan_kinds(kinds_, compression, uses.uses(), codec_costs, gradient_context());
  std::vector<BucketKind> gathers = plan_gathers(weights_, gradient_context());
  if (compression.weights) {
    compress_gathers(plan, compression, weights_, gradient_context(), gathers);
  }
  add_gathers(plan, std::move(gathers));
  int channels = 0;
  for (const BucketKind& kind : plan.kinds) {
    for (const BucketRound& round : kind.rounds) {
      channels = std::max(channels, round.message.channels);
    }
  }
  plan.reserved_share = reserved_share(channels, experiment_.cluster.gpu.compute_units);
  const Group& data = data_network_.group();
  plan.graphs = graphs_of(compression, {data.ranks, data.ranks_per_node});
  plan.host_cores = host_capacity(experiment_.cluster.host, compression);
  return plan;
}

std::vector<CallCost> PreparedExperiment::weight_costs(const CompressionPlan& compression,
                                                       const StepPlan& plan) const {
  return compression.weights ? payoff::weight_costs(plan, compression, weights_, gradient_context())
                             : std::vector<CallCost>{};
}

}  // namespace payoff
