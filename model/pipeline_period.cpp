// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/pipeline.hpp"

// A long pipeline repeats itself. Every date of the recurrence is the latest of a few earlier ones
// and a duration; so where all dates within reach of the next operations, on all stages, are those
// of one period before and the same time later, so are the next ones, and all until forwards run
// out (Baccelli et al. 1992, Synchronization and Linearity, section 3.7: max-plus linear systems
// become periodic). The middle of a long step then adds that time for each period that it has more
// than a short step, and the end of the step is the short one's, that much later.
//
// A run that has not settled within the short step's micro-batches is tried with more of them, and
// in the end with all: nothing is extrapolated from what only seems to settle, such as a link that
// is a little slower than the work and queues more with every micro-batch.

namespace payoff {
namespace {

using Dates = std::vector<std::vector<OperationDates>>;

// What may repeat in the middle of the step, on every stage.
struct Middle {
  int unit{};                // micro-batches after which the order of operations repeats
  std::size_t operations{};  // of a stage in a unit
  std::size_t reach{};       // operations of a stage from that which sends to that which receives
};

// Not of schedules that keep all micro-batches alive or list their operations in V shape.
std::optional<Middle> middle_of(PipelineSchedule schedule, int stages, int chunks) {
  if (schedule == PipelineSchedule::gpipe || is_v_shaped(schedule)) {
    return std::nullopt;
  }
  const int kinds = splits_backward(schedule) ? 3 : 2;
  const int unit = chunks == 1 ? 1 : stages;
  return Middle{unit, static_cast<std::size_t>(kinds * unit * chunks),
                static_cast<std::size_t>(2 * kinds * stages * chunks)};
}

// Dates differ by rounding only; what is allowed grows with the date.
bool are_equal(double a, double b, double date) {
  constexpr double roundings = 8.0;
  constexpr double of_a_double = 1.2e-16;
  return std::abs(a - b) <= roundings * of_a_double * date;
}

// How much later everything is, and what it adds, one period after the other, in the last
// operations before forwards run out.
struct Repetition {
  int micro_batches{};  // of a period
  double time{};
  std::vector<double> slowed;  // by stage
};

std::size_t after_last_forward(const StageSchedule& order) {
  int last = order.size();
  while (last > 0 && !order[last - 1].is_forward) {
    --last;
  }
  return static_cast<std::size_t>(last);
}

// A step that was run, and where forwards run out on every stage.
struct ShortStep {
  Dates dates;
  std::vector<std::size_t> ends;
  std::vector<std::size_t> warm_ups;
};

// Whether a stage repeats itself after so many operations; if so, what sends add to each period.
std::optional<double> repeats(const ShortStep& step, std::size_t stage, std::size_t operations,
                              std::size_t reach, double time) {
  const std::vector<OperationDates>& of = step.dates[stage];
  const std::size_t end = step.ends[stage];
  const double slowed = of[end - 1].slowed - of[end - 1 - operations].slowed;
  for (std::size_t i = end - reach; i < end; ++i) {
    const OperationDates& now = of[i];
    const OperationDates& before = of[i - operations];
    if (!are_equal(now.end - before.end, time, now.end) ||
        !are_equal(now.arrival - before.arrival, time, now.arrival) ||
        !are_equal(now.slowed - before.slowed, slowed, now.end)) {
      return std::nullopt;
    }
  }
  return slowed;
}

// Periods have as many micro-batches as are on their way around the slowest circle of stages, which
// is any number up to that of the stages.
std::optional<Repetition> repetition(const ShortStep& step, const Middle& middle) {
  const std::size_t units = step.dates.size();
  for (std::size_t unit = 1; unit <= units; ++unit) {
    const std::size_t operations = unit * middle.operations;
    const std::size_t end = step.ends.front();
    if (end < step.warm_ups.front() + operations + middle.reach) {
      return std::nullopt;
    }
    const std::vector<OperationDates>& first = step.dates.front();
    Repetition result{static_cast<int>(unit) * middle.unit,
                      first[end - 1].end - first[end - 1 - operations].end,
                      {}};
    for (std::size_t s = 0; s < step.dates.size(); ++s) {
      const auto slowed = repeats(step, s, operations, middle.reach, result.time);
      if (!slowed) {
        break;
      }
      result.slowed.push_back(*slowed);
    }
    if (result.slowed.size() == step.dates.size()) {
      return result;
    }
  }
  return std::nullopt;
}

// The end of a short step, so many periods later. Zero is no date: nothing was sent, or awaited.
void delay(std::vector<StageSpan>& spans, const Repetition& repetition, double periods) {
  const double time = periods * repetition.time;
  const auto later = [time](double date) { return date > 0.0 ? date + time : date; };
  for (std::size_t s = 0; s < spans.size(); ++s) {
    StageSpan& span = spans[s];
    span.end.si = later(span.end.si);
    for (LastBackward& operation : span.last) {
      operation.arrival.si = later(operation.arrival.si);
      operation.start.si = later(operation.start.si);
      operation.end.si = later(operation.end.si);
    }
    for (StageSends* sends : {&span.sends, &span.sends_before_last}) {
      sends->to_next = later(sends->to_next);
      sends->to_previous = later(sends->to_previous);
    }
    span.slowed.si += periods * repetition.slowed[s];
    span.slowed_before_last.si += periods * repetition.slowed[s];
  }
}

// Equal stages with fast links take long to settle, and are run in vain until then: what is tried
// is a small part of the step.
constexpr int more = 8;
constexpr int tried_first(int stages) { return 6 * stages; }

}  // namespace

int usual_micro_batches(PipelineSchedule schedule, int stages, int chunks, int micro_batches) {
  const std::optional<Middle> middle = middle_of(schedule, stages, chunks);
  const int few = tried_first(stages);
  return middle && few <= micro_batches / more ? few + middle->unit * stages : micro_batches;
}

std::vector<StageSpan> run_pipeline(const std::vector<StageDurations>& stages, int micro_batches,
                                    PipelineSchedule schedule, PairTimes* pairs,
                                    PipelinePrograms* programs) {
  const int count = static_cast<int>(stages.size());
  const int chunks = static_cast<int>(stages.front().chunks.size());
  const std::optional<Middle> middle = middle_of(schedule, count, chunks);
  for (int few = tried_first(count); middle && few <= micro_batches / more; few *= more) {
    // A period found in a step of another remainder is looked for again in one of the right one.
    for (int period = middle->unit; period > 0;) {
      const int left_out = (micro_batches - few) / period;
      const int run = micro_batches - left_out * period;
      ShortStep step;
      std::vector<StageSpan> spans =
          run_every_micro_batch(stages, run, schedule, &step.dates, nullptr, programs);
      for (int s = 0; s < count; ++s) {
        const StageSchedule order(s, count, run, chunks, schedule);
        step.ends.push_back(after_last_forward(order));
        step.warm_ups.push_back(static_cast<std::size_t>(order.warm_up()));
      }
      const auto found = repetition(step, *middle);
      if (found && found->micro_batches == period) {
        delay(spans, *found, left_out);
        return spans;
      }
      period = found && found->micro_batches > period ? found->micro_batches : 0;
    }
  }
  return run_every_micro_batch(stages, micro_batches, schedule, nullptr, pairs, programs);
}

}  // namespace payoff
