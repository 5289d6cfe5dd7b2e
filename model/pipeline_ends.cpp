// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "model/evaluate.hpp"
#include "model/interference.hpp"
#include "model/pipeline.hpp"

namespace payoff {
namespace {

Seconds time_of(const std::vector<Piece>& pieces, const PieceRange& range) {
  Seconds sum;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    sum += pieces[i].work.alone + pieces[i].message.alone;
  }
  return sum;
}

std::vector<ChunkDurations> chunks_of(const StageCompute& compute, std::size_t chunks,
                                      PipelineSchedule schedule) {
  const bool splits = splits_backward(schedule);
  if (chunks == 1 && !splits) {
    return {{compute.forward_time(), compute.backward_time(), compute.forward, compute.backward}};
  }
  const auto part = [](const std::vector<Piece>& pieces, const PieceRange& range) {
    return std::span(pieces).subspan(range.begin, range.end - range.begin);
  };
  std::vector<ChunkDurations> durations(chunks);
  for (std::size_t c = 0; c < chunks; ++c) {
    const PieceRange forward = pieces_of_chunk(compute.forward, compute.forward_chunks, c);
    durations[c].forward = time_of(compute.forward, forward);
    durations[c].forward_pieces = part(compute.forward, forward);
    const PieceRange backward = pieces_of_chunk(compute.backward, compute.backward_chunks, c);
    durations[chunks - 1 - c].backward = time_of(compute.backward, backward);
    durations[chunks - 1 - c].backward_pieces = part(compute.backward, backward);
  }
  for (std::size_t c = 0; splits && c < chunks; ++c) {
    const PieceRange weights =
        pieces_of_chunk(compute.backward, compute.backward_chunks, chunks + c);
    durations[chunks - 1 - c].weights = time_of(compute.backward, weights);
    durations[chunks - 1 - c].weight_pieces = part(compute.backward, weights);
  }
  return durations;
}

std::vector<StageDurations> durations_of(const StepPlan& plan) {
  std::vector<StageDurations> durations;
  durations.reserve(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    durations.push_back(
        {chunks_of(*stage.compute, static_cast<std::size_t>(plan.layout.virtual_stages),
                   plan.layout.schedule),
         stage.send_forward.alone, stage.send_backward.alone, plan.paces(s, plan.sends_on(s))});
  }
  return durations;
}

// The last operations of a stage, relative to the start of the first.
void describe_last(const ParallelLayout& layout, const StageCompute& compute,
                   const std::vector<Bucket>& buckets, const StageSpan& span, StageEnd& stage) {
  const Seconds start = span.last.front().start;
  Seconds free;
  for (const LastBackward& operation : span.last) {
    const std::size_t place =
        backward_place(operation.operation, layout.virtual_stages, layout.schedule);
    const PieceRange pieces = pieces_of_chunk(compute.backward, compute.backward_chunks, place);
    StageOperation& last =
        stage.last.emplace_back(operation_of(compute.backward, pieces.begin, pieces.end));
    last.arrival = std::max(0_s, operation.arrival - start);
    last.completes_gradients = operation.last_micro_batch;
    last.first_bucket = buckets_in(buckets, pieces).begin;
    last.toward = operation.toward;
    last.send = operation.send;
    last.from_stage = operation.from_stage;
    last.from_place = operation.from_place;
    stage.last_wait += std::max(0_s, last.arrival - free);
    free = operation.end - start;
  }
  // Operations between two that complete gradients go on with the buckets of the second one.
  std::size_t next = buckets.size();
  for (auto operation = stage.last.rbegin(); operation != stage.last.rend(); ++operation) {
    next = operation->completes_gradients ? operation->first_bucket : next;
    operation->first_bucket = next;
  }
  stage.start = start;
  stage.sends_before = span.sends_before_last;
  stage.sends = span.sends;
  stage.slowed_before = span.slowed_before_last;
  stage.last_slowed = span.slowed - span.slowed_before_last;
}

struct OperationOfStage {
  std::size_t stage{};
  std::size_t place{};
};

// The buckets that become complete in an operation that completes gradients.
std::span<const Bucket> buckets_of(const std::vector<Bucket>& buckets,
                                   const StageOperation& operation) {
  const auto before = [](const Bucket& bucket, std::size_t piece) {
    return static_cast<std::size_t>(bucket.ready_after) < piece;
  };
  const std::span<const Bucket> rest = std::span(buckets).subspan(operation.first_bucket);
  const auto end = std::lower_bound(rest.begin(), rest.end(), operation.end_piece, before);
  return rest.first(static_cast<std::size_t>(end - rest.begin()));
}

bool have_equal_pieces(const StepPlan& plan, std::size_t stage, const StageOperation& a,
                       std::size_t other, const StageOperation& b) {
  const std::vector<Piece>& pieces = plan.stages[stage].compute->backward;
  const std::vector<Piece>& others = plan.stages[other].compute->backward;
  const auto at = [](const std::vector<Piece>& all, std::size_t piece) {
    return all.begin() + static_cast<std::ptrdiff_t>(piece);
  };
  return std::equal(at(pieces, a.first_piece), at(pieces, a.end_piece), at(others, b.first_piece),
                    at(others, b.end_piece));
}

bool complete_equal_buckets(const StepPlan& plan, std::size_t stage, const StageOperation& a,
                            std::size_t other, const StageOperation& b) {
  const auto mine = buckets_of(plan.buckets(stage), a);
  const auto theirs = buckets_of(plan.buckets(other), b);
  return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                    [&](const Bucket& x, const Bucket& y) {
                      return x.kind == y.kind &&
                             static_cast<std::size_t>(x.ready_after) - a.first_piece ==
                                 static_cast<std::size_t>(y.ready_after) - b.first_piece;
                    });
}

// Of stages with equal pieces, which may run them in another order.
bool is_same(const StageOperation& a, const StageOperation& b) {
  return a.first_piece == b.first_piece && a.end_piece == b.end_piece &&
         a.completes_gradients == b.completes_gradients;
}

// Numbers the last operations, equal ones alike.
void find_alike(const StepPlan& plan, std::vector<StageEnd>& ends) {
  std::vector<OperationOfStage> kinds;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    const std::vector<StageOperation>& first = ends[plan.stages[s].like].last;
    for (std::size_t place = 0; place < ends[s].last.size(); ++place) {
      StageOperation& operation = ends[s].last[place];
      if (plan.stages[s].like < s && place < first.size() && is_same(operation, first[place])) {
        operation.like = first[place].like;
        continue;
      }
      const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const OperationOfStage& of) {
        const StageOperation& other = ends[of.stage].last[of.place];
        return operation.completes_gradients == other.completes_gradients &&
               plan.have_equal_units(s, of.stage) &&
               have_equal_pieces(plan, s, operation, of.stage, other) &&
               (!operation.completes_gradients ||
                complete_equal_buckets(plan, s, operation, of.stage, other));
      });
      operation.like = static_cast<std::size_t>(known - kinds.begin());
      if (known == kinds.end()) {
        kinds.push_back({s, place});
      }
    }
  }
}

// Of all work at its rate alone and all messages: what is longer waits for an input.
Seconds end_of_work(const StageSpan& span) {
  return span.end - span.slowed + Seconds{span.pairs.hidden() - span.pairs.slowed};
}

std::vector<double> times_of(const std::vector<StageDurations>& stages) {
  std::vector<double> times;
  for (const StageDurations& stage : stages) {
    for (const ChunkDurations& chunk : stage.chunks) {
      times.insert(times.end(), {chunk.forward.si, chunk.backward.si, chunk.weights.si});
    }
  }
  return times;
}

// When the work of every stage would end if nothing were sent. Jobs that differ in their links
// have the last one's, unless operations run as pairs, whose paces the links set.
const std::vector<double>& ends_without_sends(const ParallelLayout& layout,
                                              const std::vector<StageDurations>& durations,
                                              PairTimes* pairs, PipelinePrograms& programs) {
  const PipelineShape shape{static_cast<int>(durations.size()),
                            static_cast<int>(durations.front().chunks.size()), layout.passes(),
                            layout.schedule, pairs != nullptr};
  std::vector<double> times = times_of(durations);
  UnsentRun& last = programs.unsent;
  if (pairs == nullptr && last.shape == shape && last.durations == times) {
    return last.ends;
  }
  std::vector<StageDurations> unsent = durations;
  for (StageDurations& stage : unsent) {
    stage.send_forward = {};
    stage.send_backward = {};
  }
  const auto spans = run_pipeline(unsent, layout.passes(), layout.schedule, pairs, &programs);
  last = {shape, std::move(times), {}};
  for (const StageSpan& span : spans) {
    last.ends.push_back(end_of_work(span).si);
  }
  return last.ends;
}

}  // namespace

std::vector<StageEnd> pipeline_ends(const StepPlan& plan, PipelinePrograms* programs) {
  const ParallelLayout& layout = plan.layout;
  std::vector<StageEnd> ends(plan.stages.size());
  if (plan.stages.size() == 1) {
    const StageCompute& compute = *plan.stages.front().compute;
    StageEnd& only = ends.front();
    only.end = layout.passes() * (compute.forward_time() + compute.backward_time());
    only.last = {operation_of(compute.backward, 0, compute.backward.size())};
    only.last.front().completes_gradients = true;
    only.start = only.end - compute.backward_time();
    return ends;
  }
  const std::vector<StageDurations> durations = durations_of(plan);
  PairTimes times(plan);
  PairTimes* pairs = layout.overlaps_pairs() ? &times : nullptr;
  PipelinePrograms both;
  PipelinePrograms& known = programs != nullptr ? *programs : both;
  const auto with = run_pipeline(durations, layout.passes(), layout.schedule, pairs, &known);
  const std::vector<double>& without = ends_without_sends(layout, durations, pairs, known);
  for (std::size_t s = 0; s < ends.size(); ++s) {
    ends[s].end = with[s].end;
    ends[s].pairs = with[s].pairs;
    ends[s].exposed_pp = std::max(0_s, end_of_work(with[s]) - Seconds{without[s]});
    describe_last(layout, *plan.stages[s].compute, plan.buckets(s), with[s], ends[s]);
  }
  find_alike(plan, ends);
  return ends;
}

}  // namespace payoff
