// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// What scripts read: the result of `predict --json`.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::predicted;

namespace {

// Numbers without a unit by their nature.
bool is_pure(std::string_view key) {
  constexpr std::array<std::string_view, 30> pure = {"schema",
                                                     "band_ratio",
                                                     "probability_no_difference",
                                                     "draws",
                                                     "seed",
                                                     "speedup",
                                                     "speedup_low",
                                                     "speedup_high",
                                                     "probability",
                                                     "numbers",
                                                     "sigmas",
                                                     "mean_sigmas",
                                                     "left_sigmas",
                                                     "batches",
                                                     "scanned_low",
                                                     "scanned_high",
                                                     "low",
                                                     "high",
                                                     "wire_ratio_now",
                                                     "convergence_slack_ratio",
                                                     "variance_share_ratio",
                                                     "mfu_ratio",
                                                     "hfu_ratio",
                                                     "tokens",
                                                     "steps",
                                                     "width_before_ratio",
                                                     "width_after_ratio",
                                                     "gpus",
                                                     "most_gpus",
                                                     "dp"};
  return std::find(pure.begin(), pure.end(), key) != pure.end();
}

void check_units(const json& node, const std::string& key) {
  if (node.is_object()) {
    for (const auto& [name, value] : node.items()) {
      check_units(value, name);
    }
  } else if (node.is_array()) {
    for (const json& item : node) {
      check_units(item, key);
    }
  } else if (node.is_number()) {
    INFO(key);
    constexpr std::array units{"_seconds",
                               "_bytes",
                               "_bytes_per_second",
                               "_flops",
                               "_flops_per_second_per_gpu",
                               "samples_per_second",
                               "tokens_per_second",
                               "_hours",
                               "_kwh",
                               "_usd"};
    const bool has_unit = std::any_of(units.begin(), units.end(),
                                      [&](const char* unit) { return key.ends_with(unit); });
    CHECK((has_unit || is_pure(key)));
  }
}

}  // namespace

TEST_CASE("a result names its schema, tool, command, inputs and seed") {
  const json result = predicted();
  CHECK(result["schema"] == 1);
  CHECK(result["kind"] == "predict");
  CHECK(result["tool"]["name"] == "payoff");
  CHECK_THAT(result["command_line"].get<std::string>(), ContainsSubstring("--model gpt2"));
  CHECK(result["experiment"]["sha256"] == sha256(result["experiment"]["yaml"].get<std::string>()));
  CHECK(result["seed"].is_number());
  std::vector<std::string> files;
  for (const json& profile : result["profiles"]) {
    files.push_back(profile["file"]);
    CHECK(profile["sha256"] ==
          sha256(test::read_text(PAYOFF_SOURCE_DIR "/profiles/" + files.back())));
  }
  for (const char* file : {"cluster/p3-8xlarge.yaml", "compression/powersgd.yaml",
                           "fitted/network.yaml", "model/gpt2.json"}) {
    CHECK(std::find(files.begin(), files.end(), file) != files.end());
  }
}

TEST_CASE("every number of a result has its unit in its key") {
  check_units(predicted({"--engine", "mgwfbp"}), "");
}

TEST_CASE("the terms of the waterfall add up to the step") {
  const json result = predicted();
  REQUIRE(result["plans"].size() == 3);
  for (const json& plan : result["plans"]) {
    double sum = 0;
    for (const auto& [term, seconds] : plan["waterfall"].items()) {
      sum += seconds.get<double>();
    }
    CHECK_THAT(sum, WithinRel(plan["step_seconds"].get<double>(), 1e-9));
  }
}
