// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "model/pipeline.hpp"
#include "model/recent_pipelines.hpp"

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

// Not of GPipe, whose forwards and backwards are apart.
std::optional<Middle> middle_of(PipelineSchedule schedule, int stages, int chunks) {
  if (schedule == PipelineSchedule::gpipe) {
    return std::nullopt;
  }
  const int kinds = splits_backward(schedule) ? 3 : 2;
  const int unit = chunks == 1 || is_v_shaped(schedule) ? 1 : stages;
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
  std::vector<double> slowed;     // by stage
  std::vector<PairEffect> pairs;  // the same
};

// Where one more micro-batch adds operations: after the last forward, in a V after that of the
// first chunk, which nothing takes the place of.
std::size_t end_of_middle(const StageSchedule& order, PipelineSchedule schedule) {
  const auto adds = [&](const Operation& operation) {
    return operation.is_forward && (!is_v_shaped(schedule) || operation.chunk == 0);
  };
  int last = order.size();
  while (last > 0 && !adds(order[last - 1])) {
    --last;
  }
  return static_cast<std::size_t>(last);
}

// From which operation on the order repeats itself, up to `end`.
std::size_t steady_from(const StageSchedule& order, const Middle& middle, std::size_t end) {
  const auto unit = static_cast<int>(middle.operations);
  const auto same = [&](int before) {
    Operation later = order[before];
    later.micro_batch += middle.unit;
    return later == order[before + unit] &&
           order.begins_pair(before) == order.begins_pair(before + unit);
  };
  int from = static_cast<int>(end);
  while (from > unit && same(from - unit - 1)) {
    --from;
  }
  return static_cast<std::size_t>(std::max(0, from - unit));
}

// A step that was run, and from where to where its order repeats itself on every stage.
struct ShortStep {
  Dates dates;
  std::vector<std::size_t> begins;
  std::vector<std::size_t> ends;
};

bool are_equal(const PairEffect& a, const PairEffect& b, double date) {
  return are_equal(a.hidden_tp, b.hidden_tp, date) && are_equal(a.hidden_cp, b.hidden_cp, date) &&
         are_equal(a.hidden_ep, b.hidden_ep, date) && are_equal(a.slowed, b.slowed, date);
}

// Whether a stage repeats itself after so many operations; if so, what sends and pairs add to each
// period.
bool add_stage(const ShortStep& step, std::size_t stage, std::size_t operations, std::size_t reach,
               Repetition& result) {
  const std::vector<OperationDates>& of = step.dates[stage];
  const std::size_t end = step.ends[stage];
  const double slowed = of[end - 1].slowed - of[end - 1 - operations].slowed;
  const PairEffect pairs = of[end - 1].pairs - of[end - 1 - operations].pairs;
  for (std::size_t i = end - reach; i < end; ++i) {
    const OperationDates& now = of[i];
    const OperationDates& before = of[i - operations];
    if (!are_equal(now.end - before.end, result.time, now.end) ||
        !are_equal(now.arrival - before.arrival, result.time, now.arrival) ||
        !are_equal(now.slowed - before.slowed, slowed, now.end) ||
        !are_equal(now.pairs - before.pairs, pairs, now.end)) {
      return false;
    }
  }
  result.slowed.push_back(slowed);
  result.pairs.push_back(pairs);
  return true;
}

// Whether the order of every stage repeats itself for so many operations.
bool has_room(const ShortStep& step, std::size_t operations) {
  for (std::size_t s = 0; s < step.ends.size(); ++s) {
    if (step.ends[s] < step.begins[s] + operations) {
      return false;
    }
  }
  return true;
}

// Periods have as many micro-batches as are on their way around the slowest circle of stages, which
// is any number up to that of the stages.
std::optional<Repetition> repetition(const ShortStep& step, const Middle& middle) {
  const std::size_t units = step.dates.size();
  for (std::size_t unit = 1; unit <= units; ++unit) {
    const std::size_t operations = unit * middle.operations;
    if (!has_room(step, operations + middle.reach)) {
      return std::nullopt;
    }
    const std::size_t end = step.ends.front();
    const std::vector<OperationDates>& first = step.dates.front();
    Repetition result{static_cast<int>(unit) * middle.unit,
                      first[end - 1].end - first[end - 1 - operations].end,
                      {},
                      {}};
    std::size_t s = 0;
    while (s < step.dates.size() && add_stage(step, s, operations, middle.reach, result)) {
      ++s;
    }
    if (s == step.dates.size()) {
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
    span.pairs += repetition.pairs[s] * periods;
  }
}

// GPipe's forwards wait for no later stage, and its backwards for no earlier one: each is a line of
// stages and links, in which the last of `m` leaves one after the other has passed once and the
// slowest of them m - 1 times more, from the first micro-batch on. So all dates are straight lines
// in `m`; what sends add to the work of a stage is, once the line is full.

std::vector<double*> numbers_of(std::vector<StageSpan>& spans) {
  std::vector<double*> numbers;
  for (StageSpan& span : spans) {
    numbers.insert(numbers.end(), {&span.end.si, &span.slowed.si, &span.slowed_before_last.si});
    for (LastBackward& operation : span.last) {
      numbers.insert(numbers.end(),
                     {&operation.arrival.si, &operation.start.si, &operation.end.si});
    }
    for (StageSends* sends : {&span.sends, &span.sends_before_last}) {
      numbers.insert(numbers.end(), {&sends->to_next, &sends->to_previous});
    }
  }
  return numbers;
}

// From steps of `few` micro-batches, of `apart` more and of as many more again.
std::optional<std::vector<StageSpan>> on_straight_lines(std::array<std::vector<StageSpan>, 3> steps,
                                                        int few, int apart, int micro_batches) {
  const std::vector<double*> first = numbers_of(steps[0]);
  const std::vector<double*> second = numbers_of(steps[1]);
  const std::vector<double*> third = numbers_of(steps[2]);
  if (first.size() != second.size() || second.size() != third.size()) {
    return std::nullopt;
  }
  const double more = static_cast<double>(micro_batches - few) / (2.0 * apart);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double end = *third[i];
    if (!are_equal(end - *second[i], *second[i] - *first[i], end)) {
      return std::nullopt;
    }
    *first[i] += more * (end - *first[i]);
  }
  return std::move(steps[0]);
}

// Nearly equal stages take long to settle, and are run in vain until then: all that is tried is a
// third of such a step.
constexpr int more = 4;
constexpr int tried_first(int stages) { return 6 * stages; }
constexpr bool is_worth_trying(int few, int micro_batches) { return few <= micro_batches / 4; }

std::optional<std::vector<StageSpan>> run_gpipe(const std::vector<StageDurations>& stages,
                                                int micro_batches, PipelinePrograms* programs) {
  const int count = static_cast<int>(stages.size());
  for (int few = tried_first(count); is_worth_trying(few, micro_batches); few *= more) {
    const auto run = [&](int after) {
      return run_every_micro_batch(stages, few + after, PipelineSchedule::gpipe, nullptr, nullptr,
                                   programs);
    };
    auto spans = on_straight_lines({run(0), run(count), run(2 * count)}, few, count, micro_batches);
    if (spans) {
      return spans;
    }
  }
  return std::nullopt;
}

}  // namespace

int usual_micro_batches(PipelineSchedule schedule, int stages, int chunks, int micro_batches) {
  const std::optional<Middle> middle = middle_of(schedule, stages, chunks);
  const int few = tried_first(stages);
  const int again = middle ? middle->unit * stages : 2 * stages;
  return is_worth_trying(few, micro_batches) ? few + again : micro_batches;
}

std::vector<StageSpan> run_until_it_repeats(const std::vector<StageDurations>& stages,
                                            int micro_batches, PipelineSchedule schedule,
                                            PairTimes* pairs, PipelinePrograms* programs) {
  const int count = static_cast<int>(stages.size());
  const int chunks = static_cast<int>(stages.front().chunks.size());
  if (schedule == PipelineSchedule::gpipe) {
    if (auto spans = run_gpipe(stages, micro_batches, programs)) {
      return std::move(*spans);
    }
  }
  const std::optional<Middle> middle = middle_of(schedule, count, chunks);
  for (int few = tried_first(count); middle && is_worth_trying(few, micro_batches); few *= more) {
    // A period found in a step of another remainder is looked for again in one of the right one.
    for (int period = middle->unit; period > 0;) {
      const int left_out = (micro_batches - few) / period;
      const int run = micro_batches - left_out * period;
      ShortStep step;
      std::vector<StageSpan> spans =
          run_every_micro_batch(stages, run, schedule, &step.dates, pairs, programs);
      for (int s = 0; s < count; ++s) {
        const StageSchedule order(s, count, run, chunks, schedule);
        step.ends.push_back(end_of_middle(order, schedule));
        step.begins.push_back(steady_from(order, *middle, step.ends.back()));
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
