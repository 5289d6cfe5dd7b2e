// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/experiment.hpp"
#include "model/layer_division.hpp"
#include "model/memory.hpp"

// What the fullest GPU of a prepared job holds.

namespace payoff {
namespace {

// Gradients that are held for their reduction at once: of the unit whose message is on its way and
// of the next one. The root, the first in forward, is the last in backward.
std::int64_t most_reduced(std::span<const Layer* const> layers, const WeightUnits& units,
                          const ParallelLayout& layout) {
  std::vector<std::int64_t> of_unit(units.units.size());
  for (std::size_t i = 0; i < units.of_layer.size(); ++i) {
    for (const ParameterTensor& tensor : layers[i]->parameters) {
      const int ranks = tensor.of_expert ? layout.expert_replicas() : layout.data_ranks();
      of_unit[units.of_layer[i]] += ranks > 1 ? tensor.elements() : 0;
    }
  }
  std::int64_t most = 0;
  std::int64_t before = 0;
  for (const std::int64_t reduced : of_unit) {
    most = std::max(most, before + reduced);
    before = reduced;
  }
  return most;
}

// Whether backward gathers from copies in the nodes: by other kinds of gathers than forward.
bool keeps_copies(const StagePlan& stage) {
  return std::any_of(
      stage.backward_gathers.begin(), stage.backward_gathers.end(),
      [&](const WeightGather& backward) {
        return std::none_of(
            stage.forward_gathers.begin(), stage.forward_gathers.end(),
            [&](const WeightGather& forward) { return forward.kind == backward.kind; });
      });
}

// Where the chunks of a stage begin among its layers.
std::vector<std::size_t> chunks_of(const Workload& workload, std::span<const Layer* const> layers,
                                   const ParallelLayout& layout) {
  std::vector<std::size_t> numbers;
  for (const Layer* layer : layers) {
    numbers.push_back(static_cast<std::size_t>(layer - workload.layers.data()));
  }
  return chunk_starts(workload, numbers, layout);
}

}  // namespace

Memory PreparedExperiment::memory_without_codec(std::size_t s) const {
  // A reduction by bucket keeps its buckets beside the gradients only while they travel.
  const bool copies = experiment_.software.bucket_copy_passes > 0.0;
  const ParallelLayout& layout = experiment_.layout;
  const std::vector<ChunksAlive> alive = most_alive(layout, static_cast<int>(s));
  const std::vector<std::size_t> chunks =
      alive.empty() ? std::vector<std::size_t>{} : chunks_of(*workload_, stages_[s].layers, layout);
  const Stage& stage = stages_[s];
  const StageContent content{.parameters = stage.prepared.compute->parameters,
                             .expert_parameters = stage.prepared.compute->expert_parameters,
                             .gathered = most_gathered(stage.units),
                             .layers = stage.layers,
                             .stage = static_cast<int>(s),
                             .fused_attention = experiment_.software.fused_attention,
                             .fp8_weights = experiment_.software.fp8_weights,
                             .bucket_copies = copies ? 1.0 : 0.0,
                             .kept = layout.reshard ? 0 : all_gathered(stage.units),
                             .reduced = most_reduced(stage.layers, stage.units, layout),
                             .chunks = chunks,
                             .alive = alive};
  return stage_memory(content, layout, experiment_.training, experiment_.cluster.gpu.memory);
}

// The stage that leaves least of its GPU's memory; the first of equals.
Memory PreparedExperiment::memory(const StepPlan& plan) const {
  const auto fuller = [](const Memory& a, const Memory& b) {
    return a.capacity == b.capacity ? a.total() > b.total()
                                    : a.total() / a.capacity > b.total() / b.capacity;
  };
  Memory fullest;
  std::vector<Bytes> codec_state(stages_.size());
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    for (const Bucket& bucket : stage.buckets) {
      codec_state[s] += plan.kind(bucket).state;
    }
    Memory memory = stages_[s].memory;
    memory.codec_state = codec_state[stage.like] + stage.codec_state;
    memory.activations += stage.codec_saved;
    if (keeps_copies(stage)) {  // each rank of a node a part of them, beside its part of all
      const StageCompute& compute = *stage.compute;
      memory.parameters +=
          static_cast<double>(compute.parameters - compute.expert_parameters) *
          weight_size(experiment_.training.precision, experiment_.software.fp8_weights) /
          in_node_network_.group().ranks;
    }
    memory.capacity = memory_of_stage(s);
    if (s == 0 || fuller(memory, fullest)) {
      fullest = memory;
    }
  }
  return fullest;
}

}  // namespace payoff
