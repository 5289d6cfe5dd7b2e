// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "model/pipeline.hpp"
#include "model/recent_pipelines.hpp"
#include "model/schedule.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

// Long pipelines, run until they repeat themselves (model/pipeline_period.cpp).

namespace {

// Of every kind: equal stages, a slow one, slow links, work beside sends that hold compute units.
std::vector<StageDurations> random_stages(std::mt19937& random, int count, int chunks, bool split) {
  const auto draw = [&](double low, double high) {
    return Seconds{low + (high - low) * (static_cast<double>(random()) / 4294967296.0)};
  };
  const double spread = random() % 2 == 0 ? 0.0 : 0.3;
  const double sends = random() % 2 == 0 ? 0.1 : 2.0;
  std::vector<StageDurations> stages;
  for (int s = 0; s < count; ++s) {
    StageDurations stage;
    for (int c = 0; c < chunks; ++c) {
      ChunkDurations chunk;
      chunk.forward = draw(1.0, 1.0 + spread);
      chunk.backward = draw(2.0, 2.0 + spread);
      chunk.weights = split ? draw(1.0, 1.0 + spread) : Seconds{};
      stage.chunks.push_back(chunk);
    }
    stage.send_forward = draw(0.0, sends);
    stage.send_backward = draw(0.0, sends);
    stages.push_back(stage);
  }
  return stages;
}

void check_equal(const std::vector<StageSpan>& spans, const std::vector<StageSpan>& expected) {
  constexpr double tolerance = 1e-11;
  REQUIRE(spans.size() == expected.size());
  for (std::size_t s = 0; s < spans.size(); ++s) {
    CHECK_THAT(spans[s].end.si, WithinRel(expected[s].end.si, tolerance));
    CHECK_THAT(spans[s].sends.until(), WithinRel(expected[s].sends.until(), tolerance));
    CHECK_THAT(spans[s].sends_before_last.until(),
               WithinRel(expected[s].sends_before_last.until(), tolerance));
    REQUIRE(spans[s].last.size() == expected[s].last.size());
    for (std::size_t i = 0; i < spans[s].last.size(); ++i) {
      const LastBackward& one = spans[s].last[i];
      const LastBackward& other = expected[s].last[i];
      CHECK_THAT(one.arrival.si, WithinRel(other.arrival.si, tolerance));
      CHECK_THAT(one.start.si, WithinRel(other.start.si, tolerance));
      CHECK_THAT(one.end.si, WithinRel(other.end.si, tolerance));
      CHECK(one.last_micro_batch == other.last_micro_batch);
      CHECK(one.operation.chunk == other.operation.chunk);
      CHECK(std::tie(one.toward, one.from_stage, one.from_place) ==
            std::tie(other.toward, other.from_stage, other.from_place));
    }
  }
}

std::vector<StageDurations> equal_stages(std::size_t count, Seconds forward, Seconds backward) {
  StageDurations stage;
  stage.chunks.push_back({forward, backward});
  return std::vector<StageDurations>(count, stage);
}

}  // namespace

TEST_CASE("a step that repeats itself ends as if every micro-batch had been run") {
  std::mt19937 random(20261123);
  int repeated = 0;
  constexpr int cases = 800;
  for (int n = 0; n < cases; ++n) {
    const PipelineSchedule schedule = std::array{
        PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe, PipelineSchedule::zb_h1,
        PipelineSchedule::zb_h2,       PipelineSchedule::zb_v,  PipelineSchedule::dualpipe_v,
        PipelineSchedule::dualpipe}[random() % 7];
    const int count = 2 + static_cast<int>(random() % 6);
    const bool interleaved = schedule == PipelineSchedule::one_f_one_b && random() % 2 == 0;
    const int chunks = interleaved             ? 2 + static_cast<int>(random() % 3)
                       : is_v_shaped(schedule) ? 2
                                               : 1;
    const int passes = 4 + static_cast<int>(random() % 120);
    const int micro_batches = interleaved ? count * passes : 5 * passes + 5;
    const auto stages = random_stages(random, count, chunks, splits_backward(schedule));
    CAPTURE(n, count, chunks, micro_batches, static_cast<int>(schedule));
    std::vector<std::vector<OperationDates>> dates;
    const auto expected = run_every_micro_batch(stages, micro_batches, schedule, &dates);
    check_equal(run_pipeline(stages, micro_batches, schedule), expected);
    repeated += usual_micro_batches(schedule, count, chunks, micro_batches) < micro_batches ? 1 : 0;
  }
  CHECK(repeated > cases / 2);
}

TEST_CASE("a pipeline that ran before ends as it did, and one that differs in a number does not") {
  std::mt19937 random(20261128);
  const std::vector<Piece> pieces(3, Piece{{WorkKind::forward, Seconds{0.4}}, {}});
  for (int n = 0; n < 20; ++n) {
    auto stages = random_stages(random, 4, 1, false);
    for (StageDurations& stage : stages) {
      stage.chunks[0].forward_pieces = stage.chunks[0].backward_pieces = pieces;
      stage.beside_send = Paces(Pace(n % 2 == 0 ? 1.0 : 0.9), nullptr);
    }
    constexpr int micro_batches = 500;
    constexpr auto schedule = PipelineSchedule::one_f_one_b;
    const auto ends_of = [&](const std::vector<StageSpan>& spans) {
      std::vector<double> ends;
      for (const StageSpan& span : spans) {
        ends.insert(ends.end(), {span.end.si, span.slowed.si, span.last.front().start.si});
      }
      return ends;
    };
    const auto check = [&] {
      const auto expected =
          ends_of(run_until_it_repeats(stages, micro_batches, schedule, nullptr, nullptr));
      CHECK(ends_of(run_pipeline(stages, micro_batches)) == expected);
      CHECK(ends_of(run_pipeline(stages, micro_batches)) == expected);
    };
    check();
    stages[1].chunks[0].backward *= 1.001;
    check();
    stages[2].send_backward += Seconds{3.0};
    check();
    stages[0].beside_send = Paces(Pace(0.8), nullptr);
    check();
    const std::vector<Piece> longer(3, Piece{{WorkKind::forward, Seconds{0.5}}, {}});
    stages[0].chunks[0].forward_pieces = longer;
    check();
    CHECK(ends_of(run_pipeline(stages, micro_batches + 1)) !=
          ends_of(run_pipeline(stages, micro_batches)));
  }
}

TEST_CASE("a link that is slower than the work by a little is not taken for settled") {
  // Sends of stage 0 are a thousandth slower than the work of stage 1, which still hides them while
  // what stage 0 ran ahead by lasts: its warm-up. What two nearby lengths add says nothing of it.
  std::vector<StageDurations> stages = equal_stages(8, 1_s, 2_s);
  stages[0].send_forward = Seconds{3.003};
  const int micro_batches = GENERATE(97, 400, 3000);
  check_equal(run_pipeline(stages, micro_batches),
              run_every_micro_batch(stages, micro_batches, PipelineSchedule::one_f_one_b));
}

TEST_CASE("GPipe repeats itself where sends hold units of the GPU, which slows its work") {
  // While a send is in flight work runs at 3/4: sends of 0.3 s, with operations of 1 s and 2 s.
  const std::vector<Piece> forward{{{WorkKind::forward, 1_s, {}}, {}}};
  const std::vector<Piece> backward{{{WorkKind::backward, 2_s, {}}, {}}};
  std::vector<StageDurations> stages = equal_stages(4, 1_s, 2_s);
  for (StageDurations& stage : stages) {
    stage.chunks[0].forward_pieces = forward;
    stage.chunks[0].backward_pieces = backward;
    stage.send_forward = stage.send_backward = Seconds{0.3};
    stage.beside_send = Paces(Pace(0.75), nullptr);
  }
  const auto expected = run_every_micro_batch(stages, 2000, PipelineSchedule::gpipe);
  const auto spans = run_pipeline(stages, 2000, PipelineSchedule::gpipe);
  check_equal(spans, expected);
  for (std::size_t s = 0; s < spans.size(); ++s) {
    CHECK_THAT(spans[s].slowed.si, WithinRel(expected[s].slowed.si, 1e-9));
  }
  // The first stage is beside its own sends, all but the first forward; the last one has none.
  CHECK(spans.front().slowed > 0_s);
}

TEST_CASE("a step of a million micro-batches takes a million times what one adds") {
  // Stage 2 is the slowest of four: (m - 1) of its forward and backward, beside the first.
  const auto [schedule, chunks] =
      GENERATE(std::pair{PipelineSchedule::one_f_one_b, 1}, std::pair{PipelineSchedule::gpipe, 1},
               std::pair{PipelineSchedule::zb_v, 2}, std::pair{PipelineSchedule::dualpipe_v, 2});
  std::vector<StageDurations> stages = equal_stages(4, 1_ms, 2_ms);
  stages[2].chunks[0] = {2_ms, 4_ms};
  for (StageDurations& stage : stages) {
    stage.chunks.resize(static_cast<std::size_t>(chunks), stage.chunks.front());
  }
  // Every stage ends with the same backwards, so the first one's end tells.
  const Seconds few = run_pipeline(stages, 1000, schedule).front().end;
  const Seconds many = run_pipeline(stages, 1'000'000, schedule).front().end;
  CHECK_THAT((many - few) / 1_ms, WithinRel(999'000 * 6.0 * chunks, 1e-9));
}
