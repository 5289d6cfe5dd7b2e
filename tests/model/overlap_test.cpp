// SPDX-License-Identifier: Apache-2.0
#include "model/overlap.hpp"

#include <memory>
#include <numeric>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

struct Gradients {
  int ready_after{};
  BucketKind kind;
};

Gradients bucket(int ready_after, Seconds encode, Seconds message, Seconds decode) {
  Gradients result;
  result.ready_after = ready_after;
  result.kind.rounds.push_back({{WorkKind::encode, encode}, {}});
  result.kind.rounds.back().message.alone = message;
  result.kind.decode = {WorkKind::decode, decode};
  return result;
}

StepPlan stage(const std::vector<Seconds>& pieces, const std::vector<Gradients>& gradients) {
  auto compute = std::make_shared<StageCompute>();
  for (const Seconds piece : pieces) {
    compute->backward.push_back({{WorkKind::backward, piece}, {}});
    compute->backward_work += piece;
  }
  StepPlan plan;
  StagePlan& only = plan.stages.emplace_back();
  only.compute = std::move(compute);
  for (const Gradients& one : gradients) {
    only.buckets.push_back({one.ready_after, plan.kinds.size()});
    plan.kinds.push_back(one.kind);
  }
  return plan;
}

OverlapResult overlap_gradients(StepPlan plan, Placement placement, bool overlap,
                                double reserved_share) {
  plan.placement = placement;
  plan.overlap = overlap;
  plan.reserved_share = reserved_share;
  return payoff::overlap_gradients(plan, 0);
}

Seconds sum_of_terms(const OverlapResult& r) {
  return r.work + r.exposed_tp + r.wait + r.interference + r.encode + r.decode + r.bucket_copy +
         r.exposed_dp;
}

}  // namespace

TEST_CASE("the last bucket cannot hide: backward, then its message") {
  // Buckets ready at 10 and 20 ms; messages of 4 ms. The first hides, the second is a tail.
  const StepPlan plan =
      stage({10_ms, 10_ms}, {bucket(0, 0_s, 4_ms, 0_s), bucket(1, 0_s, 4_ms, 0_s)});
  const OverlapResult r = overlap_gradients(plan, Placement::compute_stream, true, 0.0);
  CHECK_THAT(r.finish / 1_ms, WithinRel(24.0, 1e-12));
  CHECK_THAT(r.exposed_dp / 1_ms, WithinRel(4.0, 1e-12));
  CHECK_THAT(r.dp_busy / 1_ms, WithinRel(8.0, 1e-12));
}

TEST_CASE("messages of one communicator run one at a time") {
  // Both ready by 2 ms, 10 ms each: the second waits for the first until 11 ms.
  const StepPlan plan =
      stage({1_ms, 1_ms}, {bucket(0, 0_s, 10_ms, 0_s), bucket(1, 0_s, 10_ms, 0_s)});
  const OverlapResult r = overlap_gradients(plan, Placement::compute_stream, true, 0.0);
  CHECK_THAT(r.finish / 1_ms, WithinRel(21.0, 1e-12));
}

TEST_CASE("without overlap every message waits for the end of backward") {
  const StepPlan plan =
      stage({10_ms, 10_ms}, {bucket(0, 0_s, 4_ms, 0_s), bucket(1, 0_s, 4_ms, 0_s)});
  const OverlapResult r = overlap_gradients(plan, Placement::compute_stream, false, 0.0);
  CHECK_THAT(r.finish / 1_ms, WithinRel(28.0, 1e-12));
}

TEST_CASE("encoding on the compute stream delays backward by its whole length") {
  // 10 ms, encode 3, 10 ms, encode 3, then the tail: message 4, decode 1.
  const StepPlan plan =
      stage({10_ms, 10_ms}, {bucket(0, 3_ms, 4_ms, 1_ms), bucket(1, 3_ms, 4_ms, 1_ms)});
  const OverlapResult r = overlap_gradients(plan, Placement::compute_stream, true, 0.0);
  // The first bucket's decode (1 ms) runs once the second piece is done, before or after the second
  // encode; either way 20 + 2 x 3 + 1 ms of compute precede the end of the second encode, and the
  // message and decode of the second bucket follow.
  CHECK_THAT(r.finish / 1_ms, WithinAbs(32.0, 1.0 + 1e-9));
  CHECK_THAT(r.encode / 1_ms, WithinRel(6.0, 1e-12));
  CHECK_THAT(r.work / 1_ms, WithinRel(20.0, 1e-12));
}

TEST_CASE("a codec beside backward takes half of the units, and no work is lost") {
  // Encode of 2 ms starts at 10 ms: both run at half rate for 4 ms; backward ends at 22, not 20.
  const StepPlan plan = stage({10_ms, 10_ms}, {bucket(0, 2_ms, 1_ms, 0_s)});
  const OverlapResult r = overlap_gradients(plan, Placement::side_stream, true, 0.0);
  CHECK_THAT(r.finish / 1_ms, WithinRel(22.0, 1e-12));
  CHECK_THAT(r.interference / 1_ms, WithinRel(2.0, 1e-12));
}

TEST_CASE("a message that holds a tenth of the units slows what runs beside it by 1/0.9") {
  // The message lasts 9 ms from t = 10; backward does 8.1 ms of its 10 in it, the rest after.
  const StepPlan plan = stage({10_ms, 10_ms}, {bucket(0, 0_s, 9_ms, 0_s)});
  const OverlapResult r = overlap_gradients(plan, Placement::compute_stream, true, 0.1);
  CHECK_THAT(r.finish / 1_ms, WithinRel(20.9, 1e-12));
  CHECK_THAT(r.interference / 1_ms, WithinRel(0.9, 1e-12));
}

TEST_CASE("rounds of a bucket follow each other: encode, send, encode, send, decode") {
  Gradients two = bucket(0, 1_ms, 2_ms, 5_ms);
  two.kind.rounds.push_back({{WorkKind::encode, 3_ms}, {}});
  two.kind.rounds.back().message.alone = 4_ms;
  const StepPlan plan = stage({10_ms}, {two});
  const OverlapResult r = overlap_gradients(plan, Placement::compute_stream, true, 0.0);
  CHECK_THAT(r.finish / 1_ms, WithinRel(10.0 + 1 + 2 + 3 + 4 + 5, 1e-12));
}

TEST_CASE("the terms of the last backward add up to its length, whatever the plan") {
  const auto placement =
      GENERATE(Placement::compute_stream, Placement::side_stream, Placement::after_backward);
  const double reserved = GENERATE(0.0, 0.15);
  const Seconds message = GENERATE(1_us, 3_ms, 40_ms);
  const Seconds codec = GENERATE(0_s, 500_us, 7_ms);
  const StepPlan plan = stage({4_ms, 5_ms, 6_ms}, {bucket(0, codec, message, codec / 2),
                                                   bucket(1, codec, message / 3, codec / 2),
                                                   bucket(2, codec * 2, message, codec)});
  const OverlapResult r = overlap_gradients(plan, placement, true, reserved);
  CHECK_THAT(sum_of_terms(r) / r.finish, WithinRel(1.0, 1e-12));
  CHECK(r.finish >= 15_ms);
  CHECK(r.dp_busy * (1.0 + 1e-12) >= r.exposed_dp);
}

TEST_CASE("several communications of one GPU can overlap") {
  // Ready at 1 ms, the gradients' 10 ms pass beside a tensor-parallel message of 10 ms and end with
  // it.
  const StepPlan plan = stage({1_ms, 0_s}, {bucket(0, 0_s, 10_ms, 0_s)});
  auto compute = std::make_shared<StageCompute>(*plan.stages[0].compute);
  compute->backward[1].message.alone = 10_ms;
  StepPlan both = plan;
  both.stages[0].compute = compute;
  const OverlapResult r = overlap_gradients(both, Placement::compute_stream, true, 0.1);
  CHECK_THAT(r.finish / 1_ms, WithinRel(11.0, 1e-12));
  CHECK(r.exposed_dp / 1_ms < 1e-9);
  CHECK(r.interference == 0_s);  // nothing computes
}

TEST_CASE("longer messages never shorten a step") {
  const auto placement = GENERATE(Placement::compute_stream, Placement::after_backward);
  Seconds previous;
  for (double ms = 0.1; ms < 50.0; ms *= 1.3) {
    const Seconds message = ms * 1_ms;
    const StepPlan plan =
        stage({4_ms, 5_ms, 6_ms}, {bucket(0, 0_s, message, 0_s), bucket(2, 0_s, 2 * message, 0_s)});
    const OverlapResult r = overlap_gradients(plan, placement, true, 0.05);
    CHECK(r.finish >= previous);
    previous = r.finish;
  }
}
