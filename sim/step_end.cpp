// SPDX-License-Identifier: Apache-2.0
#include "sim/step_end.hpp"

#include <algorithm>

#include "sim/step_pieces.hpp"
#include "sim/trace.hpp"

namespace payoff::sim {

StepEnd::StepEnd(const StepOverheads& overheads, Engine& engine) : engine_(engine) {
  wait_until(engine.now() + time_of(overheads.host_jitter), Cause::host_jitter);
  const SimTime loader_began = overheads.data.prefetch ? SimTime{} : engine.now();
  wait_until(loader_began + time_of(overheads.data.time), Cause::data_stall);
  wait_until(checkpoint_end(overheads.checkpoint), Cause::checkpoint);
}

// Of the steps from one checkpoint to the next all are like this one; the writer has been at it
// since the first of them began.
SimTime StepEnd::checkpoint_end(const CheckpointTimes& times) const {
  if (times.every == 0) {
    return engine_.now();
  }
  const Seconds step = to_seconds(engine_.now());
  const auto steps = static_cast<double>(times.every);
  const Seconds next = steps * step;  // checkpoint
  const Seconds taken =
      times.asynchronous ? std::max(next, times.write) + times.copy : next + times.write;
  return time_of(taken / steps);
}

void StepEnd::wait_until(SimTime date, Cause cause) {
  const SimTime begin = engine_.now();
  if (date <= begin) {
    return;
  }
  engine_.wake_at(date, static_cast<std::uint64_t>(cause), static_cast<std::uint64_t>(cause));
  (void)engine_.advance();
  parts_.push_back({cause, begin, engine_.now()});
}

void StepEnd::add_to(SimulatedStep& step) const {
  for (const Part& part : parts_) {
    const SimTime lasts = part.end - part.begin;
    const Seconds time = to_seconds(lasts);
    Waterfall& w = step.prediction.waterfall;
    (part.cause == Cause::host_jitter  ? w.host_jitter
     : part.cause == Cause::data_stall ? w.data_stall
                                       : w.checkpoint) = time;
    step.prediction.step = to_seconds(part.end);
    step.critical_path[static_cast<std::size_t>(part.cause)] = time;
    ++step.path_activities;
  }
  step.events = engine_.completed_count();
  step.trace_hash = engine_.trace_hash();
}

void StepEnd::write(TraceWriter* trace, bool several_places_a_stage) const {
  for (std::size_t i = 0; trace != nullptr && i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    TraceSpan span;
    span.one_of_several = several_places_a_stage;
    span.track_name = "compute";
    span.name = name(part.cause);
    span.begin = part.begin;
    span.end = part.end;
    span.alone = part.end - part.begin;
    trace->write(span);
  }
}

}  // namespace payoff::sim
