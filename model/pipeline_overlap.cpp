// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/interference.hpp"

namespace payoff {
namespace {

constexpr double same_time = 1e-13;  // of equal times at different dates
constexpr double not_run = -1.0;

bool are_equal(const StageSends& a, const StageSends& b) {
  return std::abs(a.to_next - b.to_next) <= same_time &&
         std::abs(a.to_previous - b.to_previous) <= same_time;
}

std::size_t operations_at(const std::vector<StageEnd>& ends) {
  std::size_t most = 0;
  for (const StageEnd& end : ends) {
    most = std::max(most, end.last.size());
  }
  return most;
}

bool any_send_holds_units(const StepPlan& plan) {
  return plan.units.empty()
             ? plan.send_share > 0.0
             : std::any_of(plan.units.begin(), plan.units.end(),
                           [](const StageUnits& units) { return units.send_share > 0.0; });
}

}  // namespace

PipelineOverlap::PipelineOverlap(const StepPlan& plan, const std::vector<StageEnd>& ends)
    : plan_(plan),
      ends_(ends),
      calls_(plan),
      stages_(ends.size()),
      operations_(operations_at(ends)),
      holds_sends_(any_send_holds_units(plan)) {
  const bool waits = !plan.overlap || plan.placement == Placement::after_backward;
  if (waits || plan.kinds.empty()) {
    run_without_gradients();
  } else {
    run_operations();
  }
}

// Stages with equal buckets finish alike, if their last sends do.
void PipelineOverlap::run_without_gradients() {
  sequences_.reserve(stages_.size());
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    const std::size_t like = plan_.stages[s].like;
    const StageSends sending = holds_sends_ ? ends_[s].sends.since(ends_[s].end.si) : StageSends{};
    stage.sequence = stages_[like].sequence;
    if (like == s || !are_equal(sequences_[stage.sequence].sending, sending)) {
      stage.sequence = sequences_.size();
      sequences_.push_back({GradientStreams(plan_, calls_, s, 0)});
      sequences_.back().sending = sending;
      sequences_.back().streams.send_until(sending.until());
      sequences_.back().streams.release_all();
    }
    stage.start = ends_[s].start.si;
    stage.since = stage.now = ends_[s].end.si;
    stage.sends = ends_[s].sends;
    stage.result.wait = ends_[s].last_wait;
    stage.result.interference = ends_[s].last_slowed;
  }
}

// Every sweep runs each stage as far as its inputs have come, the last stage first.
void PipelineOverlap::run_operations() {
  constexpr std::size_t usual = 8;
  sequences_.reserve(usual);
  arrivals_.assign(stages_.size() * operations_, not_run);
  std::vector<std::size_t> next(stages_.size(), 0);
  for (bool advanced = true; advanced;) {
    advanced = false;
    for (std::size_t s = stages_.size(); s-- > 0;) {
      for (; next[s] < ends_[s].last.size() && has_input(s, next[s]); ++next[s]) {
        run(s, next[s]);
        advanced = true;
      }
    }
  }
}

bool PipelineOverlap::has_input(std::size_t stage, std::size_t place) const {
  const StageOperation& operation = ends_[stage].last[place];
  return operation.from_stage == StageOperation::none ||
         arrivals_[operation.from_stage * operations_ + operation.from_place] != not_run;
}

// When the input of a stage's operation has come.
double PipelineOverlap::arrival(std::size_t stage, std::size_t place) const {
  const StageOperation& operation = ends_[stage].last[place];
  if (operation.from_stage != StageOperation::none) {
    return arrivals_[operation.from_stage * operations_ + operation.from_place];
  }
  // Nothing before it has gradients.
  return ends_[stage].start.si + operation.arrival.si;
}

void PipelineOverlap::run(std::size_t s, std::size_t place) {
  Stage& stage = stages_[s];
  const StageOperation& operation = ends_[s].last[place];
  const double input = arrival(s, place);
  double wait = std::max(0.0, input - stage.now);
  if (place == 0) {
    stage.start = stage.now = std::max(ends_[s].start.si, input);
    stage.sends = ends_[s].sends_before;
  } else if (wait > 0.0 && becomes_idle(stage, input)) {
    stage.now = input;
    stage.sequence = none;
  }
  if (stage.sequence == none) {
    stage.since = stage.now;
    wait = 0.0;
    if (!operation.completes_gradients && !is_sending(stage)) {
      stage.now += operation.work.si + operation.messages.si;
      stage.result.work += operation.work;
      stage.result.exposed_tp += operation.messages;
      end_operation(s, place);
      return;
    }
  }
  stage.sequence = sequence(s, operation, wait);
  const Sequence& equal = sequences_[stage.sequence];
  stage.now = stage.since + equal.end;
  stage.result += equal.operation;
  if (equal.streams.is_idle()) {
    stage.sequence = none;
  }
  end_operation(s, place);
}

void PipelineOverlap::end_operation(std::size_t s, std::size_t place) {
  Stage& stage = stages_[s];
  const StageOperation& operation = ends_[s].last[place];
  arrivals_[s * operations_ + place] =
      stage.sends.send(operation.toward, stage.now, operation.send.si);
}

// Whether all that is queued and in flight is through before the next input comes.
bool PipelineOverlap::becomes_idle(Stage& stage, double input) {
  const double wait = input - stage.now;
  if (stage.sequence == none) {
    stage.result.wait.si += wait;
    return true;
  }
  if (stage.since + sequences_[stage.sequence].streams.busy_until() > input) {
    return false;
  }
  const Sequence& before = finished(stage.sequence);
  if (stage.since + before.finish > input) {
    return false;
  }
  stage.result += before.rest;
  stage.result.exposed_dp -= before.rest.exposed_dp;
  stage.result.wait.si += wait;
  const Seconds on_host = before.rest.encode_on_host + before.rest.decode_on_host;
  if (!has_own_stream(plan_.placement)) {  // what the host does the stage waits beside
    stage.result.encode -= before.rest.encode_on_host;
    stage.result.decode -= before.rest.decode_on_host;
    stage.result.wait += on_host;
  }
  if (has_own_stream(plan_.placement)) {
    stage.result.encode -= before.rest.encode;
    stage.result.decode -= before.rest.decode;
    stage.result.bucket_copy -= before.rest.bucket_copy;
    stage.result.optimizer -= before.rest.optimizer;
    stage.result.interference -= before.rest.interference;
  } else {
    stage.result.wait -= before.rest.encode + before.rest.decode + before.rest.bucket_copy +
                         before.rest.optimizer + before.rest.interference;
  }
  return true;
}

// What the stage has run since it was idle, then a wait, then this operation.
std::size_t PipelineOverlap::sequence(std::size_t stage, const StageOperation& operation,
                                      double wait) {
  const std::size_t before = stages_[stage].sequence;
  const StageSends sending = before == none && is_sending(stages_[stage])
                                 ? stages_[stage].sends.since(stages_[stage].now)
                                 : StageSends{};
  const double send = holds_sends_ ? operation.send.si : 0.0;
  const std::size_t first = before == none ? shortest_ : sequences_[before].longer;
  for (std::size_t known = first; known != none; known = sequences_[known].another) {
    const Sequence& other = sequences_[known];
    if (other.like == operation.like && other.toward == operation.toward && other.send == send &&
        std::abs(other.wait - wait) <= same_time && are_equal(other.sending, sending)) {
      return known;
    }
  }
  Sequence next{GradientStreams(plan_, calls_, stage, operation.first_bucket)};
  next.sends = sending;
  if (before != none) {
    next.sends = sequences_[before].sends;
    next.streams.go_on_from(sequences_[before].streams, 0.0);
    next.streams.wait_until(sequences_[before].end + wait);
  }
  next.streams.send_until(sending.until());
  next.streams.run(operation);
  next.end = next.streams.now();
  if (holds_sends_) {
    next.sends.send(operation.toward, next.end, send);
    next.streams.send_until(next.sends.until());
  }
  next.sending = sending;
  next.toward = operation.toward;
  next.send = send;
  next.operation = next.streams.take_result();
  next.like = operation.like;
  next.wait = wait;
  next.another = first;
  (before == none ? shortest_ : sequences_[before].longer) = sequences_.size();
  sequences_.push_back(std::move(next));
  return sequences_.size() - 1;
}

const PipelineOverlap::Sequence& PipelineOverlap::finished(std::size_t sequence) {
  Sequence& known = sequences_[sequence];
  if (!known.is_finished) {
    GradientStreams streams = known.streams;
    streams.finish();
    known.finish = streams.now();
    known.rest = streams.take_result();
    known.is_finished = true;
  }
  return known;
}

OverlapResult PipelineOverlap::finish(std::size_t s) {
  const Stage& stage = stages_[s];
  OverlapResult result = stage.result;
  result.finish = {stage.now};
  if (stage.sequence != none) {
    const Sequence& last = finished(stage.sequence);
    result += last.rest;
    result.finish = {stage.since + last.finish};
  }
  return result;
}

}  // namespace payoff
