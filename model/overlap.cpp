// SPDX-License-Identifier: Apache-2.0
#include "model/overlap.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "model/interference.hpp"

namespace payoff {
namespace {

// A task of one stream: which bucket and round it serves, or the piece of backward it is.
struct Task {
  enum class Role { piece_work, piece_message, encode, message, decode };
  Role role{};
  WorkKind kind{};
  std::size_t index{};  // of the piece or the bucket
  std::size_t round{};
  double duration{};
  double copy_share{};  // of codec work: filling or emptying the bucket
};

struct Stream {
  std::vector<Task> queue;  // first-in, first-out; `head` is the next to run
  std::size_t head{};
  bool busy{};
  Task task{};
  double remaining{};

  [[nodiscard]] bool waiting() const { return head < queue.size(); }
  void push(const Task& task_in) { queue.push_back(task_in); }
  void begin(const Task& task_in) {
    task = task_in;
    remaining = task_in.duration;
    busy = true;
  }
  void begin_next() {
    if (!busy && waiting()) {
      begin(queue[head++]);
    }
  }
};

class Timeline {
 public:
  Timeline(const StepPlan& plan, std::size_t stage)
      : plan_(plan),
        backward_(plan.stages[stage].compute->backward),
        buckets_(plan.buckets(stage)),
        on_side_(plan.placement == Placement::side_stream),
        wait_for_backward_(!plan.overlap || plan.placement == Placement::after_backward),
        reserved_share_(plan.reserved_share) {}

  OverlapResult run() {
    for (start_tasks(); main_.busy || side_.busy || network_.busy; start_tasks()) {
      advance(time_to_next_completion());
    }
    result_.finish = {now_};
    return result_;
  }

 private:
  void start_tasks() {
    for (bool started = true; started;) {
      started = false;
      if (!main_.busy) {
        begin_main();
      }
      side_.begin_next();
      network_.begin_next();
      // Tasks that take no time finish at once, so that a plan with free codecs is exactly a plan
      // without them.
      for (Stream* stream : {&main_, &side_, &network_}) {
        if (stream->busy && stream->task.duration <= 0.0) {
          stream->busy = false;
          complete(stream->task);
          started = true;
        }
      }
    }
  }

  // Codec work goes before the next piece; a piece is its work, then its message.
  void begin_main() {
    if (main_.waiting()) {
      main_.begin_next();
      return;
    }
    if (next_piece_ < backward_.size()) {
      const Work& work = backward_[next_piece_].work;
      main_.begin({Task::Role::piece_work, work.kind, next_piece_, 0, work.alone.si});
      ++next_piece_;
    }
  }

  [[nodiscard]] static bool computes(const Stream& stream) {
    return stream.busy && stream.task.role != Task::Role::piece_message;
  }

  [[nodiscard]] double rate(const Stream& stream) const {
    if (!computes(stream) || &stream == &network_) {
      return 1.0;
    }
    const StreamRates rates =
        stream_rates(computes(main_), side_.busy, network_.busy ? reserved_share_ : 0.0);
    return &stream == &main_ ? rates.compute : rates.codec;
  }

  [[nodiscard]] double time_to_next_completion() const {
    double step = std::numeric_limits<double>::infinity();
    for (const Stream* stream : {&main_, &side_, &network_}) {
      if (stream->busy) {
        step = std::min(step, stream->remaining / rate(*stream));
      }
    }
    return step;
  }

  void advance(double step) {
    account(step);
    const double rates[] = {rate(main_), rate(side_), rate(network_)};
    now_ += step;
    Stream* const streams[] = {&main_, &side_, &network_};
    bool done[] = {false, false, false};
    for (std::size_t i = 0; i < 3; ++i) {
      if (streams[i]->busy) {
        done[i] = streams[i]->remaining / rates[i] <= step;
        streams[i]->remaining -= step * rates[i];
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (done[i]) {
        streams[i]->busy = false;
        complete(streams[i]->task);
      }
    }
  }

  // Attributes an interval to the stream on the critical path: compute while it works, then codecs
  // beside it, then the network.
  void account(double step) {
    if (network_.busy) {
      result_.dp_busy.si += step;
    }
    const Stream* critical = main_.busy ? &main_ : (side_.busy ? &side_ : &network_);
    if (critical == &network_) {
      result_.exposed_dp.si += step;
      return;
    }
    const double useful = step * rate(*critical);
    const double copy = critical->task.copy_share * useful;
    result_.bucket_copy.si += copy;
    term(critical->task).si += useful - copy;
    result_.interference.si += step - useful;
  }

  Seconds& term(const Task& task) {
    switch (task.role) {
      case Task::Role::piece_message:
        return result_.exposed_tp;
      case Task::Role::encode:
        return result_.encode;
      case Task::Role::decode:
        return result_.decode;
      default:
        return task.kind == WorkKind::recompute ? result_.recompute : result_.backward;
    }
  }

  void complete(const Task& task) {
    switch (task.role) {
      case Task::Role::piece_work:
        begin_piece_message(task.index);
        return;
      case Task::Role::piece_message:
        release_buckets(task.index);
        return;
      case Task::Role::encode: {
        const Message& message = plan_.kind(buckets_[task.index]).rounds[task.round].message;
        network_.push({Task::Role::message, {}, task.index, task.round, message.alone.si});
        return;
      }
      case Task::Role::message:
        next_round(task.index, task.round + 1);
        return;
      case Task::Role::decode:
        return;
    }
  }

  void begin_piece_message(std::size_t piece) {
    main_.begin({Task::Role::piece_message, {}, piece, 0, backward_[piece].message.alone.si});
  }

  void release_buckets(std::size_t piece) {
    const bool backward_done = piece + 1 == backward_.size();
    while (next_bucket_ < buckets_.size() &&
           (backward_done ||
            (!wait_for_backward_ &&
             static_cast<std::size_t>(buckets_[next_bucket_].ready_after) <= piece))) {
      next_round(next_bucket_++, 0);
    }
  }

  void next_round(std::size_t bucket, std::size_t round) {
    const BucketKind& b = plan_.kind(buckets_[bucket]);
    Stream& codec = on_side_ ? side_ : main_;
    if (round < b.rounds.size()) {
      codec.push(codec_task(Task::Role::encode, b.rounds[round].encode, bucket, round));
    } else {
      codec.push(codec_task(Task::Role::decode, b.decode, bucket, round));
    }
  }

  static Task codec_task(Task::Role role, const Work& work, std::size_t bucket, std::size_t round) {
    const double share = work.alone > 0_s ? work.bucket_copy / work.alone : 0.0;
    return {role, work.kind, bucket, round, work.alone.si, share};
  }

  const StepPlan& plan_;
  const std::vector<Piece>& backward_;
  const std::vector<Bucket>& buckets_;
  bool on_side_;
  bool wait_for_backward_;
  double reserved_share_;
  Stream main_;
  Stream side_;
  Stream network_;
  std::size_t next_piece_{};
  std::size_t next_bucket_{};
  double now_{};
  OverlapResult result_;
};

}  // namespace

OverlapResult overlap_gradients(const StepPlan& plan, std::size_t stage) {
  return Timeline(plan, stage).run();
}

}  // namespace payoff
