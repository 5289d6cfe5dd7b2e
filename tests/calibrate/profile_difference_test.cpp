// SPDX-License-Identifier: Apache-2.0
#include "calibrate/profile_difference.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

const std::string shipped =
    "# written by a fit\n"
    "citations:\n"
    "  steps: {kind: published, text: \"95 steps of 2022-01\"}\n"
    "gpu:\n"
    "  a100:\n"
    "    gemm_efficiency:\n"
    "      bf16: {value: 0.684, sd: 0.03, from: steps}\n"
    "    launch: {value: 2.59 us, from: steps}\n"
    "fits:\n"
    "  a100:\n"
    "    covariance:\n"
    "    - [0.1, -0.2]\n"
    "    - [-0.2, 0.4]\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text = shipped;
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("a profile does not differ from itself, whatever its remarks say") {
  CHECK(profile_differences(shipped, shipped).empty());
  CHECK(profile_differences(shipped, with("by a fit", "by another fit")).empty());
}

TEST_CASE("one unit of the third digit is rounding, two are another result") {
  CHECK(profile_differences(shipped, with("0.684", "0.685")).empty());
  CHECK(profile_differences(shipped, with("2.59 us", "2.58 us")).empty());
  const auto different = profile_differences(shipped, with("0.684", "0.686"));
  REQUIRE(different.size() == 1);
  CHECK(different[0].path == "gpu.a100.gemm_efficiency.bf16");
  CHECK(different[0].shipped == "{value: 0.684, sd: 0.03, from: steps}");
  CHECK_THAT(different[0].change_ratio.value(), WithinRel(0.002 / 0.684, 1e-9));
}

TEST_CASE("units, words and signs are compared to the letter") {
  CHECK(profile_differences(shipped, with("2.59 us", "2.59 ms")).size() == 1);
  CHECK(profile_differences(shipped, with("from: steps}\n    launch", "from: assumed}\n    launch"))
            .size() == 1);
  CHECK(profile_differences(shipped, with("[-0.2, 0.4]", "[0.2, 0.4]")).size() == 1);
}

TEST_CASE("words that begin like numbers are words") {
  const std::string text = "citations:\n  a: {text: nandor/infinity at 1e999}\n";
  CHECK(profile_differences(text, text).empty());
  CHECK(profile_differences(text, "citations:\n  a: {text: nandor/infinity at 1e998}\n").size() ==
        1);
}

TEST_CASE("what only one of them has is said with its path") {
  const auto added =
      profile_differences(shipped, with("    launch", "    depth_half: {value: 64}\n    launch"));
  REQUIRE(added.size() == 1);
  CHECK(added[0].path == "gpu.a100.depth_half");
  CHECK(added[0].shipped.empty());
  const auto removed = profile_differences(shipped, with("    - [-0.2, 0.4]\n", ""));
  REQUIRE(removed.size() == 1);
  CHECK(removed[0].path == "fits.a100.covariance[1]");
  CHECK(removed[0].fitted.empty());
}

TEST_CASE("words that begin like an infinite number are words") {
  constexpr std::string_view text = "a: {text: \"aks-rdma-infiniband, nan\"}\n";
  CHECK(profile_differences(text, text).empty());
}
