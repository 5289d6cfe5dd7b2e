// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "model/pipeline.hpp"
#include "model/schedule.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Schedules whose second chunks go back up the pipeline (ZB-V, DualPipeV).

namespace {

constexpr Seconds unit = 1_ms;

// Two chunks a stage, forward, gradients of inputs and those of weights as long as given.
std::vector<StageDurations> v_stages(int count, Seconds forward, Seconds inputs, Seconds weights) {
  ChunkDurations chunk;
  chunk.forward = forward;
  chunk.backward = inputs;
  chunk.weights = weights;
  return std::vector<StageDurations>(static_cast<std::size_t>(count), {{chunk, chunk}, {}, {}});
}

Seconds end_of(const std::vector<StageSpan>& spans) {
  Seconds end;
  for (const StageSpan& span : spans) {
    end = std::max(end, span.end);
  }
  return end;
}

int most_chunks_alive(const StageSchedule& order) {
  int alive = 0;
  int most = 0;
  for (int i = 0; i < order.size(); ++i) {
    alive += order[i].is_forward ? 1 : order[i].of_weights ? -1 : 0;
    most = std::max(most, alive);
  }
  return most;
}

// What a stage runs as one.
struct Unit {
  std::vector<Operation> operations;
  double time;
};
using Units = std::vector<Unit>;  // of a stage, in order

// `both`: what a forward of one chunk and the whole backward of the other take together.
std::vector<Units> units_of(int stages, int micro_batches, double single, double both) {
  std::vector<Units> orders;
  for (int s = 0; s < stages; ++s) {
    const StageSchedule order(s, stages, micro_batches, 2, PipelineSchedule::dualpipe_v);
    Units& units = orders.emplace_back();
    for (int i = 0; i < order.size();) {
      const bool pair = i + 2 < order.size() && order[i].is_forward && !order[i + 1].is_forward &&
                        order[i + 1].chunk != order[i].chunk && order[i + 2].of_weights &&
                        order[i + 2].chunk == order[i + 1].chunk &&
                        order[i + 2].micro_batch == order[i + 1].micro_batch;
      Unit& next = units.emplace_back(Unit{{}, pair ? both : single});
      for (const int end = i + (pair ? 3 : 1); i < end; ++i) {
        next.operations.push_back(order[i]);
      }
    }
  }
  return orders;
}

using Arrivals = std::map<std::tuple<int, bool, int, int>, double>;

// When its inputs are there; nothing before.
std::optional<double> inputs_arrived(const Unit& due, int stage, const Arrivals& arrivals) {
  double last = 0.0;
  for (const Operation& op : due.operations) {
    if (op.of_weights) {
      continue;
    }
    const auto input = arrivals.find({stage, op.is_forward, op.chunk, op.micro_batch});
    if (input == arrivals.end()) {
      return std::nullopt;
    }
    last = std::max(last, input->second);
  }
  return last;
}

void send_results(const Unit& due, int s, int stages, double end, Arrivals& arrivals) {
  for (const Operation& op : due.operations) {
    const Consumer to = consumer_of(op, s, stages, 2, PipelineSchedule::dualpipe_v);
    if (to.toward != Toward::nobody) {
      const int stage = s + (to.toward == Toward::next_stage       ? 1
                             : to.toward == Toward::previous_stage ? -1
                                                                   : 0);
      arrivals[{stage, to.operation.is_forward, to.operation.chunk, op.micro_batch}] = end;
    }
  }
}

// DualPipeV with what it runs as one (a forward of one chunk and the whole backward of the other)
// taken as one: it starts when both inputs are there, and takes `both`. The longest time that a
// stage of p is idle. A recurrence of its own.
double idle_with_pairs(int stages, int micro_batches, double single, double both) {
  const std::vector<Units> orders = units_of(stages, micro_batches, single, both);
  Arrivals arrivals;
  for (int m = 0; m < micro_batches; ++m) {
    arrivals[{0, true, 0, m}] = 0.0;
  }
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<double> free(orders.size(), 0.0);
  for (bool advanced = true; advanced;) {
    advanced = false;
    for (int s = 0; s < stages; ++s) {
      const auto at = static_cast<std::size_t>(s);
      while (next[at] < orders[at].size()) {
        const Unit& due = orders[at][next[at]];
        const std::optional<double> arrived = inputs_arrived(due, s, arrivals);
        if (!arrived) {
          break;
        }
        free[at] = std::max(free[at], *arrived) + due.time;
        send_results(due, s, stages, free[at], arrivals);
        ++next[at];
        advanced = true;
      }
    }
  }
  const double end = *std::max_element(free.begin(), free.end());
  double longest = 0.0;
  for (std::size_t s = 0; s < orders.size(); ++s) {
    CHECK(next[s] == orders[s].size());
    double work = 0.0;
    for (const Unit& each : orders[s]) {
      work += each.time;
    }
    longest = std::max(longest, end - work);
  }
  return longest;
}

}  // namespace

// Qi et al. 2024, section 4: no bubble where F = B = W, in the memory of 1F1B.
TEST_CASE("ZB-V leaves no stage idle from its first operation on where F, B and W are equal") {
  const int stages = GENERATE(2, 3, 4, 8);
  const int micro_batches = GENERATE_COPY(2 * stages - 1, 2 * stages, 5 * stages);
  const auto spans =
      run_pipeline(v_stages(stages, unit, unit, unit), micro_batches, PipelineSchedule::zb_v);
  for (int s = 0; s < stages; ++s) {
    const double begin = s;  // the first forward of the stages before it
    CHECK_THAT(spans[static_cast<std::size_t>(s)].end / unit - begin,
               WithinRel(6.0 * micro_batches, 1e-12));
    CHECK(most_chunks_alive(StageSchedule(s, stages, micro_batches, 2, PipelineSchedule::zb_v)) ==
          2 * stages);
  }
}

// deepseek-ai/DualPipe, README: (PP/2 - 1)(F&B + B - 3 W) for DualPipeV of PP chunks, on PP / 2
// GPUs, with B the whole backward; activations of PP + 1 chunks. DeepSeek-V3, table 2, has the same
// for DualPipe, which holds every stage twice.
TEST_CASE("DualPipeV is idle for (p - 1)(F&B + B - 3 W), and keeps 2 p + 1 chunks") {
  const int stages = GENERATE(2, 4, 8);
  const double both = GENERATE(2.5, 2.75, 3.0);  // hidden in part, or not at all
  const int micro_batches = 3 * stages;
  CHECK_THAT(idle_with_pairs(stages, micro_batches, 1.0, both),
             WithinRel((stages - 1) * (both + 2.0 - 3.0), 1e-12));
  for (int s = 0; s < stages; ++s) {
    const StageSchedule order(s, stages, micro_batches, 2, PipelineSchedule::dualpipe_v);
    CHECK(most_chunks_alive(order) == 2 * stages + 1);
  }
}

// A forward hands its output on before the backward that follows it: one backward of inputs less.
TEST_CASE("DualPipeV one operation after the other is idle for (p - 1)(F + B - W), F = B") {
  const auto [stages, micro_batches] = GENERATE(std::pair{2, 4}, std::pair{4, 8}, std::pair{8, 24});
  const auto [forward, inputs, weights] =
      GENERATE(std::tuple{1.0, 1.0, 1.0}, std::tuple{1.0, 1.0, 0.5}, std::tuple{2.0, 2.0, 1.0});
  const auto spans = run_pipeline(v_stages(stages, forward * unit, inputs * unit, weights * unit),
                                  micro_batches, PipelineSchedule::dualpipe_v);
  const double bubble = end_of(spans) / unit - 2 * micro_batches * (forward + inputs + weights);
  CHECK_THAT(bubble, WithinRel((stages - 1) * (forward + inputs - weights), 1e-9));
}

TEST_CASE("schedules in a V run every micro-batch through both chunks, in order") {
  const auto schedule = GENERATE(PipelineSchedule::zb_v, PipelineSchedule::dualpipe_v);
  const int micro_batches = GENERATE(1, 3, 7, 20);
  for (int s = 0; s < 4; ++s) {
    const StageSchedule order(s, 4, micro_batches, 2, schedule);
    CHECK(order.size() == 6 * micro_batches);
    std::map<std::tuple<int, bool, bool>, int> next;  // micro-batch by chunk and kind
    for (int i = 0; i < order.size(); ++i) {
      const Operation op = order[i];
      CHECK(next[{op.chunk, op.is_forward, op.of_weights}]++ == op.micro_batch);
      if (op.of_weights) {
        CHECK(next[{op.chunk, false, false}] > op.micro_batch);
      }
    }
  }
  const auto spans = run_pipeline(v_stages(4, unit, unit, unit), micro_batches, schedule);
  CHECK(end_of(spans) > 0_s);
}

TEST_CASE("the output of an operation goes to the neighbour in the model") {
  // Of 3 stages with two chunks in a V: down 0, 1, 2, then up 2, 1, 0.
  const auto of = [](bool forward, int chunk, int stage) {
    return consumer_of({forward, chunk, 4}, stage, 3, 2, PipelineSchedule::zb_v);
  };
  CHECK(of(true, 0, 1).toward == Toward::next_stage);
  CHECK(of(true, 0, 2).toward == Toward::same_stage);
  CHECK(of(true, 0, 2).operation == Operation{true, 1, 4});
  CHECK(of(true, 1, 2).toward == Toward::previous_stage);
  CHECK(of(true, 1, 0).operation == Operation{false, 1, 4});
  CHECK(of(false, 1, 0).toward == Toward::next_stage);
  CHECK(of(false, 1, 2).operation == Operation{false, 0, 4});
  CHECK(of(false, 0, 1).toward == Toward::previous_stage);
  CHECK(of(false, 0, 0).toward == Toward::nobody);
  CHECK(consumer_of({false, 0, 4, true}, 1, 3, 2, PipelineSchedule::zb_v).toward == Toward::nobody);
  // Interleaved: around the ring.
  const Consumer around = consumer_of({true, 0, 4}, 2, 3, 2, PipelineSchedule::one_f_one_b);
  CHECK(around.toward == Toward::next_stage);
  CHECK(around.operation == Operation{true, 1, 4});
}
