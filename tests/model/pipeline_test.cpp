// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

std::vector<StageDurations> equal_stages(int count, StageDurations durations) {
  return std::vector<StageDurations>(static_cast<std::size_t>(count), durations);
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
  const auto spans = run_pipeline(equal_stages(stages, {2_ms, 5_ms, {}, {}}), micro_batches, 1);
  CHECK_THAT(end_of(spans) / 1_ms, WithinRel((micro_batches + stages - 1) * 7.0, 1e-12));
}

TEST_CASE("v chunks divide the bubble by v") {
  // Narayanan et al. 2021, section 2.2.2: the bubble is (p - 1)(t_f + t_b) / v.
  const int chunks = GENERATE(2, 3, 6);
  const auto spans = run_pipeline(equal_stages(4, {3_ms, 6_ms, {}, {}}), 16, chunks);
  CHECK_THAT(end_of(spans) / 1_ms, WithinRel(16 * 9.0 + 3 * 9.0 / chunks, 1e-12));
}

TEST_CASE("a single stage has no bubble") {
  const auto spans = run_pipeline(equal_stages(1, {1_ms, 2_ms, {}, {}}), 5, 1);
  CHECK_THAT(spans.front().end / 1_ms, WithinRel(15.0, 1e-12));
  // The last backward pass starts 2 ms before the end.
  CHECK_THAT(spans.front().last_backward_start / 1_ms, WithinRel(13.0, 1e-12));
}

TEST_CASE("with one micro-batch every transfer lies on the path, forward and back") {
  // 3 stages: forwards 1+1+1, backwards 2+2+2, two transfers each way of 0.5 and 0.25 ms.
  const auto spans = run_pipeline(equal_stages(3, {1_ms, 2_ms, 500_us, 250_us}), 1, 1);
  CHECK_THAT(spans.front().end / 1_ms, WithinRel(9.0 + 2 * 0.5 + 2 * 0.25, 1e-12));
}

TEST_CASE("the slowest stage sets the pace of a long pipeline") {
  std::vector<StageDurations> stages = equal_stages(4, {1_ms, 2_ms, {}, {}});
  stages[2] = {2_ms, 4_ms, {}, {}};
  const Seconds at_100 = end_of(run_pipeline(stages, 100, 1));
  const Seconds at_101 = end_of(run_pipeline(stages, 101, 1));
  CHECK_THAT((at_101 - at_100) / 1_ms, WithinRel(6.0, 1e-9));
}

TEST_CASE("the first stage ends last, and every later stage earlier by one backward") {
  const auto spans = run_pipeline(equal_stages(4, {1_ms, 2_ms, {}, {}}), 8, 1);
  for (std::size_t s = 1; s < spans.size(); ++s) {
    CHECK_THAT((spans[s - 1].end - spans[s].end) / 1_ms, WithinRel(2.0, 1e-9));
  }
}

TEST_CASE("slower transfers never shorten a pipeline") {
  const int chunks = GENERATE(1, 2);
  Seconds previous;
  for (const Seconds send : {0_us, 10_us, 100_us, 1_ms, 10_ms}) {
    const Seconds end = end_of(run_pipeline(equal_stages(4, {1_ms, 2_ms, send, send}), 12, chunks));
    CHECK(end >= previous);
    previous = end;
  }
}
