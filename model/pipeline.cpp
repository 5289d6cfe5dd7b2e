// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <cstddef>

#include "model/schedule.hpp"

namespace payoff {
namespace {

// Ends of all operations, by stage, chunk and micro-batch.
class Ends {
 public:
  Ends(int stages, int chunks, int micro_batches)
      : chunks_(static_cast<std::size_t>(chunks)),
        micro_batches_(static_cast<std::size_t>(micro_batches)),
        ends_(static_cast<std::size_t>(stages) * chunks_ * micro_batches_, not_done) {}

  static constexpr double not_done = -1.0;

  double& at(int stage, int chunk, int micro_batch) {
    return ends_[(static_cast<std::size_t>(stage) * chunks_ + static_cast<std::size_t>(chunk)) *
                     micro_batches_ +
                 static_cast<std::size_t>(micro_batch)];
  }

 private:
  std::size_t chunks_;
  std::size_t micro_batches_;
  std::vector<double> ends_;
};

class Pipeline {
 public:
  Pipeline(const std::vector<StageDurations>& stages, int micro_batches, int chunks)
      : stages_(stages),
        last_(static_cast<int>(stages.size()) - 1),
        chunks_(chunks),
        forward_ends_(last_ + 1, chunks, micro_batches),
        backward_ends_(last_ + 1, chunks, micro_batches) {}

  // When the input of an operation has arrived, or Ends::not_done.
  double input_arrival(int stage, const Operation& op) {
    if (op.of_weights) {
      return 0.0;  // the gradients of inputs went before it
    }
    return op.is_forward ? forward_input(stage, op) : backward_input(stage, op);
  }

  // Runs an operation, and sends its output on.
  void run(int stage, const Operation& op, double start, StageSpan& span) {
    const StageDurations& durations = stages_[static_cast<std::size_t>(stage)];
    const ChunkDurations& chunk = durations.chunks[static_cast<std::size_t>(op.chunk)];
    double end = start + time_of(op, chunk).si;
    if (span.sending.si > start && durations.beside_send.slow()) {
      const double more =
          slowed(pieces_of(op, chunk), span.sending.si - start, durations.beside_send);
      end += more;
      span.slowed.si += more;
    }
    if (!op.of_weights) {
      (op.is_forward ? forward_ends_ : backward_ends_).at(stage, op.chunk, op.micro_batch) = end;
    }
    span.end = {end};
    span.sending = std::max(span.sending, span.end + send_of(stage, op));
  }

  // How long the output of an operation travels; the ends of the chain send none.
  [[nodiscard]] Seconds send_of(int stage, const Operation& op) const {
    const StageDurations& durations = stages_[static_cast<std::size_t>(stage)];
    if (op.of_weights) {
      return {};
    }
    if (op.is_forward) {
      return stage == last_ && op.chunk + 1 == chunks_ ? Seconds{} : durations.send_forward;
    }
    return stage == 0 && op.chunk == 0 ? Seconds{} : durations.send_backward;
  }

 private:
  static Seconds time_of(const Operation& op, const ChunkDurations& chunk) {
    return op.of_weights ? chunk.weights : op.is_forward ? chunk.forward : chunk.backward;
  }
  static std::span<const Piece> pieces_of(const Operation& op, const ChunkDurations& chunk) {
    return op.of_weights   ? chunk.weight_pieces
           : op.is_forward ? chunk.forward_pieces
                           : chunk.backward_pieces;
  }

  double forward_input(int stage, const Operation& op) {
    if (stage == 0 && op.chunk == 0) {
      return 0.0;
    }
    const int from = stage == 0 ? last_ : stage - 1;
    const int chunk = stage == 0 ? op.chunk - 1 : op.chunk;
    return arrival(forward_ends_.at(from, chunk, op.micro_batch),
                   stages_[static_cast<std::size_t>(from)].send_forward);
  }

  double backward_input(int stage, const Operation& op) {
    if (stage == last_ && op.chunk == chunks_ - 1) {
      return forward_ends_.at(stage, op.chunk, op.micro_batch);
    }
    const int from = stage == last_ ? 0 : stage + 1;
    const int chunk = stage == last_ ? op.chunk + 1 : op.chunk;
    return arrival(backward_ends_.at(from, chunk, op.micro_batch),
                   stages_[static_cast<std::size_t>(from)].send_backward);
  }

  // How much longer pieces take at these paces, as long as a send is in flight.
  static double slowed(std::span<const Piece> pieces, double sending, const Paces& paces) {
    double time = 0.0;
    double more = 0.0;
    for (const Piece& piece : pieces) {
      if (time >= sending) {
        break;
      }
      const double work = piece.work.alone.si;
      const double rate = paces[piece.work.mix].rate;
      const double beside = std::min(work / rate, sending - time);
      more += beside * (1.0 - rate);
      time += work + beside * (1.0 - rate) + piece.message.alone.si;
    }
    return more;
  }

  static double arrival(double end, Seconds send) {
    return end == Ends::not_done ? Ends::not_done : end + send.si;
  }

  const std::vector<StageDurations>& stages_;
  int last_;
  int chunks_;
  Ends forward_ends_;
  Ends backward_ends_;
};

}  // namespace

std::vector<StageSpan> run_pipeline(const std::vector<StageDurations>& stages, int micro_batches,
                                    PipelineSchedule schedule) {
  const int count = static_cast<int>(stages.size());
  const int chunks = static_cast<int>(stages.front().chunks.size());
  Pipeline pipeline(stages, micro_batches, chunks);
  std::vector<StageSchedule> orders;
  orders.reserve(stages.size());
  for (int s = 0; s < count; ++s) {
    orders.emplace_back(s, count, micro_batches, chunks, schedule);
  }
  std::vector<int> next(stages.size(), 0);
  std::vector<StageSpan> spans(stages.size());

  // Every sweep runs each stage as far as its inputs allow; a valid schedule always advances.
  for (bool advanced = true; advanced;) {
    advanced = false;
    for (int s = 0; s < count; ++s) {
      const auto at = static_cast<std::size_t>(s);
      StageSpan& span = spans[at];
      for (; next[at] < orders[at].size(); ++next[at]) {
        const Operation op = orders[at][next[at]];
        const double arrival = pipeline.input_arrival(s, op);
        if (arrival == Ends::not_done) {
          break;
        }
        const bool last_micro_batch =
            completes(op, schedule) && op.micro_batch + 1 == micro_batches;
        if (last_micro_batch && span.last.empty()) {
          span.sending_before_last = span.sending;
          span.slowed_before_last = span.slowed;
        }
        const double start = std::max(span.end.si, arrival);
        pipeline.run(s, op, start, span);
        if (last_micro_batch || !span.last.empty()) {
          span.last.push_back(
              {op.chunk, last_micro_batch, {arrival}, {start}, span.end, pipeline.send_of(s, op)});
        }
        advanced = true;
      }
    }
  }
  return spans;
}

}  // namespace payoff
