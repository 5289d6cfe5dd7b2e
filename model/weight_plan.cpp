// SPDX-License-Identifier: Apache-2.0
#include "model/weight_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace payoff {
namespace {

bool is_sharded(const ParameterTensor& tensor, const ParallelLayout& layout) {
  return (tensor.of_expert ? layout.expert_shards() : layout.shard_ranks()) > 1;
}

// Vectors go with the matrix before them, the first ones with the first matrix. What no other rank
// has a part of stays where it is.
void add_parameters(const Layer& layer, const ParallelLayout& layout, WeightUnit& unit) {
  bool matrix_before = !unit.matrices.empty();
  for (const ParameterTensor& tensor : layer.parameters) {
    if (!is_sharded(tensor, layout)) {
      continue;
    }
    unit.elements += tensor.elements();
    if (tensor.of_expert) {
      unit.experts.push_back(tensor.elements());
      continue;
    }
    if (unit.matrices.empty() || (tensor.is_matrix && matrix_before)) {
      unit.matrices.push_back(0);
    }
    matrix_before = matrix_before || tensor.is_matrix;
    unit.matrices.back() += tensor.elements();
  }
}

// Of a transformer: the root, if there is one, then block by block.
void add_blocks(std::span<const Layer* const> layers, const PreparedStage& stage,
                const ParallelLayout& layout, WeightUnits& result) {
  const bool has_root = layout.pp == 1;
  if (has_root) {
    result.units.emplace_back().is_root = true;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool is_own = layers[i]->recomputable || !has_root;
    const std::size_t unit = is_own ? result.units.size() : 0;
    if (is_own) {
      result.units.emplace_back().first = stage.layers[i];
    }
    add_parameters(*layers[i], layout, result.units[unit]);
    result.of_layer.push_back(unit);
  }
}

// Of a table: neighbours up to the size of a bucket, whether they are gathered or only reduced.
void add_neighbours(std::span<const Layer* const> layers, const PreparedStage& stage,
                    const Training& training, const ParallelLayout& layout, WeightUnits& result) {
  double held = 0;  // parameters of the last unit
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (result.units.empty() || held * weight_size(training.precision, false) >= training.bucket) {
      result.units.emplace_back().first = stage.layers[i];
      held = 0;
    }
    WeightUnit& unit = result.units.back();
    add_parameters(*layers[i], layout, unit);
    for (const ParameterTensor& tensor : layers[i]->parameters) {
      held += static_cast<double>(tensor.elements());
    }
    unit.first.backward = stage.layers[i].backward;
    result.of_layer.push_back(result.units.size() - 1);
  }
}

// How many neighbouring matrices each message carries: as many as fit, at least one, or until the
// bucket is full. Without a bucket all of them.
enum class Fill { below, until };

std::vector<std::size_t> cut(std::span<const std::int64_t> matrices, std::int64_t bucket,
                             Fill fill) {
  if (bucket == 0) {
    return {matrices.size()};
  }
  std::vector<std::size_t> counts;
  std::int64_t sum = 0;  // of the last message
  for (const std::int64_t elements : matrices) {
    if (counts.empty() || sum + (fill == Fill::below ? elements - 1 : 0) >= bucket) {
      counts.push_back(0);
      sum = 0;
    }
    ++counts.back();
    sum += elements;
  }
  return counts;
}

std::vector<std::int64_t> messages_of(const std::vector<std::int64_t>& matrices,
                                      std::int64_t bucket) {
  std::vector<std::int64_t> messages;
  if (matrices.empty()) {
    return messages;
  }
  auto matrix = matrices.begin();
  for (const std::size_t count : cut(matrices, bucket, Fill::until)) {
    const auto end = matrix + static_cast<std::ptrdiff_t>(count);
    messages.push_back(std::accumulate(matrix, end, std::int64_t{}));
    matrix = end;
  }
  return messages;
}

std::size_t kind_of(const WeightUnit& unit, const Software& software, WeightKinds& kinds) {
  const WeightMessages messages{messages_of(unit.matrices, software.gather_bucket),
                                messages_of(unit.experts, software.gather_bucket)};
  const auto known = std::find(kinds.begin(), kinds.end(), messages);
  const auto index = static_cast<std::size_t>(known - kinds.begin());
  if (known == kinds.end()) {
    kinds.push_back(messages);
  }
  return index;
}

// In backward order vectors come before the matrix they go with, the last ones after all of them.
void add_buckets(std::span<const ReadyGradient> gradients, std::int64_t bucket,
                 GradientKinds& kinds, std::vector<Bucket>& buckets) {
  const int ready = gradients.back().piece;
  std::size_t last = gradients.size() - 1;  // matrix
  while (last > 0 && !gradients[last].tensor.is_matrix) {
    --last;
  }
  std::vector<std::int64_t> matrices{0};
  std::vector<std::size_t> tensors{0};  // of each
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (i > 0 && i <= last && gradients[i - 1].tensor.is_matrix) {
      matrices.push_back(0);
      tensors.push_back(0);
    }
    matrices.back() += gradients[i].tensor.elements();
    ++tensors.back();
  }
  std::size_t matrix = 0;
  for (std::size_t left : cut(matrices, bucket, Fill::below)) {
    std::size_t count = 0;
    for (; left > 0; --left) {
      count += tensors[matrix++];
    }
    buckets.push_back({ready, kind_of_gradients(gradients.first(count), kinds)});
    gradients = gradients.subspan(count);
  }
}

}  // namespace

WeightUnits weight_units(std::span<const Layer* const> layers, const PreparedStage& stage,
                         const Training& training, const ParallelLayout& layout) {
  WeightUnits result;
  result.of_layer.reserve(layers.size());
  if (std::any_of(layers.begin(), layers.end(),
                  [](const Layer* layer) { return layer->recomputable; })) {
    add_blocks(layers, stage, layout, result);
  } else {
    add_neighbours(layers, stage, training, layout, result);
  }
  return result;
}

std::int64_t most_gathered(const WeightUnits& units) {
  std::int64_t root = 0;
  std::int64_t most = 0;
  std::int64_t before = 0;
  for (const WeightUnit& unit : units.units) {
    if (unit.is_root) {
      root = unit.elements;
      continue;
    }
    most = std::max(most, before + unit.elements);
    before = unit.elements;
  }
  return root + most;
}

std::int64_t all_gathered(const WeightUnits& units) {
  std::int64_t all = 0;
  for (const WeightUnit& unit : units.units) {
    all += unit.elements;
  }
  return all;
}

std::vector<Bucket> unit_buckets(const PreparedStage& stage, const WeightUnits& units,
                                 const Software& software, const ParallelLayout& layout,
                                 GradientKinds& kinds) {
  std::vector<std::vector<ReadyGradient>> of_unit(units.units.size());
  std::vector<std::vector<ReadyGradient>> of_experts(units.units.size());
  for (const ReadyGradient& gradient : stage.gradients) {
    const std::size_t unit = units.of_layer[gradient.layer];
    (gradient.tensor.of_expert ? of_experts : of_unit)[unit].push_back(gradient);
  }
  std::vector<Bucket> buckets;
  for (std::size_t unit = of_unit.size(); unit-- > 0;) {  // the root, if any, is the first
    if (!of_experts[unit].empty() && layout.expert_replicas() > 1) {
      add_buckets(of_experts[unit], software.scatter_bucket, kinds, buckets);
    }
    if (!of_unit[unit].empty()) {
      add_buckets(of_unit[unit], software.scatter_bucket, kinds, buckets);
    }
  }
  return buckets;
}

StageGathers stage_gathers(const WeightUnits& units, const Software& software,
                           const ParallelLayout& layout, WeightKinds& kinds) {
  StageGathers gathers;
  for (const WeightUnit& unit : units.units) {
    if (unit.elements > 0) {
      gathers.forward.push_back({unit.first.forward, kind_of(unit, software, kinds)});
    }
  }
  for (std::size_t i = units.units.size(); layout.reshard && i-- > 0;) {
    const WeightUnit& unit = units.units[i];
    if (unit.elements > 0 && !unit.is_root) {
      gathers.backward.push_back({unit.first.backward, kind_of(unit, software, kinds)});
    }
  }
  return gathers;
}

Message gather_message(std::int64_t elements, const GradientContext& context, bool of_experts) {
  const CollectiveModel& network = of_experts ? context.experts : context.network;
  const Bytes size = static_cast<double>(elements) *
                     weight_size(context.training.precision, context.software.fp8_weights);
  return priced_message(of_experts ? MessageKind::ep_weights : MessageKind::dp_weights, network,
                        Collective::all_gather, size, context.gpu);
}

std::vector<BucketKind> plan_gathers(const WeightKinds& kinds, const GradientContext& context) {
  std::vector<BucketKind> planned;
  planned.reserve(kinds.size());
  for (const WeightMessages& messages : kinds) {
    BucketKind& kind = planned.emplace_back();
    kind.decode.kind = WorkKind::decode;
    for (const bool of_experts : {false, true}) {
      for (const std::int64_t elements : of_experts ? messages.experts : messages.others) {
        kind.elements += elements;
        kind.rounds.push_back(
            {{WorkKind::encode, {}}, gather_message(elements, context, of_experts)});
      }
    }
  }
  return planned;
}

}  // namespace payoff
