// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/collective.hpp"
#include "model/reference_mgwfbp.hpp"
#include "study/engine_parts.hpp"

namespace payoff::engines {
namespace {

// The paper measures the all-reduce and fits a line; here the line goes through our prices of the
// smallest gradient and of all of them.
LinearAllReduce line_through(const CollectiveModel& network, Bytes small, Bytes large) {
  const Seconds at_small = network.price(Collective::all_reduce, small).time;
  if (large <= small) {
    return {at_small, {}};
  }
  const Seconds at_large = network.price(Collective::all_reduce, large).time;
  const SecondsPerByte slope = (at_large - at_small) / (large - small);
  return {std::max(0_s, at_small - slope * small), slope};
}

// Every tensor's gradient and the backward time before it: buckets of one tensor.
std::vector<LayerGradient> gradients_of(const Experiment& experiment) {
  Experiment single = experiment;
  single.training.bucket = 1_B;
  single.training.first_bucket = 1_B;
  single.plans.resize(1);
  const StepPlan plan = PreparedExperiment(single).plan(single.plans.front());
  const StagePlan& stage = plan.stages.front();
  std::vector<LayerGradient> layers;
  std::size_t piece = 0;
  for (const Bucket& bucket : stage.buckets) {
    LayerGradient& layer = layers.emplace_back();
    layer.size = sent(plan.kind(bucket));
    for (; piece <= static_cast<std::size_t>(bucket.ready_after); ++piece) {
      layer.backward += stage.compute->backward[piece].work.alone;
    }
  }
  // What runs after the last gradient hides the last message.
  LayerGradient rest;
  for (; piece < stage.compute->backward.size(); ++piece) {
    rest.backward += stage.compute->backward[piece].work.alone;
  }
  if (rest.backward > 0_s) {
    layers.push_back(rest);
  }
  return layers;
}

}  // namespace

EngineAnswer mgwfbp(const PreparedExperiment& prepared, const CompressionPlan& compression) {
  const Experiment& experiment = prepared.experiment();
  if (std::string reason = beyond_data_parallelism(experiment); !reason.empty()) {
    return no_answer(std::move(reason));
  }
  if (compression.method) {
    return no_answer("knows no compression");
  }
  const StepPlan plan = prepared.plan(compression);
  StepPrediction prediction = around(plan);
  if (plan.stages.front().buckets.empty()) {
    return finished(prediction, prepared, compression);
  }
  const std::vector<LayerGradient> layers = gradients_of(experiment);
  Bytes total;
  Bytes smallest = layers.front().size;
  Seconds backward;
  for (const LayerGradient& layer : layers) {
    total += layer.size;
    smallest = layer.size > 0_B ? std::min(smallest, layer.size) : smallest;
    backward += layer.backward;
  }
  const CollectiveModel network(experiment.cluster, group_of(experiment));
  const LinearAllReduce all_reduce = line_through(network, smallest, total);
  const std::vector<std::size_t> groups = merge_layers(layers, all_reduce);
  prediction.waterfall.exposed_dp = synchronised_backward(layers, groups, all_reduce) - backward;
  prediction.dp_communication =
      static_cast<double>(groups.size()) * all_reduce.startup + all_reduce.per_byte * total;
  return finished(prediction, prepared, compression);
}

}  // namespace payoff::engines
