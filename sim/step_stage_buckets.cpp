// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/invariant.hpp"
#include "sim/step_pieces.hpp"
#include "sim/step_stage.hpp"

// Buckets of gradients and gathers of weights: when they are handed over, and their rounds.

namespace payoff::sim {

bool StageRun::completes_gradients() const {
  return completes(operation_, plan_.layout.schedule) &&
         (plan_.reduces_every_micro_batch || operation_.micro_batch + 1 == plan_.layout.passes());
}

std::size_t StageRun::reductions() const {
  return plan_.reduces_every_micro_batch ? static_cast<std::size_t>(plan_.layout.passes()) : 1;
}

void StageRun::release_buckets(bool all) {
  const std::vector<Bucket>& buckets = plan_.buckets(stage_);
  while (next_bucket_ < buckets.size() &&
         (all || static_cast<std::size_t>(buckets[next_bucket_].ready_after) < piece_)) {
    next_round(plan_.kind(buckets[next_bucket_]), next_bucket_, 0,
               stream(StreamKind::compute).path);
    ++next_bucket_;
  }
}

// Those of the pieces of an operation; of a micro-batch that finds the weights kept there are none.
void StageRun::begin_weights(const PieceRange& pieces) {
  const PieceRange own = gathers_in(gathers(), pieces);
  const bool kept = plan_.gathers_once && operation_.micro_batch > 0;
  needed_ = fetched_ = gathered_ = own.begin;
  gather_end_ = kept ? own.begin : own.end;
}

// Hands over the gathers up to the unit of the present piece and, once they have come, the one
// after it when communication overlaps. Whether there was any.
bool StageRun::fetch_weights() {
  const std::vector<WeightGather>& weights = gathers();
  while (needed_ < gather_end_ && weights[needed_].needed_by <= piece_) {
    ++needed_;
  }
  const bool ahead = plan_.overlap && gathered_ >= needed_;
  const std::size_t wanted = std::min(gather_end_, needed_ + (ahead ? 1 : 0));
  const std::size_t before = fetched_;
  for (; fetched_ < wanted; ++fetched_) {
    next_round(plan_.kinds[weights[fetched_].kind], fetched_, 0, stream(StreamKind::compute).path);
  }
  return fetched_ > before;
}

void StageRun::next_round(const BucketKind& kind, std::size_t index, std::size_t round,
                          const Path& path) {
  const HostWork& host = host_part(kind, round);
  if (host.any && (!host.from_gpu || gpu_part(kind, round).alone <= 0_s)) {
    begin_host(host.from_gpu ? StreamKind::copy_out : StreamKind::cores, kind, index, round, path);
    return;
  }
  begin_on_gpu(kind, index, round, path);
}

// The GPU's part of a round, or of the decoder.
void StageRun::begin_on_gpu(const BucketKind& kind, std::size_t index, std::size_t round,
                            const Path& path) {
  const bool sends = round < kind.rounds.size();
  const payoff::Work& work = gpu_part(kind, round);
  // Rounded one by one, the parts may be a picosecond longer than the whole.
  const SimTime alone = time_for(work);
  const SimTime copy = std::min(time_of(work.bucket_copy * slowdown_), alone);
  const SimTime update = std::min(time_of(work.update * slowdown_), alone - copy);
  stream(codec_stream())
      .queue.push_back({sends ? Task::Role::encode : Task::Role::decode, cause_of(work.kind), alone,
                        index, round, path, copy, work.memory_share, &kind, nullptr, 0, update});
}

// Messages of gradients and weights wait in the queue of their stream until the group starts them.
void StageRun::hand_over(const Task& task, const Message& message) {
  if (task.role == Task::Role::gather && task.alone.picoseconds == 0) {
    begin(StreamKind::gradients, task);  // there is none: nobody waits for anybody
    return;
  }
  const StreamKind kind = message.from_host ? StreamKind::host_messages : StreamKind::gradients;
  Stream& s = stream(kind);
  s.queue.push_back(task);
  s.queue.back().message = &message;
  meetings_.hand_over(place_, kind, {&message, task.index, task.round}, task.ready);
}

StageRun::Task StageRun::take_handed_over(StreamKind kind, const MessageId& id) {
  std::vector<Task>& queue = stream(kind).queue;
  const auto found = std::find_if(queue.begin(), queue.end(), [&](const Task& task) {
    return id == MessageId{task.message, task.index, task.round};
  });
  PAYOFF_INVARIANT(found != queue.end(), "a message starts that nobody has handed over");
  const Task task = *found;
  queue.erase(found);
  return task;
}

void StageRun::message_started(StreamKind kind, const MessageId& id, const PreparedMessage& message,
                               std::size_t flight, const Path& path) {
  Stream& s = stream(kind);
  if (kind != StreamKind::compute) {
    s.task = take_handed_over(kind, id);
    s.busy = true;
  }
  if (s.path.end() < engine_.now()) {
    s.path = path;
  }
  PAYOFF_INVARIANT(s.path.end() == engine_.now(), "a message starts before what it waited for");
  s.since = engine_.now();
  s.rate = 1;
  s.rate_since = engine_.now();
  s.held_back = 0.0;
  s.message = &message;
  s.flight = flight;
}

void StageRun::message_passed(StreamKind kind, const MessageId& id, const Path& path) {
  Stream& s = stream(kind);
  const Task task = take_handed_over(kind, id);
  if (s.path.end() < engine_.now()) {
    s.path = path;
  }
  ended(kind, task);
}

}  // namespace payoff::sim
