// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/overlap.hpp"
#include "model/pipeline.hpp"

namespace payoff {
namespace {

std::vector<StageDurations> durations_of(const StepPlan& plan, bool with_sends) {
  std::vector<StageDurations> durations;
  durations.reserve(plan.stages.size());
  for (const StagePlan& stage : plan.stages) {
    StageDurations d{stage.compute->forward_time(), stage.compute->backward_time(), {}, {}};
    if (with_sends) {
      d.send_forward = stage.send_forward.alone;
      d.send_backward = stage.send_backward.alone;
    }
    durations.push_back(d);
  }
  return durations;
}

Waterfall waterfall_of(const StepPlan& plan, const StagePlan& stage, const StageEnd& end,
                       const OverlapResult& last) {
  const double micro_batches = plan.layout.micro_batches;
  const StageCompute& compute = *stage.compute;
  Waterfall w;
  w.forward = micro_batches * compute.forward_work;
  w.recompute = micro_batches * compute.recompute_work;
  w.backward = micro_batches * compute.backward_work;
  w.exposed_tp = micro_batches * (compute.forward_messages + compute.backward_messages);
  w.exposed_pp = end.exposed_pp;
  w.bubble =
      end.end - w.exposed_pp - micro_batches * (compute.forward_time() + compute.backward_time());
  w.interference = last.interference;
  w.encode = last.encode;
  w.decode = last.decode;
  w.bucket_copy = last.bucket_copy;
  w.exposed_dp = last.exposed_dp + stage.gather_weights.alone;
  w.optimizer = stage.optimizer.alone;
  w.host = plan.host;
  return w;
}

// The traffic of the stage that sends most, and the spread of what it sends.
void add_traffic(const StepPlan& plan, std::size_t s, StepPrediction& prediction) {
  const StagePlan& stage = plan.stages[s];
  const double micro_batches = plan.layout.micro_batches;
  for (const auto* pieces : {&stage.compute->forward, &stage.compute->backward}) {
    for (const Piece& piece : *pieces) {
      prediction.tp_bytes += micro_batches * piece.message.size;
    }
  }
  prediction.pp_bytes += micro_batches * plan.layout.virtual_stages *
                         (stage.send_forward.size + stage.send_backward.size);
  for (const Bucket& bucket : plan.buckets(s)) {
    for (const BucketRound& round : plan.kind(bucket).rounds) {
      prediction.dp_bytes += round.message.size;
    }
  }
  prediction.dp_bytes += stage.gather_weights.size;
}

}  // namespace

std::vector<StageEnd> pipeline_ends(const StepPlan& plan) {
  const ParallelLayout& layout = plan.layout;
  std::vector<StageEnd> ends(plan.stages.size());
  if (plan.stages.size() == 1) {
    const StageCompute& compute = *plan.stages.front().compute;
    ends.front().end = layout.micro_batches * (compute.forward_time() + compute.backward_time());
    return ends;
  }
  const auto with =
      run_pipeline(durations_of(plan, true), layout.micro_batches, layout.virtual_stages);
  const auto without =
      run_pipeline(durations_of(plan, false), layout.micro_batches, layout.virtual_stages);
  for (std::size_t s = 0; s < ends.size(); ++s) {
    ends[s] = {with[s].end, std::max(0_s, with[s].end - without[s].end)};
  }
  return ends;
}

StepPrediction evaluate(const StepPlan& plan) { return evaluate(plan, pipeline_ends(plan)); }

StepPrediction evaluate(const StepPlan& plan, const std::vector<StageEnd>& ends) {
  StepPrediction prediction;
  std::vector<OverlapResult> overlaps(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    overlaps[s] = stage.like < s ? overlaps[stage.like] : overlap_gradients(plan, s);
    const OverlapResult& last = overlaps[s];
    // The pipeline ends with the stage's last backward; its gradients move beside it and after it.
    const Seconds finish = ends[s].end - stage.compute->backward_time() + last.finish +
                           stage.gather_weights.alone + stage.optimizer.alone + plan.host;
    if (s > 0 && finish <= prediction.step) {
      continue;
    }
    prediction = {};
    prediction.step = finish;
    prediction.waterfall = waterfall_of(plan, stage, ends[s], last);
    prediction.dp_communication = last.dp_busy + stage.gather_weights.alone;
    prediction.hidden_dp = last.dp_busy - last.exposed_dp;
    add_traffic(plan, s, prediction);
  }
  return prediction;
}

}  // namespace payoff
