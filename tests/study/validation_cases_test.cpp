// SPDX-License-Identifier: Apache-2.0
#include "study/validation_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "study/row_catalogue.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::filesystem::path root = PAYOFF_SOURCE_DIR;  // NOLINT: tests may allocate

TrainingRow grace_row(const std::string& method) {
  TrainingRow row;
  row.id = "row";
  row.source = "grace";
  row.compression.method = method;
  row.compression.traffic = {"dp"};
  return row;
}

}  // namespace

TEST_CASE("a published compression is a profile with the row's own parameter, or a reason") {
  const MethodCatalogue methods = read_method_catalogue(Library(root / "profiles"));
  TrainingRow row = grace_row("topk");
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("ratio not stated"));
  row.compression.keep_ratio = 0.25;
  row.compression.error_feedback = false;
  const RowPlan plan = row_plan(row, methods);
  REQUIRE(plan.plan);
  CHECK(plan.plan->method->parameters.at("ratio") == 0.25);
  CHECK(plan.plan->label == "topk_sort:ratio=0.25,error_feedback=0");
  row.compression.where = "cpu";
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("CPU"));
  CHECK_FALSE(row_plan(grace_row("inceptionn"), methods).plan);
  row = grace_row("threshold");  // what passes it depends on the data
  row.compression.threshold = 0.01;
  row.compression.error_feedback = false;
  CHECK_THAT(row_plan(row, methods).reasons.at(0), ContainsSubstring("density not stated"));
  row = grace_row("topk");
  row.source = "somebody";  // another implementation
  CHECK_FALSE(row_plan(row, methods).plan);
}

TEST_CASE("every published step is predicted or refused with a reason") {
  const RowCatalogue catalogue = read_row_catalogue(Library(root / "profiles"), true);
  Findings findings;
  const Split split = read_split(root / "tests/validation/split.csv", findings);
  // One source of each half; the whole is `payoff validate`.
  std::vector<TrainingRow> rows;
  for (const char* file : {"dle_cnn.yaml", "megatron_sc21.yaml", "hkbu_ddl.yaml"}) {
    const TrainingImport import = read_training_rows(root / "tests/validation/training" / file);
    rows.insert(rows.end(), import.rows.begin(), import.rows.end());
  }
  const auto cases = step_cases(rows, split, catalogue, {.draws = 8});
  REQUIRE_FALSE(cases.empty());
  std::set<Half> halves;
  int predicted = 0;
  for (const ValidationCase& c : cases) {
    INFO(c.id);
    CHECK(c.predicted.has_value() == c.reasons.empty());
    CHECK(c.measured.has_value());
    if (c.predicted) {
      ++predicted;
      CHECK(*c.predicted > 0);
      CHECK(c.low <= c.high);
    }
    halves.insert(c.half);
  }
  CHECK(predicted > 0);
  CHECK(halves.count(Half::fit) + halves.count(Half::judge) == 2);
  // One thread or two: the same cases in the same order.
  const auto again = step_cases(rows, split, catalogue, {.draws = 8, .threads = 1});
  REQUIRE(again.size() == cases.size());
  CHECK(std::equal(cases.begin(), cases.end(), again.begin(), [](const auto& a, const auto& b) {
    return a.id == b.id && a.predicted == b.predicted && a.low == b.low;
  }));
}
