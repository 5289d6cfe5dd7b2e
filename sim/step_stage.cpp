// SPDX-License-Identifier: Apache-2.0
#include "sim/step_stage.hpp"

#include <algorithm>

#include "model/interference.hpp"
#include "sim/invariant.hpp"
#include "sim/step_pieces.hpp"
#include "sim/trace.hpp"

namespace payoff::sim {
StageRun::StageRun(const StepPlan& plan, std::size_t stage, Engine& engine, Links& links,
                   TraceWriter* trace)
    : plan_(plan),
      stage_(stage),
      engine_(engine),
      links_(links),
      trace_(trace),
      schedule_(static_cast<int>(stage), plan.layout.pp, plan.layout.micro_batches,
                plan.layout.virtual_stages) {
  prepare_messages(plan.stages[stage].compute->forward, forward_messages_);
  prepare_messages(plan.stages[stage].compute->backward, backward_messages_);
}

// Most pieces send the same: each different message is prepared once.
void StageRun::prepare_messages(const std::vector<Piece>& pieces,
                                std::vector<std::size_t>& indices) {
  indices.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    const auto same =
        std::find_if(messages_.begin(), messages_.end(),
                     [&](const PreparedMessage& known) { return *known.message == piece.message; });
    indices.push_back(static_cast<std::size_t>(same - messages_.begin()));
    if (same == messages_.end()) {
      messages_.push_back(links_.prepare(piece.message, stage_, Direction::inside));
    }
  }
}

void StageRun::task_ended(StreamKind kind) {
  Stream& s = stream(kind);
  const SimTime now = engine_.now();
  const SimTime extra = now - s.since - s.task.alone;
  s.busy = false;
  s.path.add(s.task.cause, s.task.alone - s.task.copy);
  s.path.add(Cause::bucket_copy, s.task.copy);
  s.path.count_activity();
  if (s.message != nullptr) {
    count_message(s, extra);
  } else {
    s.path.add(Cause::interference, extra);
  }
  if (trace_ != nullptr) {
    write_trace(kind);
  }
  ended(kind, Task(s.task));
}

void StageRun::input_sent(const Operation& operation) { inputs_.push_back({operation, false, {}}); }

void StageRun::input_arrived(const Operation& operation, const Path& path) {
  Input* input = input_of(operation);
  PAYOFF_INVARIANT(input != nullptr, "an input arrives that nobody has sent");
  input->arrived = true;
  input->path = path;
}

void StageRun::advance() {
  while (begin_next(StreamKind::compute) || begin_next(StreamKind::codec) ||
         begin_next(StreamKind::gradients)) {
  }
  set_rates();
  account_.change(engine_.now(), activity());
}

// Whether anything was begun, which may be over already.
bool StageRun::begin_next(StreamKind kind) {
  Stream& s = stream(kind);
  if (s.busy) {
    return false;
  }
  if (s.waiting()) {
    const Task task = s.queue[s.head++];
    if (!s.waiting()) {
      s.queue.clear();
      s.head = 0;
    }
    begin(kind, task);
    return true;
  }
  return kind == StreamKind::compute && begin_compute();
}

bool StageRun::begin_compute() {
  if (piece_ < piece_end_) {
    if (fetch_weights()) {
      return true;
    }
    if (waits_for_weights()) {
      return false;
    }
    Path& path = stream(StreamKind::compute).path;
    if (path.end() < engine_.now()) {
      path = gathered_path_;
    }
    const payoff::Work& work = pieces()[piece_].work;
    begin(StreamKind::compute, {Task::Role::piece,
                                cause_of(work.kind),
                                time_of(work.alone),
                                piece_,
                                0,
                                stream(StreamKind::compute).path,
                                {},
                                work.memory_share});
    return true;
  }
  return next_operation_ < schedule_.size() ? begin_operation() : begin_last_tasks();
}

bool StageRun::begin_operation() {
  const Operation next = schedule_[next_operation_];
  Input* input = input_of(next);
  const bool first = stage_ == 0 && next.chunk == 0 && next.is_forward;
  if (!first && (input == nullptr || !input->arrived)) {
    return false;
  }
  operation_ = next;
  ++next_operation_;
  Path& path = stream(StreamKind::compute).path;
  if (input != nullptr) {
    if (path.end() < engine_.now()) {
      path = input->path;
    }
    *input = inputs_.back();
    inputs_.pop_back();
  }
  PAYOFF_INVARIANT(path.end() == engine_.now(), "an operation starts before or after its causes");
  const PieceRange range = pieces_of(*plan_.stages[stage_].compute, next, plan_.layout);
  piece_ = range.begin;
  piece_end_ = range.end;
  needed_ = 0;
  fetched_ = 0;
  gathered_ = 0;
  if (plan_.reduces_every_micro_batch) {
    next_bucket_ = 0;
  }
  if (piece_ == piece_end_) {
    operation_ended();
  }
  return true;
}

// When everything is decoded: optimizer, weights, host.
bool StageRun::begin_last_tasks() {
  if (decoded_ < reductions() * plan_.buckets(stage_).size() || stream(StreamKind::codec).busy ||
      stream(StreamKind::gradients).busy) {
    return false;
  }
  const StagePlan& stage = plan_.stages[stage_];
  switch (phase_) {
    case Phase::operations:
      phase_ = Phase::optimizer;
      begin(StreamKind::compute, {Task::Role::optimizer, Cause::optimizer,
                                  time_of(stage.optimizer.alone), 0, 0, last_path_});
      return true;
    case Phase::optimizer:
      phase_ = Phase::gather;
      begin(StreamKind::gradients, {Task::Role::gather, Cause::dp_message,
                                    time_of(stage.gather_weights.alone), 0, 0, last_path_});
      return true;
    case Phase::gather:
      phase_ = Phase::host;
      begin(StreamKind::compute,
            {Task::Role::host, Cause::host, time_of(plan_.host), 0, 0, last_path_});
      return true;
    case Phase::host:
      phase_ = Phase::over;
      return false;
    case Phase::over:
      break;
  }
  return false;
}

void StageRun::begin(StreamKind kind, const Task& task) {
  Stream& s = stream(kind);
  const SimTime now = engine_.now();
  if (s.path.end() < now) {
    s.path = task.ready;
  }
  PAYOFF_INVARIANT(s.path.end() == now, "a task starts before or after what it waited for");
  if (task.alone.picoseconds == 0) {  // takes no event, so that a free codec is exactly none
    ended(kind, task);
    return;
  }
  s.task = task;
  s.busy = true;
  s.since = now;
  s.rate = 1;
  s.rate_since = now;
  s.held_back = 0.0;
  start_activity(kind);
}

void StageRun::start_activity(StreamKind kind) {
  Stream& s = stream(kind);
  const std::uint64_t key = (static_cast<std::uint64_t>(stage_) << 40U) |
                            (static_cast<std::uint64_t>(kind) << 38U) | s.count++;
  const std::uint64_t tag =
      (static_cast<std::uint64_t>(stage_) << 2U) | static_cast<std::uint64_t>(kind);
  s.message = nullptr;
  switch (s.task.role) {
    case Task::Role::piece_message:
      s.message = &piece_message(s.task.index);
      break;
    case Task::Role::bucket_message:
      gradient_message_ =
          links_.prepare(s.task.kind->rounds[s.task.round].message, stage_, Direction::inside);
      s.message = &gradient_message_;
      break;
    case Task::Role::gather:
      gradient_message_ =
          links_.prepare(plan_.stages[stage_].gather_weights, stage_, Direction::inside);
      s.message = &gradient_message_;
      break;
    default:
      s.activity = engine_.start({.size = progress(s.task.alone),
                                  .uses = {},
                                  .rate_bound = full_rate,
                                  .key = key,
                                  .tag = tag});
      return;
  }
  s.activity = links_.start(*s.message, key, tag);
}

void StageRun::ended(StreamKind kind, const Task& task) {
  const Path& path = stream(kind).path;
  last_path_ = path;
  switch (task.role) {
    case Task::Role::piece:
      begin(StreamKind::compute,
            {Task::Role::piece_message, message_cause(piece_message(task.index)),
             piece_message(task.index).alone, task.index, 0, path});
      return;
    case Task::Role::piece_message:
      piece_ended();
      return;
    case Task::Role::encode: {
      const Message& message = task.kind->rounds[task.round].message;
      stream(StreamKind::gradients)
          .queue.push_back({Task::Role::bucket_message,
                            Cause::dp_message,
                            time_of(message.alone),
                            task.index,
                            task.round,
                            path,
                            {},
                            {},
                            task.kind});
      return;
    }
    case Task::Role::bucket_message:
      next_round(*task.kind, task.index, task.round + 1, path);
      return;
    case Task::Role::decode:
      if (is_of_weights(*task.kind)) {
        ++gathered_;
        gathered_path_ = path;
      } else {
        ++decoded_;
      }
      return;
    case Task::Role::optimizer:
    case Task::Role::gather:
    case Task::Role::host:
      return;
  }
}

void StageRun::piece_ended() {
  ++piece_;
  if (completes_gradients() && plan_.overlap && plan_.placement != Placement::after_backward) {
    release_buckets(false);
  }
  if (piece_ == piece_end_) {
    operation_ended();
  }
}

void StageRun::operation_ended() {
  ended_.push_back({operation_, stream(StreamKind::compute).path});
  if (next_operation_ == schedule_.size() ||
      (plan_.reduces_every_micro_batch && completes_gradients())) {
    release_buckets(true);
  }
}

}  // namespace payoff::sim
