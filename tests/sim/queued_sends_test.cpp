// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

#include "model/evaluate.hpp"
#include "model/schedule.hpp"
#include "sim/step.hpp"
#include "sim/step_pieces.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random_plans.hpp"

// Sends of a stage toward one neighbour go one at a time. A third way to the length of a pipeline
// whose operations nothing slows: a table of dates, operation after operation, which may let them
// queue or go at once.

using namespace payoff;

namespace {

enum class Sends { one_at_a_time, at_once };

class DateTable {
 public:
  DateTable(const StepPlan& plan, Sends sends)
      : plan_(plan), sends_(sends), ends_(plan.stages.size()), free_(plan.stages.size()) {
    for (int s = 0; s < plan.layout.pp; ++s) {
      schedules_.emplace_back(s, plan.layout.pp, plan.layout.micro_batches,
                              plan.layout.virtual_stages, plan.layout.schedule);
    }
    std::vector<int> next(schedules_.size());
    for (bool ran = true; ran;) {
      ran = false;
      for (std::size_t s = 0; s < next.size(); ++s) {
        while (next[s] < schedules_[s].size() && run(s, schedules_[s][next[s]])) {
          ++next[s];
          ran = true;
        }
      }
    }
    for (std::size_t s = 0; s < next.size(); ++s) {
      REQUIRE(next[s] == schedules_[s].size());
    }
  }

  [[nodiscard]] Seconds step() const {
    Seconds latest;
    const Seconds summed = std::max(ends_.front(), ends_.back()) + plan_.tied_gradients.alone;
    for (std::size_t s = 0; s < ends_.size(); ++s) {
      const StagePlan& stage = plan_.stages[s];
      const Seconds begin = plan_.sums_tied(s) ? summed : ends_[s];
      latest = std::max(latest, begin + stage.optimizer.alone + stage.gather_time() + plan_.host);
    }
    return latest;
  }

 private:
  using Key = std::tuple<std::size_t, bool, int, int>;  // stage, direction, chunk, micro-batch

  static Key key(std::size_t stage, const Operation& operation) {
    return {stage, operation.is_forward, operation.chunk, operation.micro_batch};
  }

  bool run(std::size_t s, const Operation& operation) {
    const bool given =
        operation.of_weights || (s == 0 && operation.is_forward && operation.chunk == 0);
    const auto input = inputs_.find(key(s, operation));
    if (!given && input == inputs_.end()) {
      return false;
    }
    Seconds& end = ends_[s];
    end = (given ? end : std::max(end, input->second)) + time_of(s, operation);
    pass_on(s, operation);
    return true;
  }

  [[nodiscard]] Seconds time_of(std::size_t s, const Operation& operation) const {
    const StageCompute& compute = *plan_.stages[s].compute;
    const PieceRange range = sim::pieces_of(compute, operation, plan_.layout);
    const std::vector<Piece>& pieces = operation.is_forward ? compute.forward : compute.backward;
    Seconds sum;
    for (std::size_t piece = range.begin; piece < range.end; ++piece) {
      sum += pieces[piece].work.alone + pieces[piece].message.alone;
    }
    return sum;
  }

  void pass_on(std::size_t s, const Operation& operation) {
    const Consumer to = consumer_of(operation, static_cast<int>(s), plan_.layout.pp,
                                    plan_.layout.virtual_stages, plan_.layout.schedule);
    const std::size_t stages = ends_.size();
    switch (to.toward) {
      case Toward::nobody:
        return;
      case Toward::same_stage:
        inputs_[key(s, to.operation)] = ends_[s];
        return;
      case Toward::next_stage:
        inputs_[key((s + 1) % stages, to.operation)] =
            sent(free_[s][0], ends_[s], plan_.stages[s].send_forward.alone);
        return;
      case Toward::previous_stage:
        inputs_[key((s + stages - 1) % stages, to.operation)] =
            sent(free_[s][1], ends_[s], plan_.stages[s].send_backward.alone);
        return;
    }
  }

  // When it arrives; `free` is when the send before it did.
  Seconds sent(Seconds& free, Seconds ready, Seconds time) const {
    const bool queues = sends_ == Sends::one_at_a_time && free > ready;
    free = (queues ? free : ready) + time;
    return free;
  }

  const StepPlan& plan_;
  Sends sends_;
  std::vector<StageSchedule> schedules_;
  std::vector<Seconds> ends_;                 // of the last operation of each stage
  std::vector<std::array<Seconds, 2>> free_;  // to the next, to the previous
  std::map<Key, Seconds> inputs_;
};

// What a table of dates can tell: no gradients beside compute, and sends that hold nothing.
StepPlan without_interference(StepPlan plan) {
  plan.send_share = 0;
  for (StagePlan& stage : plan.stages) {
    stage.buckets.clear();
  }
  return plan;
}

}  // namespace

TEST_CASE("sends queue in both engines as in a table of dates; at once would be found") {
  constexpr int plans = 400;
  int found = 0;
  for (int seed = 1; seed <= plans; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    for (const test::RandomPlan& random :
         {test::random_pipeline(number), test::random_v_pipeline(number)}) {
      const StepPlan plan = without_interference(random.plan);
      const Seconds step = sim::simulate(plan, {}).prediction.step;
      INFO("seed " << seed << ", schedule " << static_cast<int>(plan.layout.schedule));
      const Seconds queued = DateTable(plan, Sends::one_at_a_time).step();
      CHECK(std::abs(queued / step - 1) < 1e-6);
      CHECK(std::abs(queued / evaluate(plan).step - 1) < 1e-9);
      const Seconds at_once = DateTable(plan, Sends::at_once).step();
      found += std::abs(at_once / step - 1) > 1e-3 ? 1 : 0;
    }
  }
  std::printf("planted: sends go at once: found in %d of %d pipelines\n", found, 2 * plans);
  CHECK(10 * found >= 2 * plans);
}
