// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace payoff {
namespace {

using Step = PipelineProgram::Step;

// One run of a program.
class Pipeline {
 public:
  Pipeline(const std::vector<StageDurations>& stages, const PipelineProgram& program)
      : stages_(stages),
        dates_(program.dates()),
        next_last_(program.lasts().begin()),
        spans_(stages.size()) {}

  // Runs an operation, and sends its output on.
  OperationDates run(const Step& step) {
    StageSpan& span = spans_[step.stage];
    const double arrival = dates_[step.input];
    const double start = std::max(span.end.si, arrival);
    if (step.is_last) {
      begin_last(step, arrival, start, span);
    }
    const StageDurations& durations = stages_[step.stage];
    const ChunkDurations& chunk = durations.chunks[step.chunk];
    double end = start + time_of(step, chunk);
    if (span.sends.until() > start && durations.beside_send.slow()) {
      const double more =
          slowed(pieces_of(step, chunk), span.sends.until() - start, durations.beside_send);
      end += more;
      span.slowed.si += more;
    }
    span.end = {end};
    if (step.is_last) {
      span.last.back().end = span.end;
    }
    return {end, pass_on(step, end, span), span.slowed.si};
  }

  // A forward and a backward as one, when both have their inputs.
  void run_pair(const Step& forward, const Step& backward, PairTimes& pairs) {
    StageSpan& span = spans_[forward.stage];
    const double start = std::max({span.end.si, dates_[forward.input], dates_[backward.input]});
    const PairSpan pair = pairs.run(forward.stage, forward.chunk, span.sends.until() - start);
    span.pairs += pair.effect;
    span.end.si = start + pair.time;
    (void)pass_on(forward, span.end.si, span);
    (void)pass_on(backward, span.end.si, span);
  }

  std::vector<StageSpan> take_spans() { return std::move(spans_); }

 private:
  static double time_of(const Step& step, const ChunkDurations& chunk) {
    return (step.work == PipelineWork::weights   ? chunk.weights
            : step.work == PipelineWork::forward ? chunk.forward
                                                 : chunk.backward)
        .si;
  }
  static std::span<const Piece> pieces_of(const Step& step, const ChunkDurations& chunk) {
    return step.work == PipelineWork::weights   ? chunk.weight_pieces
           : step.work == PipelineWork::forward ? chunk.forward_pieces
                                                : chunk.backward_pieces;
  }

  // How long the output of an operation travels; the ends of the chain send none.
  [[nodiscard]] Seconds send_of(const Step& step) const {
    const StageDurations& durations = stages_[step.stage];
    return step.toward == Toward::next_stage       ? durations.send_forward
           : step.toward == Toward::previous_stage ? durations.send_backward
                                                   : Seconds{};
  }

  void begin_last(const Step& step, double arrival, double start, StageSpan& span) {
    if (span.last.empty()) {
      span.sends_before_last = span.sends;
      span.slowed_before_last = span.slowed;
    }
    const PipelineProgram::Last& last = *next_last_++;
    span.last.push_back({last.operation,
                         last.last_micro_batch,
                         {arrival},
                         {start},
                         {},
                         step.toward,
                         send_of(step),
                         last.from_stage,
                         last.from_place});
  }

  // When it has come.
  double pass_on(const Step& step, double end, StageSpan& span) {
    return dates_[step.output] = span.sends.send(step.toward, end, send_of(step).si);
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
  std::vector<double> dates_;  // of inputs, as the program numbers them
  std::vector<PipelineProgram::Last>::const_iterator next_last_;
  std::vector<StageSpan> spans_;
};

std::vector<StageSpan> run_program(const std::vector<StageDurations>& stages,
                                   const PipelineProgram& program,
                                   std::vector<std::vector<OperationDates>>* dates,
                                   PairTimes* pairs) {
  Pipeline pipeline(stages, program);
  if (dates != nullptr) {
    dates->assign(stages.size(), {});
  }
  const std::vector<Step>& steps = program.steps();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].begins_pair) {
      pipeline.run_pair(steps[i], steps[i + 1], *pairs);
      i += operations_of_pair - 1;
      continue;
    }
    const OperationDates left = pipeline.run(steps[i]);
    if (dates != nullptr) {
      (*dates)[steps[i].stage].push_back(left);
    }
  }
  return pipeline.take_spans();
}

}  // namespace

std::vector<StageSpan> run_every_micro_batch(const std::vector<StageDurations>& stages,
                                             int micro_batches, PipelineSchedule schedule,
                                             std::vector<std::vector<OperationDates>>* dates,
                                             PairTimes* pairs, PipelinePrograms* programs) {
  const PipelineShape shape{static_cast<int>(stages.size()),
                            static_cast<int>(stages.front().chunks.size()), micro_batches, schedule,
                            pairs != nullptr};
  return programs != nullptr && PipelinePrograms::is_short(shape)
             ? run_program(stages, programs->of(shape), dates, pairs)
             : run_program(stages, PipelineProgram(shape), dates, pairs);
}

}  // namespace payoff
