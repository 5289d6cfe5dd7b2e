// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/groups.hpp"
#include "model/reference_bian2024.hpp"
#include "study/engine_parts.hpp"

namespace payoff::engines {
namespace {

// One replica of a model on the ranks of one tensor group.
std::string beyond_tensor_parallelism(const Experiment& experiment) {
  const ParallelLayout& layout = experiment.layout;
  if (layout.data_ranks() > 1 || layout.cp > 1 || layout.pp > 1 || layout.ep > 1) {
    return "models tensor parallelism alone: dp, cp, pp and ep must be 1";
  }
  if (layout.sequence_parallel || layout.tp_overlap > 1) {
    return "knows whole sums that nothing hides: no sequence_parallel, no tp_overlap";
  }
  return experiment.cluster.is_mixed() ? "knows one kind of nodes" : "";
}

std::vector<Message> sums_of(const StageCompute& compute) {
  std::vector<Message> sums;
  for (const std::vector<Piece>* pieces : {&compute.forward, &compute.backward}) {
    for (const Piece& piece : *pieces) {
      if (piece.message.kind == MessageKind::tp_activations && piece.message.size > 0_B) {
        sums.push_back(piece.message);
      }
    }
  }
  return sums;
}

// The paper fits c and b to timings of a machine; here they are our prices of the shortest message
// and of the job's own.
ActivationSum law_of(const Experiment& experiment, Bytes dense) {
  const CollectiveModel tensor(experiment.cluster,
                               tensor_group(experiment.layout, experiment.cluster.gpus_per_node));
  const auto price = [&](Bytes size) { return tensor.price(Collective::all_reduce, size).time; };
  return {price(1_B), price(dense) / dense};
}

}  // namespace

EngineAnswer bian2024(const PreparedExperiment& prepared, const CompressionPlan& compression) {
  const Experiment& experiment = prepared.experiment();
  if (std::string reason = beyond_tensor_parallelism(experiment); !reason.empty()) {
    return no_answer(std::move(reason));
  }
  const StepPlan plan = prepared.plan(compression);
  const StageCompute& compute = *plan.stages.front().compute;
  const std::vector<Message> sums = sums_of(compute);
  if (std::any_of(sums.begin(), sums.end(),
                  [](const Message& sum) { return sum.collective != Collective::all_reduce; })) {
    return no_answer("knows encodings that are summed as they are, not gathered");
  }
  const std::vector<Message> dense =
      sums_of(*prepared.plan(experiment.plans.front()).stages.front().compute);
  StepPrediction prediction = around(plan);
  if (!dense.empty()) {
    const ActivationSum law = law_of(experiment, dense.front().size);
    const double micro_batches = plan.layout.micro_batches;
    Waterfall& w = prediction.waterfall;
    for (const Message& sum : sums) {
      w.exposed_tp += micro_batches * law.time(sum.size);
      prediction.tp_bytes += micro_batches * sum.size;
    }
    w.encode = micro_batches * (compute.forward_codec.encode + compute.backward_codec.encode);
    w.decode = micro_batches * (compute.forward_codec.decode + compute.backward_codec.decode);
  }
  return finished(prediction, prepared, compression);
}

}  // namespace payoff::engines
