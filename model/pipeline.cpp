// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <cstddef>

#include "model/schedule.hpp"

namespace payoff {
namespace {

// When an input comes, and which of the last operations of which other stage it comes from.
struct Arrival {
  static constexpr double not_yet = -1.0;

  double date{not_yet};
  std::size_t stage{StageOperation::none};
  std::size_t place{};
};

// Less on the 32 bits that the page is compiled for.
static_assert(sizeof(Arrival) <= bytes_of_pipeline_input);

// Of the inputs of all operations, by stage, chunk and micro-batch.
class Arrivals {
 public:
  Arrivals(int stages, int chunks, int micro_batches)
      : chunks_(static_cast<std::size_t>(chunks)),
        micro_batches_(static_cast<std::size_t>(micro_batches)),
        arrivals_(static_cast<std::size_t>(stages) * chunks_ * micro_batches_) {}

  Arrival& at(int stage, const Operation& operation) {
    return arrivals_[(static_cast<std::size_t>(stage) * chunks_ +
                      static_cast<std::size_t>(operation.chunk)) *
                         micro_batches_ +
                     static_cast<std::size_t>(operation.micro_batch)];
  }

 private:
  std::size_t chunks_;
  std::size_t micro_batches_;
  std::vector<Arrival> arrivals_;
};

class Pipeline {
 public:
  Pipeline(const std::vector<StageDurations>& stages, int micro_batches, PipelineSchedule schedule)
      : stages_(stages),
        schedule_(schedule),
        count_(static_cast<int>(stages.size())),
        chunks_(static_cast<int>(stages.front().chunks.size())),
        forward_(count_, chunks_, micro_batches),
        backward_(count_, chunks_, micro_batches) {
    for (int m = 0; m < micro_batches; ++m) {
      forward_.at(0, {true, 0, m}) = {0.0};
    }
  }

  // When the input of an operation has arrived, or Arrival::not_yet.
  Arrival input(int stage, const Operation& op) {
    if (op.of_weights) {
      return {0.0};  // the gradients of inputs went before it
    }
    return (op.is_forward ? forward_ : backward_).at(stage, op);
  }

  // Runs an operation, and sends its output on.
  OperationDates run(int stage, const Operation& op, double start, StageSpan& span) {
    const StageDurations& durations = stages_[static_cast<std::size_t>(stage)];
    const ChunkDurations& chunk = durations.chunks[static_cast<std::size_t>(op.chunk)];
    double end = start + time_of(op, chunk).si;
    if (span.sends.until() > start && durations.beside_send.slow()) {
      const double more =
          slowed(pieces_of(op, chunk), span.sends.until() - start, durations.beside_send);
      end += more;
      span.slowed.si += more;
    }
    span.end = {end};
    return {end, pass_on(stage, op, end, span), span.slowed.si};
  }

  // A forward and a backward as one, when both have their inputs.
  void run_pair(int stage, const StageSchedule& order, int index, PairTimes& pairs,
                StageSpan& span) {
    const Operation& forward = order[index];
    const Operation& backward = order[index + 1];
    const double start =
        std::max({span.end.si, input(stage, forward).date, input(stage, backward).date});
    const auto at = static_cast<std::size_t>(stage);
    const PairSpan pair = pairs.run(at, forward.chunk, span.sends.until() - start);
    span.pairs += pair.effect;
    span.end.si = start + pair.time;
    (void)pass_on(stage, forward, span.end.si, span);
    (void)pass_on(stage, backward, span.end.si, span);
  }

  [[nodiscard]] Toward toward(int stage, const Operation& op) const {
    return consumer_of(op, stage, count_, chunks_, schedule_).toward;
  }
  // How long the output of an operation travels; the ends of the chain send none.
  [[nodiscard]] Seconds send_of(int stage, Toward toward) const {
    const StageDurations& durations = stages_[static_cast<std::size_t>(stage)];
    return toward == Toward::next_stage       ? durations.send_forward
           : toward == Toward::previous_stage ? durations.send_backward
                                              : Seconds{};
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

  // Once a stage has a last operation, the ones that follow are last ones too. When it has come.
  double pass_on(int stage, const Operation& op, double end, StageSpan& span) {
    const Consumer consumer = consumer_of(op, stage, count_, chunks_, schedule_);
    if (consumer.toward == Toward::nobody) {
      return end;
    }
    const Toward toward = consumer.toward;
    Arrival arrival{span.sends.send(toward, end, send_of(stage, toward).si)};
    int to = stage;
    if (toward != Toward::same_stage) {
      to = toward == Toward::next_stage ? stage_after(stage, count_, schedule_)
                                        : (stage + count_ - 1) % count_;
      if (!span.last.empty()) {
        arrival.stage = static_cast<std::size_t>(stage);
        arrival.place = span.last.size() - 1;
      }
    }
    (consumer.operation.is_forward ? forward_ : backward_).at(to, consumer.operation) = arrival;
    return arrival.date;
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

  const std::vector<StageDurations>& stages_;
  PipelineSchedule schedule_;
  int count_;
  int chunks_;
  Arrivals forward_;
  Arrivals backward_;
};

}  // namespace

std::vector<StageSpan> run_every_micro_batch(const std::vector<StageDurations>& stages,
                                             int micro_batches, PipelineSchedule schedule,
                                             std::vector<std::vector<OperationDates>>* dates,
                                             PairTimes* pairs) {
  const int count = static_cast<int>(stages.size());
  const int chunks = static_cast<int>(stages.front().chunks.size());
  Pipeline pipeline(stages, micro_batches, schedule);
  std::vector<StageSchedule> orders;
  orders.reserve(stages.size());
  for (int s = 0; s < count; ++s) {
    orders.emplace_back(s, count, micro_batches, chunks, schedule);
  }
  std::vector<int> next(stages.size(), 0);
  std::vector<StageSpan> spans(stages.size());
  if (dates != nullptr) {
    dates->assign(stages.size(), {});
    for (std::size_t s = 0; s < stages.size(); ++s) {
      (*dates)[s].reserve(static_cast<std::size_t>(orders[s].size()));
    }
  }

  // Every sweep runs each stage as far as its inputs allow; a valid schedule always advances.
  for (bool advanced = true; advanced;) {
    advanced = false;
    for (int s = 0; s < count; ++s) {
      const auto at = static_cast<std::size_t>(s);
      StageSpan& span = spans[at];
      for (; next[at] < orders[at].size(); ++next[at]) {
        const Operation op = orders[at][next[at]];
        const Arrival input = pipeline.input(s, op);
        if (input.date == Arrival::not_yet) {
          break;
        }
        if (pairs != nullptr && orders[at].begins_pair(next[at])) {
          // No forward follows on what completes gradients: none of them is a last one.
          if (pipeline.input(s, orders[at][next[at] + 1]).date == Arrival::not_yet) {
            break;
          }
          pipeline.run_pair(s, orders[at], next[at], *pairs, span);
          next[at] += operations_of_pair - 1;
          advanced = true;
          continue;
        }
        const bool last_micro_batch =
            completes(op, schedule) && op.micro_batch + 1 == micro_batches;
        // What waits for a last one of another stage may be delayed with it.
        const bool is_last = last_micro_batch || input.stage != StageOperation::none;
        if (is_last && span.last.empty()) {
          span.sends_before_last = span.sends;
          span.slowed_before_last = span.slowed;
        }
        const double start = std::max(span.end.si, input.date);
        if (is_last || !span.last.empty()) {
          const Toward toward = pipeline.toward(s, op);
          span.last.push_back({op,
                               last_micro_batch,
                               {input.date},
                               {start},
                               {},
                               toward,
                               pipeline.send_of(s, toward),
                               input.stage,
                               input.place});
        }
        const OperationDates left = pipeline.run(s, op, start, span);
        if (dates != nullptr) {
          (*dates)[at].push_back(left);
        }
        if (!span.last.empty()) {
          span.last.back().end = span.end;
        }
        advanced = true;
      }
    }
  }
  return spans;
}

}  // namespace payoff
