// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/interference.hpp"
#include "model/pipeline_overlap.hpp"
#include "model/sharded_step.hpp"
#include "model/step_traffic.hpp"

namespace payoff {
namespace {

// Sums of the same times in another order differ in their last bits.
Seconds difference(Seconds all, Seconds part) {
  constexpr double rounding = 1e-12;
  const Seconds rest = all - part;
  return part > 0_s && rest <= rounding * all ? 0_s : rest;
}

Seconds tied_time(const StepPlan& plan, std::size_t stage) {
  return plan.sums_tied(stage) ? plan.tied_gradients.alone : 0_s;
}

// `delay`: of the start of the stage's last operations; `wait`: for the other end of the pipeline.
Waterfall waterfall_of(const StepPlan& plan, std::size_t s, const StageEnd& end, Seconds delay,
                       const OverlapResult& last, Seconds wait) {
  const StagePlan& stage = plan.stages[s];
  const double micro_batches = plan.layout.passes();
  const StageCompute& compute = *stage.compute;
  Waterfall w;
  w.forward = micro_batches * compute.forward_work;
  w.recompute = micro_batches * compute.recompute_work;
  w.backward = micro_batches * compute.backward_work;
  w.exposed_cp = micro_batches * compute.context_messages;
  w.exposed_ep = micro_batches * compute.expert_messages;
  w.exposed_tp = difference(micro_batches * (compute.forward_messages + compute.backward_messages),
                            w.exposed_cp + w.exposed_ep);
  w.exposed_cp = difference(w.exposed_cp, {end.pairs.hidden_cp});
  w.exposed_ep = difference(w.exposed_ep, {end.pairs.hidden_ep});
  w.exposed_tp = difference(w.exposed_tp, {end.pairs.hidden_tp});
  const Seconds idle = end.end + Seconds{end.pairs.hidden() - end.pairs.slowed} -
                       micro_batches * (compute.forward_time() + compute.backward_time()) -
                       end.slowed_before - end.last_slowed - end.last_wait + delay + last.wait;
  w.exposed_pp = std::min(end.exposed_pp, std::max(0_s, idle));
  w.bubble = idle - w.exposed_pp + wait;
  w.interference = end.slowed_before + last.interference + Seconds{end.pairs.slowed};
  w.encode =
      last.encode + micro_batches * (compute.forward_codec.encode + compute.backward_codec.encode);
  w.decode =
      last.decode + micro_batches * (compute.forward_codec.decode + compute.backward_codec.decode);
  w.bucket_copy = last.bucket_copy;
  w.exposed_dp = last.exposed_dp + tied_time(plan, s) + stage.gather_time();
  w.optimizer = stage.optimizer.alone + last.optimizer;
  w.host = plan.host;
  return w;
}

bool gathers_weights(const StepPlan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const StagePlan& stage) { return !stage.forward_gathers.empty(); });
}

// When both ends of the pipeline have come to the sum of what both hold; `finish` says when a stage
// has.
template <typename Finish>
Seconds meeting_of_ends(const StepPlan& plan, Finish finish) {
  return plan.sums_tied(0) ? std::max(finish(0), finish(plan.stages.size() - 1)) : 0_s;
}

// What a send that is in flight until `sent` adds to the optimizer.
Seconds slowed_optimizer(const StepPlan& plan, std::size_t stage, Seconds sent, Seconds start) {
  const double rate = plan.paces(stage, plan.sends_on(stage))[0].rate;
  const Seconds sending = std::max(0_s, sent - start);
  return std::min(plan.stages[stage].optimizer.alone / rate, sending) * (1.0 - rate);
}

// All waits of a stage are for its inputs: what transfers add to them, and the rest.
Waterfall waterfall_of_sharded(const StepPlan& plan, std::size_t s, const StageEnd& end,
                               const OverlapResult& all, Seconds wait) {
  const StagePlan& stage = plan.stages[s];
  StageEnd own;
  own.end = plan.layout.passes() * (stage.compute->forward_time() + stage.compute->backward_time());
  own.exposed_pp = end.exposed_pp;
  return waterfall_of(plan, s, own, {}, all, wait);
}

// Of the stage that ends last; `all` is what it does beside its pieces.
StepPrediction prediction_of(const StepPlan& plan, std::size_t slowest, Seconds step,
                             const Waterfall& waterfall, const OverlapResult& all) {
  StepPrediction prediction;
  prediction.step = step;
  prediction.waterfall = waterfall;
  prediction.dp_communication =
      all.dp_busy + tied_time(plan, slowest) + plan.stages[slowest].gather_time();
  prediction.hidden_dp = std::max(0_s, all.dp_busy - all.exposed_dp);
  add_traffic(plan, slowest, prediction);
  add_overheads(plan.overheads, prediction);
  return prediction;
}

StepPrediction evaluate_sharded(const StepPlan& plan, const std::vector<StageEnd>& ends) {
  std::vector<ShardedStage> stages = sharded_step(plan);
  const Seconds met = meeting_of_ends(plan, [&](std::size_t s) { return stages[s].result.finish; });
  std::size_t slowest = 0;
  Seconds step;
  Seconds wait;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Seconds own = stages[s].result.finish;
    const Seconds begin = plan.sums_tied(s) ? met : own;
    const Seconds summed = begin + tied_time(plan, s);
    const Seconds slowed = slowed_optimizer(plan, s, stages[s].sending, summed);
    stages[s].result.interference += slowed;
    const Seconds end = summed + slowed + plan.stages[s].optimizer.alone + plan.host;
    if (s == 0 || end > step) {
      step = end;
      slowest = s;
      wait = begin - own;
    }
  }
  const OverlapResult& all = stages[slowest].result;
  return prediction_of(plan, slowest, step,
                       waterfall_of_sharded(plan, slowest, ends[slowest], all, wait), all);
}

}  // namespace

StepPrediction evaluate(const StepPlan& plan) { return evaluate(plan, pipeline_ends(plan)); }

StepPrediction evaluate(const StepPlan& plan, const std::vector<StageEnd>& ends) {
  if (gathers_weights(plan)) {
    return evaluate_sharded(plan, ends);
  }
  const std::vector<Seconds> most = most_added(plan);
  PipelineOverlap overlap(plan, ends);
  OverlapResult last;
  Seconds step;
  Seconds wait;
  std::size_t slowest = 0;
  const Seconds met =
      meeting_of_ends(plan, [&](std::size_t s) { return overlap.finish(s).finish; });
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    const Seconds after = stage.gather_time() + stage.optimizer.alone + plan.host;
    const bool sums_tied = plan.sums_tied(s);
    // Work beside the last sends goes on at no less than half of its rate.
    if (s > 0 && !sums_tied &&
        overlap.operations_end(s) + overlap.sending_after(s) + most[s] + after <= step) {
      continue;  // cannot end last
    }
    // Gradients move beside the stage's last operations and after them.
    OverlapResult result = overlap.finish(s);
    const Seconds begin = sums_tied ? met : result.finish;
    const Seconds summed = begin + tied_time(plan, s);
    const Seconds slowed = slowed_optimizer(plan, s, overlap.sending_until(s), summed);
    result.interference += slowed;
    if (s == 0 || summed + slowed + after > step) {
      step = summed + slowed + after;
      slowest = s;
      last = result;
      wait = begin - result.finish;
    }
  }
  return prediction_of(
      plan, slowest, step,
      waterfall_of(plan, slowest, ends[slowest], overlap.delay(slowest), last, wait), last);
}

}  // namespace payoff
