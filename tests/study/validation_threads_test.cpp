// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "study/row_catalogue.hpp"
#include "study/validation_cases.hpp"
#include "tests/catch.hpp"

// `payoff validate` draws what is not known of each row, the rows on all threads.

using namespace payoff;

namespace {

const std::filesystem::path root = PAYOFF_SOURCE_DIR;  // NOLINT: tests may allocate

// Some rows from all over a published file: one more than there are threads.
std::vector<TrainingRow> some_rows(const char* file) {
  constexpr std::size_t most = 17;
  const std::vector<TrainingRow> all =
      read_training_rows(root / "tests/validation/training" / file).rows;
  REQUIRE(all.size() >= most);
  std::vector<TrainingRow> rows;
  for (std::size_t i = 0; i < most; ++i) {
    rows.push_back(all[i * all.size() / most]);
  }
  return rows;
}

bool are_equal(const ValidationCase& one, const ValidationCase& other) {
  return one.id == other.id && one.predicted == other.predicted && one.low == other.low &&
         one.high == other.high && one.reasons == other.reasons &&
         one.assumptions == other.assumptions && one.predicted_call == other.predicted_call &&
         one.terms == other.terms;
}

// Whether two and sixteen threads make the cases of one; how many of them have an interval that is
// more than a point, so that something was drawn.
template <typename Cases>
std::size_t drawn_alike(const Cases& cases_of) {
  const std::vector<ValidationCase> alone = cases_of({.draws = 8, .threads = 1});
  for (const unsigned threads : {2U, 16U}) {
    INFO(threads);
    const std::vector<ValidationCase> several = cases_of({.draws = 8, .threads = threads});
    CHECK(std::equal(alone.begin(), alone.end(), several.begin(), several.end(), are_equal));
  }
  return static_cast<std::size_t>(std::count_if(
      alone.begin(), alone.end(), [](const ValidationCase& c) { return c.low < c.high; }));
}

}  // namespace

TEST_CASE("published steps and speedups draw the same intervals on 1, 2 and 16 threads") {
  const Library library(root / "profiles");
  const RowCatalogue catalogue = read_row_catalogue(library, true);
  const MethodCatalogue methods = read_method_catalogue(library);
  const std::vector<TrainingRow> steps = some_rows("dle_cnn.yaml");
  CHECK(drawn_alike([&](const ValidationOptions& options) {
          return step_cases(steps, {}, catalogue, options);
        }) > 0);
  const std::vector<TrainingRow> compressed = some_rows("grace.yaml");
  CHECK(drawn_alike([&](const ValidationOptions& options) {
          return compression_cases(compressed, {}, catalogue, methods, options);
        }) > 0);
}
