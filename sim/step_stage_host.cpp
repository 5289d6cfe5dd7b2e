// SPDX-License-Identifier: Apache-2.0
#include "sim/step_pieces.hpp"
#include "sim/step_stage.hpp"

// Codecs on the host: after the GPU's part of a round its data is copied out, encoded by the cores
// and sent from there; what comes is decoded there and copied back. Each of these is a stream of
// the GPU's own; what it shares with others is in Links.

namespace payoff::sim {

bool StageRun::begin_host_streams() {
  return begin_next(StreamKind::copy_out) || begin_next(StreamKind::cores) ||
         begin_next(StreamKind::copy_in);
}

void StageRun::begin_host(StreamKind kind, const BucketKind& of, std::size_t index,
                          std::size_t round, const Path& path) {
  const bool sends = round < of.rounds.size();
  const HostWork& host = host_part(of, round);
  const bool works = kind == StreamKind::cores;
  const bool decodes = !sends || host.to_gpu;
  Task task{works                          ? Task::Role::cores
            : kind == StreamKind::copy_out ? Task::Role::copy_out
                                           : Task::Role::copy_in,
            decodes ? Cause::decode : Cause::encode,
            time_of(works ? host.work : host.copy),
            index,
            round,
            path};
  task.memory_share = works ? 0.0 : host.copy_memory_share;
  task.kind = &of;
  stream(kind).queue.push_back(task);
}

void StageRun::start_on_host(StreamKind kind, std::uint64_t key, std::uint64_t tag) {
  Stream& s = stream(kind);
  s.load = links_.prepare_on_host(host_part(*s.task.kind, s.task.round), s.task.alone, stage_,
                                  kind == StreamKind::cores);
  s.activity = links_.start(s.load, key, tag);
}

// Of an encoder.
void StageRun::after_gpu(const Task& task) {
  const Path& path = last_path_;
  if (host_part(*task.kind, task.round).any) {
    begin_host(StreamKind::copy_out, *task.kind, task.index, task.round, path);
  } else {
    send_round(*task.kind, task.index, task.round, path);
  }
}

// After the cores, and after a copy back.
void StageRun::after_host(const Task& task) {
  const bool sends = task.round < task.kind->rounds.size();
  const Path path = last_path_;
  if (task.role == Task::Role::cores && host_part(*task.kind, task.round).to_gpu) {
    begin_host(StreamKind::copy_in, *task.kind, task.index, task.round, path);
  } else if (sends) {
    send_round(*task.kind, task.index, task.round, path);
  } else {
    begin_on_gpu(*task.kind, task.index, task.round, path);
  }
}

void StageRun::send_round(const BucketKind& kind, std::size_t index, std::size_t round,
                          const Path& path) {
  const Message& message = kind.rounds[round].message;
  hand_over({Task::Role::bucket_message,
             Cause::dp_message,
             time_of(message.alone),
             index,
             round,
             path,
             {},
             {},
             &kind},
            message);
}

double StageRun::copy_memory_share() const {
  double share = 0.0;
  for (const StreamKind kind : {StreamKind::copy_out, StreamKind::copy_in}) {
    const Stream& copy = stream(kind);
    share += copy.busy ? copy.task.memory_share : 0.0;
  }
  return share;
}

// The GPU has nothing to run: it waits for the cores, else for messages, else for a copy.
void StageRun::find_host_activity(StageActivity& activity) const {
  const Stream& cores = stream(StreamKind::cores);
  const Stream& in = stream(StreamKind::copy_in);
  const Stream& copy = in.busy ? in : stream(StreamKind::copy_out);
  const Stream* waits_for = cores.busy ? &cores : !activity.dp_busy && copy.busy ? &copy : nullptr;
  if (waits_for != nullptr) {
    activity.doing = StageActivity::Doing::codec;
    activity.waits = false;
    activity.cause = waits_for->task.cause;
    activity.rate = 1;
    activity.copy_share = activity.update_share = 0.0;
  }
}

}  // namespace payoff::sim
