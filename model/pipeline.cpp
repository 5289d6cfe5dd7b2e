// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "model/recent_pipelines.hpp"

namespace payoff {
namespace {

using Step = PipelineProgram::Step;

// What a stage has done so far.
struct Progress {
  double end{};
  StageSends sends;
  double slowed{};
};

// One run of a program.
class Pipeline {
 public:
  Pipeline(const std::vector<StageDurations>& stages, const PipelineProgram& program)
      : stages_(stages),
        chunks_(stages.front().chunks.size()),
        dates_(program.dates()),
        next_last_(program.lasts().begin()),
        progress_(stages.size()),
        spans_(stages.size()) {
    times_.reserve(works * chunks_ * stages.size());
    sends_.reserve(towards * stages.size());
    for (const StageDurations& stage : stages) {
      for (const ChunkDurations& chunk : stage.chunks) {
        times_.insert(times_.end(), {chunk.forward.si, chunk.backward.si, chunk.weights.si});
      }
      sends_.insert(sends_.end(), {0.0, 0.0, stage.send_forward.si, stage.send_backward.si});
    }
  }

  // Runs an operation, and sends its output on.
  OperationDates run(const Step& step) {
    Progress& stage = progress_[step.stage];
    const double arrival = dates_[step.input];
    const double start = std::max(stage.end, arrival);
    if (step.is_last) {
      begin_last(step, arrival, start);
    }
    stage.end = start + times_[(step.stage * chunks_ + step.chunk) * works + work_of(step)];
    if (stage.sends.until() > start && stages_[step.stage].beside_send.slow()) {
      const double more =
          slowed(pieces_of(step), stage.sends.until() - start, stages_[step.stage].beside_send);
      stage.end += more;
      stage.slowed += more;
    }
    if (step.is_last) {
      spans_[step.stage].last.back().end = {stage.end};
    }
    return {stage.end, pass_on(step, stage), stage.slowed, spans_[step.stage].pairs};
  }

  // A forward and a backward as one, when both have their inputs: the dates of the three
  // operations.
  std::array<OperationDates, operations_of_pair> run_pair(const Step& forward, const Step& backward,
                                                          PairTimes& pairs) {
    Progress& stage = progress_[forward.stage];
    const double start = std::max({stage.end, dates_[forward.input], dates_[backward.input]});
    const PairSpan pair = pairs.run(forward.stage, forward.chunk, stage.sends.until() - start);
    spans_[forward.stage].pairs += pair.effect;
    stage.end = start + pair.time;
    const OperationDates left{stage.end, stage.end, stage.slowed, spans_[forward.stage].pairs};
    std::array<OperationDates, operations_of_pair> all{left, left, left};
    all[0].arrival = pass_on(forward, stage);
    all[1].arrival = pass_on(backward, stage);
    return all;
  }

  std::vector<StageSpan> take_spans() {
    for (std::size_t s = 0; s < spans_.size(); ++s) {
      spans_[s].end = {progress_[s].end};
      spans_[s].sends = progress_[s].sends;
      spans_[s].slowed = {progress_[s].slowed};
    }
    return std::move(spans_);
  }

 private:
  static constexpr std::size_t works = 3;    // PipelineWork
  static constexpr std::size_t towards = 4;  // Toward

  static std::size_t work_of(const Step& step) { return static_cast<std::size_t>(step.work); }
  [[nodiscard]] std::span<const Piece> pieces_of(const Step& step) const {
    const ChunkDurations& chunk = stages_[step.stage].chunks[step.chunk];
    return step.work == PipelineWork::weights   ? chunk.weight_pieces
           : step.work == PipelineWork::forward ? chunk.forward_pieces
                                                : chunk.backward_pieces;
  }
  // How long the output of an operation travels; the ends of the chain send none.
  [[nodiscard]] double send_of(const Step& step) const {
    return sends_[step.stage * towards + static_cast<std::size_t>(step.toward)];
  }

  void begin_last(const Step& step, double arrival, double start) {
    StageSpan& span = spans_[step.stage];
    if (span.last.empty()) {
      span.sends_before_last = progress_[step.stage].sends;
      span.slowed_before_last = {progress_[step.stage].slowed};
    }
    const PipelineProgram::Last& last = *next_last_++;
    span.last.push_back({last.operation,
                         last.last_micro_batch,
                         {arrival},
                         {start},
                         {},
                         step.toward,
                         {send_of(step)},
                         last.from_stage,
                         last.from_place});
  }

  // When it has come.
  double pass_on(const Step& step, Progress& stage) {
    return dates_[step.output] = stage.sends.send(step.toward, stage.end, send_of(step));
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
  std::size_t chunks_;
  std::vector<double> times_;  // by stage, chunk and work
  std::vector<double> sends_;  // by stage and where to
  std::vector<double> dates_;  // of inputs, as the program numbers them
  std::vector<PipelineProgram::Last>::const_iterator next_last_;
  std::vector<Progress> progress_;
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
      const auto left = pipeline.run_pair(steps[i], steps[i + 1], *pairs);
      if (dates != nullptr) {
        std::vector<OperationDates>& all = (*dates)[steps[i].stage];
        all.insert(all.end(), left.begin(), left.end());
      }
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
  if (programs != nullptr && PipelinePrograms::is_short(shape)) {
    return run_program(stages, programs->of(shape), dates, pairs);
  }
  static thread_local LongPrograms recent;
  return LongPrograms::keeps(shape) ? run_program(stages, recent.of(shape), dates, pairs)
                                    : run_program(stages, PipelineProgram(shape), dates, pairs);
}

std::vector<StageSpan> run_pipeline(const std::vector<StageDurations>& stages, int micro_batches,
                                    PipelineSchedule schedule, PairTimes* pairs,
                                    PipelinePrograms* programs) {
  const int usual =
      usual_micro_batches(schedule, static_cast<int>(stages.size()),
                          static_cast<int>(stages.front().chunks.size()), micro_batches);
  if (pairs != nullptr || usual == micro_batches) {
    return run_until_it_repeats(stages, micro_batches, schedule, pairs, programs);
  }
  static thread_local RecentPipelines recent;
  RecentPipelines::Question asked = RecentPipelines::question(stages, micro_batches, schedule);
  if (const std::vector<StageSpan>* known = recent.find(asked)) {
    return *known;
  }
  return recent.keep(std::move(asked),
                     run_until_it_repeats(stages, micro_batches, schedule, nullptr, programs));
}

}  // namespace payoff
