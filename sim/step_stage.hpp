// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/paired_pieces.hpp"
#include "model/schedule.hpp"
#include "model/step_plan.hpp"
#include "sim/engine.hpp"
#include "sim/links.hpp"
#include "sim/meetings.hpp"
#include "sim/path.hpp"
#include "sim/place.hpp"
#include "sim/stage_inputs.hpp"
#include "sim/step.hpp"
#include "sim/step_account.hpp"

// One place of a simulated step: a GPU of a pipeline stage with its streams. It is told what
// has ended and what has arrived, and starts whatever can start. Rules:
//
// * Codec work that waits on the compute stream goes before the next piece of an operation; a
//   piece's message follows its work at once, and the compute stream waits for it.
// * An operation starts when the one before it has ended and its input is there. The next one is
//   not taken before.
// * Gradient messages run one at a time, in the order in which they were handed over (by the last
//   rank of their group: sim/meetings).
// * Sharded weights (zero 3): a gather is handed over when the unit before it begins, and the first
//   piece of a unit waits for its own.
// * What of a codec runs on the host (sim/step_stage_host) goes through four more streams, each of
//   which takes one thing at a time; compute goes on beside it.
// * A forward and a backward that run as one (sim/step_stage_pair, model/paired_pieces) start when
//   both have their inputs; their messages go on a stream of their own.
// * When all is decoded: the sum of the embedding that both ends of the pipeline hold, optimizer,
//   gather of the weights, host.

namespace payoff::sim {

// Four serve codecs that run on the host: engines that copy to its memory and back, the part of its
// cores that this GPU has, messages between hosts. The last one has what pairs send beside work.
enum class StreamKind : std::uint8_t {
  compute,
  codec,
  gradients,
  copy_out,
  cores,
  host_messages,
  copy_in,
  exchange
};
inline constexpr std::size_t stream_count = 7;  // of every place: `exchange` is one more

[[nodiscard]] constexpr bool is_of_host(StreamKind kind) {
  return kind > StreamKind::gradients && kind < StreamKind::exchange;
}

// Bits 34 to 39 of the key of what runs on a stream.
[[nodiscard]] constexpr std::uint64_t key_bits(StreamKind kind) {
  // Only messages of groups go on it, and those of the codec's stream are none.
  const auto number =
      static_cast<std::uint64_t>(kind == StreamKind::exchange ? StreamKind::codec : kind);
  return number < 3 ? number << 38U
                    : (std::uint64_t{3} << 38U) | (std::uint64_t{1} << 36U) | (number - 3) << 34U;
}

class StageRun {
 public:
  StageRun(const StepPlan& plan, const Places& places, std::size_t place, Engine& engine,
           Links& links, Meetings& meetings, TraceWriter* trace);

  // Of work on a stream of this place, at the present date.
  void task_ended(StreamKind kind);
  // A message that this place has handed over starts, or takes no time. `path` led to its start.
  void message_started(StreamKind kind, const MessageId& id, const PreparedMessage& message,
                       std::size_t flight, const Path& path);
  void message_passed(StreamKind kind, const MessageId& id, const Path& path);
  // By how much the memory of this GPU has held back the message that ends now; then its end.
  [[nodiscard]] SimTime held_back(StreamKind kind);
  void message_ended(StreamKind kind, SimTime by_memory);
  [[nodiscard]] bool is_busy(StreamKind kind) const { return stream(kind).busy; }
  [[nodiscard]] double rate(StreamKind kind) const { return stream(kind).rate; }
  [[nodiscard]] const Path& path(StreamKind kind) const { return stream(kind).path; }
  // The input of an operation is on its way, and has come.
  void input_sent(const Operation& operation) { inputs_.sent(operation); }
  void input_arrived(const Operation& operation, const Path& path) {
    inputs_.arrived(operation, path);
  }
  // One of its outputs leaves, or has arrived elsewhere: meanwhile it holds compute units.
  void send_begins() { ++sends_; }
  void send_ends() { --sends_; }
  // Starts all that can; then what ended is in ended_operations(), to be sent on and cleared.
  void advance();

  struct Ended {
    Operation operation;
    Path path;
  };
  [[nodiscard]] std::vector<Ended>& ended_operations() { return ended_; }

  [[nodiscard]] bool is_over() const { return phase_ == Phase::over; }
  // What one takes in memory, without what it lists.
  [[nodiscard]] static Bytes size(const StepPlan& plan) {
    const std::size_t of_pair = plan.layout.overlaps_pairs() ? sizeof(Pair) : 0;
    return Bytes{static_cast<double>(sizeof(StageRun) + of_pair)};
  }
  // What led to the end of its last task.
  [[nodiscard]] const Path& path() const { return last_path_; }
  [[nodiscard]] const StageAccount& account() const { return account_; }
  [[nodiscard]] Bytes dp_bytes() const { return dp_bytes_; }
  [[nodiscard]] Bytes tp_bytes() const { return tp_bytes_; }
  [[nodiscard]] Bytes cp_bytes() const { return cp_bytes_; }
  [[nodiscard]] Bytes ep_bytes() const { return ep_bytes_; }
  // Of the message that the GPU's memory made latest.
  [[nodiscard]] SimTime max_memory_delay() const { return max_memory_delay_; }

 private:
  struct Task {
    enum class Role : std::uint8_t {
      piece,
      piece_message,
      encode,
      bucket_message,
      copy_out,
      cores,
      copy_in,
      decode,
      optimizer,
      tied_sum,
      gather,
      host
    };
    Role role{};
    Cause cause{};
    SimTime alone;
    std::size_t index{};  // of the piece, bucket or gather
    std::size_t round{};
    Path ready;      // of what it waited for, other than its stream
    SimTime copy{};  // the part of codec work that fills or empties a bucket
    double memory_share{};
    const BucketKind* kind{};  // of a bucket or gather
    const Message* message{};  // of a message
    std::size_t mix{};         // of a piece's kernels
    SimTime update{};          // the part of codec work that updates the bucket's weights
  };
  struct Stream {
    // First in, first out; `head` is the next to run. Of gradients: handed over, not yet started.
    std::vector<Task> queue;
    std::size_t head{};
    bool busy{};
    Task task;
    SimTime since;
    double rate = 1;
    SimTime rate_since;
    double held_back{};  // by lower rates before, in picoseconds
    Path path;           // up to the end of its last task
    ActivityId activity;
    const PreparedMessage* message{};  // in flight, else null
    PreparedMessage load;              // of a copy or of the cores, on what others share
    std::size_t flight{};
    std::uint64_t count{};

    [[nodiscard]] bool waiting() const { return head < queue.size(); }
  };
  // A forward and a backward as one, in a plan that has such.
  struct Pair {
    std::array<std::vector<PairedPiece>, 2> pieces;  // by chunk of the forward
    Stream exchange;
    bool runs{};
    std::array<Operation, operations_of_pair> operations;
    std::size_t next{};           // of its pieces
    std::array<bool, 2> waits{};  // for a message of the forward, of the backward
    std::array<Path, 2> message;  // up to the end of the last one
  };
  enum class Phase : std::uint8_t {
    operations,
    tied_sum,
    optimizer,
    gather,
    gather_experts,
    host,
    over
  };

  [[nodiscard]] Stream& stream(StreamKind kind) {
    return kind == StreamKind::exchange ? pair_->exchange
                                        : streams_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const Stream& stream(StreamKind kind) const {
    return kind == StreamKind::exchange ? pair_->exchange
                                        : streams_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] bool runs_pair() const { return pair_ != nullptr && pair_->runs; }
  [[nodiscard]] StreamKind codec_stream() const;
  [[nodiscard]] const std::vector<Piece>& pieces() const;
  [[nodiscard]] const Message& piece_message(std::size_t piece) const;
  [[nodiscard]] static Cause message_cause(const Message& message);
  [[nodiscard]] Bytes& bytes_of(const Task& task);
  [[nodiscard]] SimTime time_for(const payoff::Work& work) const;

  void find_messages(const std::vector<Piece>& pieces, std::vector<std::size_t>& indices);
  bool begin_next(StreamKind kind);
  bool begin_compute();
  bool begin_operation();
  bool begin_pair();
  bool begin_pair_piece();
  void pair_piece_ended(const Task& task, const Path& path);
  void pair_message_ended(const Task& task, const Path& path);
  void end_pair(const Path& path);
  [[nodiscard]] const Piece& piece_of(const PairedPiece& paired) const;
  [[nodiscard]] bool exchanges() const {
    return pair_ != nullptr && (pair_->exchange.busy || pair_->exchange.waiting());
  }
  bool begin_last_tasks();
  void sum_tied();
  void gather_updated(const Message& weights);
  void begin(StreamKind kind, const Task& task);
  void start_activity(StreamKind kind);
  void hand_over(const Task& task, const Message& message);
  [[nodiscard]] Task take_handed_over(StreamKind kind, const MessageId& id);
  void ended(StreamKind kind, const Task& task);
  void piece_ended();
  void operation_ended();
  void release_buckets(bool all);
  void next_round(const BucketKind& kind, std::size_t index, std::size_t round, const Path& path);
  void begin_on_gpu(const BucketKind& kind, std::size_t index, std::size_t round, const Path& path);
  void begin_host(StreamKind kind, const BucketKind& of, std::size_t index, std::size_t round,
                  const Path& path);
  void after_gpu(const Task& task);
  void after_host(const Task& task);
  void send_round(const BucketKind& kind, std::size_t index, std::size_t round, const Path& path);
  bool begin_host_streams();
  void start_on_host(StreamKind kind, std::uint64_t key, std::uint64_t tag);
  [[nodiscard]] double copy_memory_share() const;
  void find_host_activity(StageActivity& activity) const;
  [[nodiscard]] bool completes_gradients() const;
  [[nodiscard]] const std::vector<WeightGather>& gathers() const;
  void begin_weights(const PieceRange& pieces);
  bool fetch_weights();
  [[nodiscard]] bool waits_for_weights() const;
  [[nodiscard]] std::size_t reductions() const;
  void count_bytes(const Stream& stream);
  [[nodiscard]] static bool is_codec(const Stream& stream);
  void set_rates();
  void set_rate(Stream& s, double rate);
  void finish(StreamKind kind);
  [[nodiscard]] StageActivity activity();
  void write_trace(StreamKind kind) const;
  [[nodiscard]] std::string item_of(const Task& task) const;

  const StepPlan& plan_;
  std::size_t place_;
  std::size_t stage_;
  bool one_of_several_;  // places of its stage
  double slowdown_;
  Engine& engine_;
  Links& links_;
  Meetings& meetings_;
  TraceWriter* trace_;
  StageSchedule schedule_;

  bool on_host_;  // some codec runs there
  std::array<Stream, stream_count> streams_;
  std::vector<const Message*> messages_;  // of pieces, each different one once
  std::vector<std::size_t> forward_messages_;
  std::vector<std::size_t> backward_messages_;

  int next_operation_ = 0;
  Operation operation_;  // the present one, pieces [piece_, piece_end_) are left of it
  std::size_t piece_ = 0;
  std::size_t piece_end_ = 0;
  std::unique_ptr<Pair> pair_;  // none: nothing runs as one
  StageInputs inputs_;
  int sends_ = 0;  // in flight
  // Gathers of the present operation, the last ones of gathers() but those from `gather_end_` on:
  // needed by now, handed over, and come.
  std::size_t needed_ = 0;
  std::size_t fetched_ = 0;
  std::size_t gathered_ = 0;
  std::size_t gather_end_ = 0;
  Path gathered_path_;
  std::size_t next_bucket_ = 0;
  std::size_t decoded_ = 0;
  Phase phase_ = Phase::operations;

  std::vector<Ended> ended_;
  Path last_path_;
  StageAccount account_;
  Bytes dp_bytes_{};
  Bytes tp_bytes_{};
  Bytes cp_bytes_{};
  Bytes ep_bytes_{};
  SimTime max_memory_delay_;
};

}  // namespace payoff::sim
