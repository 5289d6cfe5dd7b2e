// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/pipeline.hpp"

namespace payoff {
namespace {

struct PieceRange {
  std::size_t begin{};
  std::size_t end{};
};

// Of chunk `place`, counted in order of execution; a compute without chunks is one.
PieceRange pieces_of(const std::vector<std::size_t>& starts, std::size_t place,
                     const std::vector<Piece>& pieces) {
  return {starts.empty() ? 0 : starts[place],
          place + 1 < starts.size() ? starts[place + 1] : pieces.size()};
}

Seconds time_of(const std::vector<Piece>& pieces, const PieceRange& range) {
  Seconds sum;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    sum += pieces[i].work.alone + pieces[i].message.alone;
  }
  return sum;
}

std::vector<ChunkDurations> chunks_of(const StageCompute& compute, std::size_t chunks) {
  if (chunks == 1) {
    return {{compute.forward_time(), compute.backward_time()}};
  }
  std::vector<ChunkDurations> durations(chunks);
  for (std::size_t c = 0; c < chunks; ++c) {
    durations[c].forward =
        time_of(compute.forward, pieces_of(compute.forward_chunks, c, compute.forward));
    durations[chunks - 1 - c].backward =
        time_of(compute.backward, pieces_of(compute.backward_chunks, c, compute.backward));
  }
  return durations;
}

std::vector<StageDurations> durations_of(const StepPlan& plan) {
  std::vector<StageDurations> durations;
  durations.reserve(plan.stages.size());
  for (const StagePlan& stage : plan.stages) {
    durations.push_back(
        {chunks_of(*stage.compute, static_cast<std::size_t>(plan.layout.virtual_stages)),
         stage.send_forward.alone, stage.send_backward.alone});
  }
  return durations;
}

// The last operations of a stage, relative to the start of the first.
void describe_last(const StageCompute& compute, const StageSpan& span, StageEnd& stage) {
  const Seconds start = span.last.front().start;
  Seconds busy_until;
  for (const LastBackward& operation : span.last) {
    const std::size_t chunks = std::max<std::size_t>(1, compute.backward_chunks.size());
    const std::size_t place = chunks - 1 - static_cast<std::size_t>(operation.chunk);
    const PieceRange pieces = pieces_of(compute.backward_chunks, place, compute.backward);
    BackwardOperation& last =
        stage.last.emplace_back(backward_operation(compute, pieces.begin, pieces.end));
    last.arrival = std::max(0_s, operation.arrival - start);
    last.completes_gradients = operation.last_micro_batch;
    stage.last_wait += std::max(0_s, last.arrival - busy_until);
    busy_until = std::max(last.arrival, busy_until) + last.work + last.messages;
  }
  stage.last_time = span.end - start;
}

// Equal but for rounding: what equal stages do at different times.
bool run_alike(const StageEnd& a, const StageEnd& b) {
  constexpr double rounding = 1e-9;
  return std::equal(a.last.begin(), a.last.end(), b.last.begin(), b.last.end(),
                    [&](const BackwardOperation& x, const BackwardOperation& y) {
                      const Seconds apart = x.arrival - y.arrival;
                      return x.first_piece == y.first_piece &&
                             x.completes_gradients == y.completes_gradients &&
                             std::max(apart, -apart) <= rounding * a.last_time;
                    });
}

void find_alike(const StepPlan& plan, std::vector<StageEnd>& ends) {
  for (std::size_t s = 0; s < ends.size(); ++s) {
    std::size_t first = 0;
    while (first < s &&
           (plan.stages[first].like != plan.stages[s].like || !run_alike(ends[first], ends[s]))) {
      ++first;
    }
    ends[s].like = first;
  }
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
  const Seconds idle = end.end -
                       micro_batches * (compute.forward_time() + compute.backward_time()) -
                       end.last_wait + last.wait;
  w.exposed_pp = std::min(end.exposed_pp, std::max(0_s, idle));
  w.bubble = idle - w.exposed_pp;
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
    StageEnd& only = ends.front();
    only.end = layout.micro_batches * (compute.forward_time() + compute.backward_time());
    only.last = {backward_operation(compute, 0, compute.backward.size())};
    only.last.front().completes_gradients = true;
    only.last_time = compute.backward_time();
    return ends;
  }
  std::vector<StageDurations> durations = durations_of(plan);
  const auto with = run_pipeline(durations, layout.micro_batches);
  for (StageDurations& stage : durations) {
    stage.send_forward = {};
    stage.send_backward = {};
  }
  const auto without = run_pipeline(durations, layout.micro_batches);
  for (std::size_t s = 0; s < ends.size(); ++s) {
    ends[s].end = with[s].end;
    ends[s].exposed_pp = std::max(0_s, with[s].end - without[s].end);
    describe_last(*plan.stages[s].compute, with[s], ends[s]);
  }
  find_alike(plan, ends);
  return ends;
}

StepPrediction evaluate(const StepPlan& plan) { return evaluate(plan, pipeline_ends(plan)); }

StepPrediction evaluate(const StepPlan& plan, const std::vector<StageEnd>& ends) {
  const std::vector<Seconds> most = most_added(plan);
  std::vector<OverlapResult> overlaps(plan.stages.size());
  Seconds step;
  std::size_t slowest = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    const Seconds after = stage.gather_weights.alone + stage.optimizer.alone + plan.host;
    if (s > 0 && ends[s].end + most[s] + after <= step) {
      continue;  // cannot end last
    }
    OverlapResult& overlap = overlaps[ends[s].like];
    if (overlap.finish <= 0_s) {
      overlap = overlap_gradients(plan, s, ends[s].last);
    }
    // Gradients move beside the stage's last operations and after them.
    const Seconds finish = ends[s].end - ends[s].last_time + overlap.finish + after;
    if (s == 0 || finish > step) {
      step = finish;
      slowest = s;
    }
  }
  const StagePlan& stage = plan.stages[slowest];
  const OverlapResult& last = overlaps[ends[slowest].like];
  StepPrediction prediction;
  prediction.step = step;
  prediction.waterfall = waterfall_of(plan, stage, ends[slowest], last);
  prediction.dp_communication = last.dp_busy + stage.gather_weights.alone;
  prediction.hidden_dp = std::max(0_s, last.dp_busy - last.exposed_dp);
  add_traffic(plan, slowest, prediction);
  return prediction;
}

}  // namespace payoff
