// SPDX-License-Identifier: Apache-2.0
#include "study/network_worth.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

constexpr double steps = 1000;

// A step of 0.8 s against 1 s of the best remedy, 0.9 to 1.5 times as fast, on four nodes with one
// NIC of 10 Gb/s each.
struct Case {
  Experiment job = test::small_job();
  Payoff payoff;
  std::vector<BreakEven> break_evens;
  NetworkQuestion question;

  Case() {
    PlanPayoff plan;
    plan.label = "half";
    plan.prediction.step = 0.8_s;
    plan.against_remedy.speedup_low = 0.9;
    plan.against_remedy.speedup_high = 1.5;
    payoff.plans = {plan};
    payoff.remedy.prediction.step = 1_s;
    BreakEven entry;
    entry.label = "half";
    entry.bandwidth = IntervalSet<Bandwidth>{{{1_Gbps, 25_Gbps}}, 1_Gbps, 100_Gbps};
    break_evens = {entry};
    const double samples = steps * job.layout.global_batch() * training_work(job).tokens;
    question = {samples, {36.0 / 3600}, 12};  // 1 US cent a second
  }
  [[nodiscard]] NetworkWorth worth() const {
    return network_worths(job, payoff, break_evens, question).at(0);
  }
};

}  // namespace

TEST_CASE("the network that makes compression pointless is bought for every NIC of the job") {
  const Case given;
  const NetworkWorth worth = given.worth();
  CHECK(worth.pays_now);
  REQUIRE(worth.pointless_from);
  // 15 Gb/s more for each of four nodes.
  CHECK_THAT(worth.added / 1_Gbps, WithinRel(60.0, 1e-12));
  CHECK_THAT(worth.network_usd, WithinRel(720.0, 1e-12));
  // 0.2 s of four nodes a step.
  CHECK_THAT(worth.saved_usd, WithinRel(steps * 0.2 * 4 * 0.01, 1e-9));
  CHECK_THAT(*worth.trainings, WithinRel(720.0 / (steps * 0.008), 1e-9));
  CHECK_THAT(worth.saved_low_usd, WithinRel(steps * 0.8 * 4 * 0.01 * (0.9 - 1), 1e-9));
  CHECK_THAT(worth.saved_high_usd, WithinRel(steps * 0.8 * 4 * 0.01 * (1.5 - 1), 1e-9));
}

TEST_CASE("a strategy that pays at every rate, or at none, has no such network") {
  Case given;
  given.break_evens[0].bandwidth->intervals[0].open_high = true;
  CHECK(given.worth().pays_now);
  CHECK_FALSE(given.worth().pointless_from);
  CHECK_FALSE(given.worth().trainings);
  given.break_evens[0].bandwidth->intervals[0] = {1_Gbps, 9_Gbps};
  CHECK_FALSE(given.worth().pays_now);
  CHECK(given.worth().network_usd == 0.0);
  given.break_evens[0].bandwidth.reset();  // replicas in one node
  CHECK(network_worths(given.job, given.payoff, given.break_evens, given.question).empty());
}

TEST_CASE("without a price of nodes nothing is said to be saved") {
  Case given;
  given.question.node = {};
  CHECK(given.worth().saved_usd == 0.0);
  CHECK_FALSE(given.worth().trainings);
  CHECK_THAT(given.worth().network_usd, WithinRel(720.0, 1e-12));
}
