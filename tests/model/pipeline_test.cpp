// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "model/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/model/most_alive.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;
using payoff::test::most_alive;

namespace {

struct Times {
  Seconds forward{};
  Seconds backward{};
  Seconds send_forward{};
  Seconds send_backward{};
};

// Chunks share the times of a stage evenly.
std::vector<StageDurations> equal_stages(int count, const Times& times, int chunks = 1) {
  const ChunkDurations share{times.forward / chunks, times.backward / chunks};
  const StageDurations stage{std::vector<ChunkDurations>(static_cast<std::size_t>(chunks), share),
                             times.send_forward, times.send_backward};
  return std::vector<StageDurations>(static_cast<std::size_t>(count), stage);
}

Seconds end_of(const std::vector<StageSpan>& spans) {
  Seconds end;
  for (const StageSpan& span : spans) {
    end = std::max(end, span.end);
  }
  return end;
}

}  // namespace

TEST_CASE("a 1F1B pipeline of p equal stages takes (m + p - 1) forward and backward times") {
  // Narayanan et al. 2021, section 2.2.1: t_pb = (p - 1)(t_f + t_b) over m (t_f + t_b).
  const auto [stages, micro_batches] = GENERATE(std::pair{2, 2}, std::pair{4, 4}, std::pair{8, 96},
                                                std::pair{3, 7}, std::pair{5, 2});
  const auto spans = run_pipeline(equal_stages(stages, {2_ms, 5_ms}), micro_batches);
  CHECK_THAT(end_of(spans) / 1_ms, WithinRel((micro_batches + stages - 1) * 7.0, 1e-12));
}

TEST_CASE("v chunks divide the bubble by v") {
  // Narayanan et al. 2021, section 2.2.2: the bubble is (p - 1)(t_f + t_b) / v.
  const int chunks = GENERATE(2, 3, 6);
  const auto spans = run_pipeline(equal_stages(4, {3_ms, 6_ms}, chunks), 16);
  CHECK_THAT(end_of(spans) / 1_ms, WithinRel(16 * 9.0 + 3 * 9.0 / chunks, 1e-12));
}

TEST_CASE("a single stage has no bubble") {
  const auto spans = run_pipeline(equal_stages(1, {1_ms, 2_ms}), 5);
  CHECK_THAT(spans.front().end / 1_ms, WithinRel(15.0, 1e-12));
  // The last backward pass starts 2 ms before the end.
  CHECK_THAT(spans.front().last.front().start / 1_ms, WithinRel(13.0, 1e-12));
}

TEST_CASE("with one micro-batch every transfer lies on the path, forward and back") {
  // 3 stages: forwards 1+1+1, backwards 2+2+2, two transfers each way of 0.5 and 0.25 ms.
  const auto spans = run_pipeline(equal_stages(3, {1_ms, 2_ms, 500_us, 250_us}), 1);
  CHECK_THAT(spans.front().end / 1_ms, WithinRel(9.0 + 2 * 0.5 + 2 * 0.25, 1e-12));
}

TEST_CASE("the slowest stage sets the pace of a long pipeline") {
  std::vector<StageDurations> stages = equal_stages(4, {1_ms, 2_ms});
  stages[2].chunks[0] = {2_ms, 4_ms};
  const Seconds at_100 = end_of(run_pipeline(stages, 100));
  const Seconds at_101 = end_of(run_pipeline(stages, 101));
  CHECK_THAT((at_101 - at_100) / 1_ms, WithinRel(6.0, 1e-9));
}

TEST_CASE("the first stage ends last, and every later stage earlier by one backward") {
  const auto spans = run_pipeline(equal_stages(4, {1_ms, 2_ms}), 8);
  for (std::size_t s = 1; s < spans.size(); ++s) {
    CHECK_THAT((spans[s - 1].end - spans[s].end) / 1_ms, WithinRel(2.0, 1e-9));
  }
}

TEST_CASE("slower transfers never shorten a pipeline") {
  const int chunks = GENERATE(1, 2);
  Seconds previous;
  for (const Seconds send : {0_us, 10_us, 100_us, 1_ms, 10_ms}) {
    const Seconds end = end_of(run_pipeline(equal_stages(4, {1_ms, 2_ms, send, send}, chunks), 12));
    CHECK(end >= previous);
    previous = end;
  }
}

TEST_CASE("sends longer than operations set the pace of GPipe: one at a time each way") {
  // Stage j has its k-th input (k = 1 .. m) at j F + (k + j - 1) S, for the send of the one before
  // it left when that had come. The last stage is through with its forwards at p F + (m + p - 2) S;
  // backward the same way back.
  const auto [stages, micro_batches] = GENERATE(std::pair{2, 3}, std::pair{4, 8}, std::pair{5, 2});
  const auto spans = run_pipeline(equal_stages(stages, {1_ms, 2_ms, 5_ms, 7_ms}), micro_batches,
                                  PipelineSchedule::gpipe);
  const double waves = micro_batches + stages - 2;
  CHECK_THAT(end_of(spans) / 1_ms, WithinRel(stages * 3.0 + waves * (5.0 + 7.0), 1e-12));
}

TEST_CASE("no pipeline is shorter than the sends of one stage one after the other") {
  const auto schedule =
      GENERATE(PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::zb_h1);
  const int micro_batches = GENERATE(4, 12);
  const auto spans =
      run_pipeline(equal_stages(4, {1_ms, 2_ms, 10_ms, 10_ms}), micro_batches, schedule);
  CHECK(end_of(spans) >= micro_batches * 10_ms);
}

TEST_CASE("an interleaved stage completes its gradients chunk by chunk, p operations apart") {
  // Chunk v - 1 sees its last micro-batch (v - 1) p operations before the end, chunk 0 at the end.
  const int stages = 4;
  const int chunks = GENERATE(1, 2, 3);
  const auto spans = run_pipeline(equal_stages(stages, {3_ms, 6_ms, 100_us, 50_us}, chunks), 8);
  for (const StageSpan& span : spans) {
    REQUIRE(span.last.size() == static_cast<std::size_t>((chunks - 1) * stages + 1));
    for (std::size_t i = 0; i < span.last.size(); ++i) {
      const LastBackward& operation = span.last[i];
      CHECK(operation.last_micro_batch == (i % static_cast<std::size_t>(stages) == 0));
      CHECK(operation.start >= operation.arrival);
      if (operation.last_micro_batch) {
        CHECK(operation.operation.chunk == chunks - 1 - static_cast<int>(i) / stages);
      }
    }
    CHECK(span.last.back().start + 6_ms / chunks == span.end);
  }
}

TEST_CASE(
    "work beside a stage's own send runs at the rate that it leaves, work after it does not") {
  // The first stage's forwards follow each other: each is beside the send of the one before it, for
  // 400 us at three quarters of the rate, so 100 us longer. Pieces of 250 us with a message of 50
  // us after each: of 400 us the send sees 333 us and 50 us of the first, and 17 us of the second.
  const Piece piece{{WorkKind::forward, 250_us}, {MessageKind::tp_activations, {}, {}, 50_us}};
  const std::vector<Piece> pieces{piece, piece};
  const ChunkDurations chunk{600_us, 600_us, pieces, pieces};
  const StageDurations first{{chunk}, 400_us, 0_us, Paces(Pace(0.75), nullptr)};
  const StageDurations last{{ChunkDurations{1_us, 1_us}}, 0_us, 0_us, {}};
  const auto spans = run_pipeline({first, last}, 2);
  const double beside = (1 - 0.75) * (400.0 - 50.0);  // us, of work only
  // f0, f1 beside f0's send, b0 beside f1's, b1 beside none.
  CHECK_THAT(spans[0].slowed / 1_us, WithinRel(2 * beside, 1e-12));
  CHECK_THAT(spans[0].end / 1_us, WithinRel(4 * 600 + 2 * beside, 1e-12));
  CHECK(spans[1].slowed == 0_s);
  CHECK(spans[0].sends.to_previous == 0.0);  // the first stage sends no gradients
}

namespace {

// Forward, gradients of inputs and gradients of weights of equal stages.
std::vector<StageDurations> split_stages(int count, Seconds forward, Seconds inputs,
                                         Seconds weights) {
  ChunkDurations chunk;
  chunk.forward = forward;
  chunk.backward = inputs;
  chunk.weights = weights;
  return std::vector<StageDurations>(static_cast<std::size_t>(count), {{chunk}, {}, {}});
}

}  // namespace

// Huang et al. 2019, section 2.3: a share (K - 1) / (M + K - 1) of the time, K stages and M
// micro-batches.
TEST_CASE("GPipe is idle for (p - 1) of m + p - 1 times") {
  const auto [stages, micro_batches] = GENERATE(std::pair{2, 2}, std::pair{4, 8}, std::pair{8, 32});
  const auto spans =
      run_pipeline(equal_stages(stages, {2_ms, 5_ms}), micro_batches, PipelineSchedule::gpipe);
  const double bubble = 1 - micro_batches * 7.0 / (end_of(spans) / 1_ms);
  CHECK_THAT(bubble, WithinRel((stages - 1.0) / (micro_batches + stages - 1), 1e-12));
}

// Qi et al. 2023, table 1: (p - 1)(T_F + T_B - T_W) for ZB-H1, where T_B is of inputs, T_W of
// weights; a third of 1F1B's (p - 1)(T_F + T_B + T_W) where all three are equal.
TEST_CASE("ZB-H1 leaves the bubble of (p - 1)(F + B - W)") {
  const auto [stages, micro_batches] = GENERATE(std::pair{2, 4}, std::pair{4, 8}, std::pair{8, 24});
  const auto [forward, inputs, weights] =
      GENERATE(std::tuple{1.0, 1.0, 1.0}, std::tuple{1.0, 1.2, 0.8}, std::tuple{2.0, 2.0, 1.0});
  const auto spans =
      run_pipeline(split_stages(stages, forward * 1_ms, inputs * 1_ms, weights * 1_ms),
                   micro_batches, PipelineSchedule::zb_h1);
  const double bubble = end_of(spans) / 1_ms - micro_batches * (forward + inputs + weights);
  CHECK_THAT(bubble, WithinRel((stages - 1) * (forward + inputs - weights), 1e-9));
}

// Qi et al. 2023, table 1: (p - 1)(T_F + T_B - 2 T_W) for ZB-H2, of the time between a stage's
// first operation and its last: stages begin one forward after the other, and end so.
TEST_CASE("ZB-H2 leaves a stage idle for (p - 1)(F + B - 2 W) from its first operation on") {
  const auto [stages, micro_batches] = GENERATE(std::pair{2, 4}, std::pair{4, 8}, std::pair{8, 24});
  const auto [forward, inputs, weights] =
      GENERATE(std::tuple{1.0, 1.0, 1.0}, std::tuple{1.0, 1.2, 0.8}, std::tuple{2.0, 2.0, 1.0});
  const auto spans =
      run_pipeline(split_stages(stages, forward * 1_ms, inputs * 1_ms, weights * 1_ms),
                   micro_batches, PipelineSchedule::zb_h2);
  double longest = 0;
  for (std::size_t s = 0; s < spans.size(); ++s) {
    const double begin = static_cast<double>(s) * forward;
    longest = std::max(longest, spans[s].end / 1_ms - begin);
  }
  const double bubble = longest - micro_batches * (forward + inputs + weights);
  CHECK_THAT(bubble,
             Catch::Matchers::WithinAbs((stages - 1) * (forward + inputs - 2 * weights), 1e-9));
}

// Huang et al. keep all micro-batches; Narayanan et al. 2021, section 2.2.1, p - s; Qi et al. 2023,
// table 1: p and 2 p - 1 at most, on the first stage as on the others.
TEST_CASE("as many micro-batches are alive on a stage as the schedules' papers say") {
  constexpr int stages = 5;
  constexpr int micro_batches = 20;
  for (int s = 0; s < stages; ++s) {
    const auto alive = [&](PipelineSchedule schedule) {
      return most_alive(StageSchedule(s, stages, micro_batches, 1, schedule), schedule);
    };
    CHECK(alive(PipelineSchedule::one_f_one_b) == stages - s);
    CHECK(alive(PipelineSchedule::gpipe) == micro_batches);
    CHECK(alive(PipelineSchedule::zb_h1) == stages);
    CHECK(alive(PipelineSchedule::zb_h2) == 2 * stages - 1);
  }
}

TEST_CASE("every schedule runs each micro-batch forward, then back, then through its weights") {
  const auto schedule = GENERATE(PipelineSchedule::gpipe, PipelineSchedule::zb_h1,
                                 PipelineSchedule::zb_h2, PipelineSchedule::one_f_one_b);
  const int micro_batches = GENERATE(1, 3, 8);
  for (int s = 0; s < 4; ++s) {
    const StageSchedule order(s, 4, micro_batches, 1, schedule);
    std::vector<int> stages_of(static_cast<std::size_t>(micro_batches), 0);
    for (int i = 0; i < order.size(); ++i) {
      const Operation op = order[i];
      int& seen = stages_of.at(static_cast<std::size_t>(op.micro_batch));
      CHECK(seen == (op.is_forward ? 0 : op.of_weights ? 2 : 1));
      ++seen;
    }
    for (const int seen : stages_of) {
      CHECK(seen == (splits_backward(schedule) ? 3 : 2));
    }
  }
}
