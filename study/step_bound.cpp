// SPDX-License-Identifier: Apache-2.0
#include "study/step_bound.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/gradient_plan.hpp"
#include "model/groups.hpp"
#include "model/layer_division.hpp"
#include "model/memory.hpp"
#include "model/stage_compute.hpp"

namespace payoff {
namespace {

auto values_of(const Operator& op) {
  return std::tie(op.kind, op.rows_per_sample, op.columns, op.depth, op.batch_per_sample,
                  op.causal_fraction, op.window, op.unit_stride, op.bytes_per_sample,
                  op.bytes_fixed, op.backward_bytes_per_sample, op.backward_bytes_fixed, op.kernels,
                  op.fused_kernels, op.input_gradient, op.in_16_bits, op.casts);
}

auto values_of(const TensorParallelSync& sync) {
  return std::tie(sync.before, sync.after, sync.bytes_per_sample, sync.forward, sync.backward,
                  sync.of_encoder);
}

template <typename T>
bool are_alike(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return values_of(x) == values_of(y); });
}

bool are_alike(const std::optional<ExpertSync>& a, const std::optional<ExpertSync>& b) {
  return a.has_value() == b.has_value() &&
         (!a || std::tie(a->before, a->after, a->bytes_per_sample, a->tensor_bytes_per_sample,
                         a->gathers) == std::tie(b->before, b->after, b->bytes_per_sample,
                                                 b->tensor_bytes_per_sample, b->gathers));
}

bool are_alike(const std::optional<TableExchange>& a, const std::optional<TableExchange>& b) {
  return a.has_value() == b.has_value() && (!a || a->sent_per_sample == b->sent_per_sample);
}

bool are_alike(const std::vector<ContextSync>& a, const std::vector<ContextSync>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ContextSync& x, const ContextSync& y) {
                      return std::tie(x.attention, x.query_per_sample, x.key_value_per_sample) ==
                             std::tie(y.attention, y.query_per_sample, y.key_value_per_sample);
                    });
}

bool are_alike(const std::optional<MeasuredLayer>& a, const std::optional<MeasuredLayer>& b) {
  return a.has_value() == b.has_value() &&
         (!a || std::tie(a->forward, a->backward) == std::tie(b->forward, b->backward));
}

// Whether they take as long, in any layout.
bool are_alike(const Layer& a, const Layer& b) {
  return a.recomputable == b.recomputable && are_alike(a.forward, b.forward) &&
         are_alike(a.syncs, b.syncs) && are_alike(a.contexts, b.contexts) &&
         are_alike(a.experts, b.experts) && are_alike(a.exchange, b.exchange) &&
         are_alike(a.measured, b.measured);
}

std::vector<std::size_t> first_alike(const std::vector<Layer>& layers) {
  std::vector<std::size_t> alike;
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto known = std::find_if(different.begin(), different.end(), [&](std::size_t other) {
      return are_alike(layers[other], layers[i]);
    });
    if (known == different.end()) {
      different.push_back(i);
      alike.push_back(i);
    } else {
      alike.push_back(*known);
    }
  }
  return alike;
}

CollectiveModel network_of(const Experiment& job, MessageKind kind) {
  return {job.cluster, group_of(kind, job.layout, job.cluster.gpus_per_node)};
}

// With the copies that some of its layouts hold.
std::shared_ptr<const Workload> with_copies(Experiment job) {
  const auto* shape = std::get_if<TransformerShape>(&job.model);
  if (shape == nullptr || shape->decoder.layers == 0) {
    job.layout.pp = std::max(2, job.layout.pp);
  }
  job.layout.schedule = PipelineSchedule::one_f_one_b;
  return workload_of(job);
}

// Sums of the same times in another order differ in their last bits.
constexpr double bound_rounding = 1e-9;

}  // namespace

StepBounds::StepBounds(const Experiment& job)
    : job_(job),
      workload_(with_copies(job)),
      alike_(first_alike(workload_->layers)),
      tensor_(network_of(job, MessageKind::tp_activations)),
      context_(network_of(job, MessageKind::cp_activations)),
      experts_(network_of(job, MessageKind::ep_activations)),
      expert_tensor_(network_of(job, MessageKind::etp_activations)),
      tables_(network_of(job, MessageKind::table_activations)) {}

const StepBounds::Division& StepBounds::divide(const ParallelLayout& layout) const {
  const DivisionKey key{layout.stages(), layout.virtual_stages, is_v_shaped(layout.schedule)};
  const auto known = divisions_.find(key);
  if (known != divisions_.end()) {
    return known->second;
  }
  const bool copies = layout.pp > 1 && !is_v_shaped(layout.schedule);
  Division division;
  for (std::vector<std::size_t>& layers : divide_layers(*workload_, layout)) {
    Share& share = division.emplace_back();
    share.chunks = chunk_starts(*workload_, layers, layout);
    for (const std::size_t layer : layers) {
      share.content.push_back(&workload_->layers[layer]);
      for (const ParameterTensor& tensor : workload_->layers[layer].parameters) {
        share.parameters += copies || !tensor.is_copy ? tensor.elements() : 0;
        share.expert_parameters += tensor.of_expert ? tensor.elements() : 0;
      }
    }
    share.layers = std::move(layers);
  }
  return divisions_.emplace(key, std::move(division)).first->second;
}

const std::vector<StepBounds::LayerTime>& StepBounds::price(const ParallelLayout& layout) {
  const PriceKey key{layout.micro_batch, layout.recompute, splits_backward(layout.schedule)};
  const auto known = prices_.find(key);
  if (known != prices_.end()) {
    return known->second;
  }
  ParallelLayout alone = layout;
  alone.virtual_stages = 1;
  const ComputeContext compute{job_.cluster.gpu, job_.software, job_.training.precision};
  WaveTable waves(job_.cluster.gpu.compute_units);
  std::vector<LayerTime> times(workload_->layers.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (alike_[i] < i) {
      times[i] = times[alike_[i]];
      continue;
    }
    const PreparedStage stage =
        prepare_stage(*workload_, {i}, alone, compute,
                      {tensor_, context_, experts_, expert_tensor_, tables_}, waves);
    times[i] = {stage.compute->forward_time(), stage.compute->backward_time(),
                stage.compute->forward_messages + stage.compute->backward_messages};
  }
  return prices_.emplace(key, std::move(times)).first->second;
}

const std::vector<StepBounds::StageTime>& StepBounds::stages(const ParallelLayout& layout) {
  const std::pair<DivisionKey, PriceKey> key{
      {layout.stages(), layout.virtual_stages, is_v_shaped(layout.schedule)},
      {layout.micro_batch, layout.recompute, splits_backward(layout.schedule)}};
  const auto known = stages_.find(key);
  if (known != stages_.end()) {
    return known->second;
  }
  const std::vector<LayerTime>& times = price(layout);
  std::vector<StageTime> stages;
  for (const Share& share : divide(layout)) {
    StageTime& stage = stages.emplace_back();
    for (std::size_t chunk = 0; chunk < share.chunks.size(); ++chunk) {
      const std::size_t end =
          chunk + 1 < share.chunks.size() ? share.chunks[chunk + 1] : share.layers.size();
      LayerTime sum;
      for (std::size_t i = share.chunks[chunk]; i < end; ++i) {
        const LayerTime& layer = times[share.layers[i]];
        sum.forward += layer.forward;
        sum.backward += layer.backward;
        sum.messages += layer.messages;
      }
      LayerTime& least = stage.shortest_chunk;
      least.forward = chunk == 0 ? sum.forward : std::min(least.forward, sum.forward);
      least.backward = chunk == 0 ? sum.backward : std::min(least.backward, sum.backward);
      least.messages = std::max(least.messages, sum.messages);
      stage.all.forward += sum.forward;
      stage.all.backward += sum.backward;
      stage.all.messages += sum.messages;
    }
  }
  return stages_.emplace(key, std::move(stages)).first->second;
}

// As PreparedExperiment plans it. What updates weights in backward may hide there.
Seconds StepBounds::update(const Share& share, const ParallelLayout& layout) const {
  if (updates_in_backward(job_.software, layout)) {
    return 0_s;
  }
  const auto part = [](std::int64_t all, int ranks) { return (all + ranks - 1) / ranks; };
  const ComputeContext compute{job_.cluster.gpu, job_.software, job_.training.precision};
  return optimizer_time(part(share.parameters - share.expert_parameters, layout.shard_ranks()) +
                            part(share.expert_parameters, layout.expert_shards()),
                        job_.training, compute);
}

StepBound StepBounds::step(const ParallelLayout& layout) {
  const std::vector<StageTime>& times = stages(layout);
  const Division& division = divide(layout);
  const bool ends_with_backward = !splits_backward(layout.schedule);
  const double m = layout.passes();
  const Seconds first_update = update(division.front(), layout);
  StepBound most;
  // Of the stages before, all and without messages.
  Seconds fill;
  Seconds drain;
  Seconds silent_fill;
  Seconds silent_drain;
  for (std::size_t s = 0; s < times.size(); ++s) {
    const LayerTime& all = times[s].all;
    const Seconds own = update(division[s], layout);
    const auto at_least = [&](Seconds before, Seconds work, Seconds after) {
      const Seconds end = before + m * work;
      return ends_with_backward ? end + std::max(own, after + first_update) : end + own;
    };
    const Seconds work = all.forward + all.backward;
    most.step = std::max(most.step, at_least(fill, work, drain));
    most.without_sums =
        std::max(most.without_sums, at_least(silent_fill, work - all.messages, silent_drain));
    const LayerTime& chunk = times[s].shortest_chunk;
    fill += chunk.forward;
    silent_fill += std::max(0_s, chunk.forward - chunk.messages);
    if (ends_with_backward) {
      drain += chunk.backward;
      silent_drain += std::max(0_s, chunk.backward - chunk.messages);
    }
  }
  if (layout.overlaps_pairs()) {  // messages of pairs hide
    most.step = most.without_sums;
  }
  const Seconds host = job_.software.host_per_step;
  return {(1 - bound_rounding) * (most.step + host),
          (1 - bound_rounding) * (most.without_sums + host)};
}

const StepBounds::Alive& StepBounds::alive(const ParallelLayout& layout) const {
  const AliveKey key{layout.schedule, layout.stages(), layout.passes()};
  const auto known = alive_.find(key);
  if (known != alive_.end()) {
    return known->second;
  }
  Alive alive;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    alive.push_back(most_alive(layout, stage));
  }
  return alive_.emplace(key, std::move(alive)).first->second;
}

Memory StepBounds::memory(const ParallelLayout& layout) const {
  const Division& division = divide(layout);
  const Alive& alive_chunks = alive(layout);
  const bool copies = job_.software.bucket_copy_passes > 0.0;
  Memory fullest;
  for (std::size_t s = 0; s < division.size(); ++s) {
    const StageContent content{division[s].parameters,
                               division[s].expert_parameters,
                               0,
                               division[s].content,
                               static_cast<int>(s),
                               job_.software.fused_attention,
                               job_.software.fp8_weights,
                               copies ? 1.0 : 0.0,
                               {},
                               0,
                               0,
                               division[s].chunks,
                               alive_chunks[s]};
    const Memory memory = stage_memory(content, layout, job_.training, job_.cluster.gpu.memory);
    if (s == 0 || memory.total() > fullest.total()) {
      fullest = memory;
    }
  }
  return fullest;
}

}  // namespace payoff
