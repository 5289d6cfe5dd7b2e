// SPDX-License-Identifier: Apache-2.0
#include "sim/step_stage.hpp"

#include <algorithm>

#include "sim/invariant.hpp"
#include "sim/step_pieces.hpp"
#include "sim/trace.hpp"

namespace payoff::sim {

StageRun::StageRun(const StepPlan& plan, const Places& places, std::size_t place, Engine& engine,
                   Links& links, Meetings& meetings, TraceWriter* trace)
    : plan_(plan),
      place_(place),
      stage_(places.places[place].stage),
      one_of_several_(places.several_a_stage(plan.stages.size())),
      slowdown_(places.places[place].slowdown),
      engine_(engine),
      links_(links),
      meetings_(meetings),
      trace_(trace),
      schedule_(static_cast<int>(stage_), plan.layout.stages(), plan.layout.passes(),
                plan.layout.virtual_stages, plan.layout.schedule),
      on_host_(std::any_of(plan.kinds.begin(), plan.kinds.end(), uses_host)),
      inputs_(plan.layout.virtual_stages) {
  find_messages(plan.stages[stage_].compute->forward, forward_messages_);
  find_messages(plan.stages[stage_].compute->backward, backward_messages_);
  if (plan.layout.overlaps_pairs()) {
    pair_ = std::make_unique<Pair>();
    for (const int chunk : {0, 1}) {
      pair_->pieces.at(static_cast<std::size_t>(chunk)) =
          paired_pieces(*plan.stages[stage_].compute, plan.layout, chunk);
    }
  }
}

// Most pieces send the same: one message stands for all that are equal.
void StageRun::find_messages(const std::vector<Piece>& pieces, std::vector<std::size_t>& indices) {
  indices.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    const auto same = std::find_if(messages_.begin(), messages_.end(),
                                   [&](const Message* known) { return *known == piece.message; });
    indices.push_back(static_cast<std::size_t>(same - messages_.begin()));
    if (same == messages_.end()) {
      messages_.push_back(&piece.message);
    }
  }
}

void StageRun::task_ended(StreamKind kind) {
  Stream& s = stream(kind);
  s.path.add(s.task.cause, s.task.alone - s.task.copy - s.task.update);
  s.path.add(Cause::bucket_copy, s.task.copy);
  s.path.add(Cause::optimizer, s.task.update);
  s.path.count_activity();
  const bool on_host = is_of_host(kind);
  s.path.add(on_host ? Cause::link_contention : Cause::interference,
             engine_.now() - s.since - s.task.alone);
  if (on_host) {
    (void)links_.end(s.load, s.since);
  }
  finish(kind);
}

void StageRun::finish(StreamKind kind) {
  Stream& s = stream(kind);
  s.busy = false;
  if (trace_ != nullptr) {
    write_trace(kind);
  }
  s.message = nullptr;
  ended(kind, Task(s.task));
}

void StageRun::advance() {
  while (begin_next(StreamKind::compute) || begin_next(StreamKind::codec) ||
         (on_host_ && begin_host_streams())) {
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
  if (runs_pair()) {
    return begin_pair_piece();
  }
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
                                time_for(work),
                                piece_,
                                0,
                                stream(StreamKind::compute).path,
                                {},
                                work.memory_share,
                                nullptr,
                                nullptr,
                                work.mix});
    return true;
  }
  return next_operation_ < schedule_.size() ? begin_operation() : begin_last_tasks();
}

bool StageRun::begin_operation() {
  if (pair_ != nullptr && schedule_.begins_pair(next_operation_)) {
    return begin_pair();
  }
  const Operation next = schedule_[next_operation_];
  const Path* input = inputs_.arrived(next);
  const bool first = stage_ == 0 && next.chunk == 0 && next.is_forward;
  if (!first && !next.of_weights && input == nullptr) {
    return false;
  }
  operation_ = next;
  ++next_operation_;
  Path& path = stream(StreamKind::compute).path;
  if (input != nullptr) {
    if (path.end() < engine_.now()) {
      path = *input;
    }
    inputs_.use(next);
  }
  PAYOFF_INVARIANT(path.end() == engine_.now(), "an operation starts before or after its causes");
  const PieceRange range = pieces_of(*plan_.stages[stage_].compute, next, plan_.layout);
  piece_ = range.begin;
  piece_end_ = range.end;
  begin_weights(range);
  if (plan_.reduces_every_micro_batch && completes_gradients()) {
    next_bucket_ = buckets_in(plan_.buckets(stage_), range).begin;
  }
  if (piece_ == piece_end_) {
    operation_ended();
  }
  return true;
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
  if (s.task.role == Task::Role::piece_message) {
    const MessageId id{s.task.message, s.task.index, 0};
    meetings_.hand_over(place_, kind, id, s.path);
    return;
  }
  const std::uint64_t key =
      (static_cast<std::uint64_t>(stage_) << 40U) | key_bits(kind) | s.count++;
  const std::uint64_t tag =
      (static_cast<std::uint64_t>(place_) << 3U) | static_cast<std::uint64_t>(kind);
  if (is_of_host(kind)) {
    start_on_host(kind, key, tag);
    return;
  }
  s.activity = engine_.start({.size = progress(s.task.alone),
                              .uses = {},
                              .rate_bound = full_rate,
                              .key = key,
                              .tag = tag});
}

void StageRun::ended(StreamKind kind, const Task& task) {
  const Path& path = stream(kind).path;
  last_path_ = path;
  switch (task.role) {
    case Task::Role::piece:
      if (runs_pair()) {
        pair_piece_ended(task, path);
        return;
      }
      begin(StreamKind::compute, {Task::Role::piece_message,
                                  message_cause(piece_message(task.index)),
                                  time_of(piece_message(task.index).alone),
                                  task.index,
                                  0,
                                  path,
                                  {},
                                  {},
                                  nullptr,
                                  &piece_message(task.index)});
      return;
    case Task::Role::piece_message:
      runs_pair() ? pair_message_ended(task, path) : piece_ended();
      return;
    case Task::Role::encode:
      after_gpu(task);
      return;
    case Task::Role::copy_out:
      begin_host(StreamKind::cores, *task.kind, task.index, task.round, path);
      return;
    case Task::Role::cores:
    case Task::Role::copy_in:
      after_host(task);
      return;
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
    case Task::Role::tied_sum:
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
  if (plan_.reduces_every_micro_batch && completes_gradients()) {
    release_buckets(false);
  } else if (next_operation_ == schedule_.size()) {
    release_buckets(true);
  }
}

}  // namespace payoff::sim
