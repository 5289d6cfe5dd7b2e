// SPDX-License-Identifier: Apache-2.0
#include "study/compute_calibration.hpp"

#include <filesystem>

#include "tests/catch.hpp"

using namespace payoff;

TEST_CASE("without the split of published rows no law of compute is fitted, and it is named") {
  const Library library(std::filesystem::path(PAYOFF_SOURCE_DIR) / "profiles");
  CHECK_THROWS_WITH(calibrate_compute(library, "no-such-folder"),
                    Catch::Matchers::ContainsSubstring("split.csv"));
}
