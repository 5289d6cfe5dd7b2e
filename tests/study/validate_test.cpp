// SPDX-License-Identifier: Apache-2.0
#include "study/validate.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

ValidationCase step_case(const std::string& source, Half half, double predicted, double measured) {
  ValidationCase result;
  result.id = source + "-" + std::to_string(predicted);
  result.source = source;
  result.kind = CaseKind::step;
  result.half = half;
  result.unit = "s";
  result.predicted = predicted;
  result.low = 0.9 * predicted;
  result.high = 1.1 * predicted;
  result.measured = measured;
  return result;
}

ValidationCase speedup_case(Call predicted, Call measured) {
  ValidationCase result = step_case("s", Half::judge, 1, 1);
  result.kind = CaseKind::compression;
  result.predicted_call = predicted;
  result.measured_call = measured;
  return result;
}

const ValidationSummary& find(const std::vector<ValidationSummary>& all, Half half,
                              const std::string& group) {
  for (const ValidationSummary& summary : all) {
    if (summary.half == half && summary.group.text == group) {
      return summary;
    }
  }
  FAIL("no such summary");
  return all.front();
}

}  // namespace

TEST_CASE("errors are relative to what was measured, halves apart") {
  const std::vector<ValidationCase> cases{
      step_case("a", Half::fit, 110, 100), step_case("a", Half::judge, 80, 100),
      step_case("b", Half::judge, 100, 100), step_case("b", Half::judge, 130, 100)};
  const auto all = summarise(cases, GroupBy::nothing);
  REQUIRE(all.size() == 2);
  CHECK(all[0].half == Half::judge);  // what was not fitted comes first
  CHECK_THAT(all[1].errors.median, WithinRel(0.1, 1e-9));
  const ValidationSummary& judge = all[0];
  CHECK(judge.cases == 3);
  CHECK_THAT(judge.errors.median, WithinRel(0.2, 1e-9));  // of 0, 20 and 30 %
  CHECK_THAT(judge.errors.bias, WithinAbs(0.0, 1e-12));   // of -20 %, 0 and +30 %
  CHECK_THAT(judge.errors.p95, WithinRel(0.29, 1e-9));    // nine tenths from 20 % to 30 %
  CHECK_THAT(judge.coverage, WithinRel(1.0 / 3, 1e-9));   // 100 in 90..110 only
  CHECK(summarise(cases, GroupBy::source).size() == 3);   // judge a, judge b, fit a
}

TEST_CASE("the classes of sizes keep their order") {
  std::vector<ValidationCase> cases{step_case("a", Half::judge, 1, 1),
                                    step_case("a", Half::judge, 1, 1)};
  cases[0].size = {2, "above"};
  cases[1].size = {1, "below"};
  const auto all = summarise(cases, GroupBy::size);
  REQUIRE(all.size() == 2);
  CHECK(all[0].group.text == "below");
  CHECK(all[1].group.text == "above");
}

TEST_CASE("what cannot be predicted is counted, not scored") {
  ValidationCase unsupported = step_case("a", Half::judge, 1, 100);
  unsupported.predicted.reset();
  unsupported.reasons = {"expert parallelism"};
  const auto all = summarise({unsupported, step_case("a", Half::judge, 90, 100)}, GroupBy::source);
  const ValidationSummary& summary = find(all, Half::judge, "a");
  CHECK(summary.cases == 2);
  CHECK(summary.errors.count == 1);
  CHECK(summary.unsupported == 1);
  CHECK_THAT(summary.errors.median, WithinRel(0.1, 1e-9));
}

TEST_CASE("reasons that differ in a number are counted together, words with digits stay") {
  std::vector<ValidationCase> cases(3, step_case("a", Half::judge, 1, 1));
  cases[0].reasons = {"batch 12 is not a count", "precision bf16"};
  cases[1].reasons = {"batch 7 is not a count"};
  cases[2].reasons = {"precision bf16", "precision bf16"};  // once a case
  const auto counts = count_reasons(cases);
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].reason == "batch N is not a count");
  CHECK(counts[0].cases == 2);
  CHECK(counts[1].reason == "precision bf16");
  CHECK(counts[1].cases == 2);
}

TEST_CASE("a verdict is right or wrong only outside the noise, and abstaining is neither") {
  // Pays: two right, one wrong, one abstained; does not: one right; noise: ignored.
  const auto all = summarise(
      {speedup_case(Call::pays, Call::pays), speedup_case(Call::pays, Call::pays),
       speedup_case(Call::does_not, Call::pays), speedup_case(Call::within_noise, Call::pays),
       speedup_case(Call::does_not, Call::does_not), speedup_case(Call::pays, Call::within_noise)},
      GroupBy::nothing);
  const CallStatistics& calls = all.at(0).calls;
  CHECK(calls.callable == 5);
  CHECK_THAT(calls.abstention, WithinRel(0.2, 1e-9));
  CHECK_THAT(calls.balanced_accuracy.value(), WithinRel(0.5 * (2.0 / 3 + 1.0), 1e-9));
}

TEST_CASE("always answering no is no better than half right") {
  std::vector<ValidationCase> cases{speedup_case(Call::pays, Call::pays),
                                    speedup_case(Call::does_not, Call::does_not),
                                    speedup_case(Call::does_not, Call::does_not)};
  for (ValidationCase& each : cases) {
    each.rivals.push_back({"always no", 1.0, Call::does_not});
  }
  const ValidationSummary summary = summarise(cases, GroupBy::nothing).at(0);
  CHECK_THAT(summary.calls.balanced_accuracy.value(), WithinRel(1.0, 1e-9));
  REQUIRE(summary.rivals.size() == 1);
  CHECK_THAT(summary.rivals[0].calls.balanced_accuracy.value(), WithinRel(0.5, 1e-9));
}

TEST_CASE("another predictor is compared on the cases that it predicts") {
  std::vector<ValidationCase> cases{step_case("a", Half::judge, 110, 100),
                                    step_case("a", Half::judge, 150, 100)};
  cases[0].rivals.push_back({"tuner", 60, Call::none});
  const ValidationSummary summary = summarise(cases, GroupBy::nothing).at(0);
  REQUIRE(summary.rivals.size() == 1);
  CHECK(summary.rivals[0].errors.count == 1);
  CHECK_THAT(summary.rivals[0].errors.bias, WithinRel(-0.4, 1e-9));
  CHECK_THAT(summary.rivals[0].ours_median, WithinRel(0.1, 1e-9));
}

TEST_CASE("a measured speedup inside the noise is no call") {
  CHECK(call_of_measured(1.04) == Call::within_noise);
  CHECK(call_of_measured(1.06) == Call::pays);
  CHECK(call_of_measured(0.94) == Call::does_not);
  CHECK(call_of_predicted(0.5) == Call::within_noise);
  CHECK(call_of_predicted(0.95) == Call::pays);
  CHECK(call_of_predicted(0.05) == Call::does_not);
}

TEST_CASE("half as long is as wrong as twice as long") {
  const std::vector<ValidationCase> cases{
      step_case("a", Half::judge, 51, 100), step_case("a", Half::judge, 199, 100),
      step_case("a", Half::judge, 48, 100), step_case("a", Half::fit, 1, 100)};
  const auto worst = worst_cases(cases, CaseKind::step, Half::judge, 2);
  REQUIRE(worst.size() == 2);
  CHECK(*worst[0]->predicted == 48);
  CHECK(*worst[1]->predicted == 199);  // ln 1.99 > -ln 0.51
}
