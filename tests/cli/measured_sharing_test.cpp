// SPDX-License-Identifier: Apache-2.0
// What shares a GPU, and what it copies to its host, from samples of an invented one to
// predictions.
#include "tests/cli/calibrated_gpu.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::all_of;
using payoff::test::Calibrated;
using payoff::test::Truth;

namespace {

double step_seconds(const Calibrated& gpu, const std::string& placement) {
  const test::Captured answer =
      gpu.run({"predict", "--json", "--compress", "fp8:placement=" + placement});
  INFO(answer.err);
  REQUIRE(answer.code == ExitCode::success);
  return json::parse(answer.out)["plans"].back()["step_seconds"].get<double>();
}

}  // namespace

TEST_CASE("kernels that were measured beside each other take the place of the prior of pairs") {
  Truth free;
  free.together = test::runs_beside(0.0);
  Truth lawful;
  lawful.together = test::runs_beside(1.0);
  const Calibrated unhurt(free);
  const Calibrated slowed(lawful);
  const Calibrated unknown;
  CHECK_THAT(unhurt.fit().out, ContainsSubstring("compute_beside_codec"));
  CHECK_THAT(test::read_text(slowed.profile()),
             ContainsSubstring("interference:") &&
                 ContainsSubstring("codec_beside_message:\n    share: {value: 1,"));
  CHECK_THAT(test::read_text(slowed.profile()),
             ContainsSubstring("units_held: {smallest: 0.25, largest: 0.25}"));
  // The law is the median of the prior.
  const double by_law = step_seconds(unknown, "side_stream");
  CHECK_THAT(step_seconds(slowed, "side_stream"), WithinRel(by_law, 1e-6));
  CHECK(step_seconds(unhurt, "side_stream") < by_law);
}

TEST_CASE("a prediction says where it has pairs of kernels that were not measured") {
  Truth lawful;
  lawful.together = test::runs_beside(1.0);
  const Calibrated gpu(lawful);
  // All messages were of 33 of 132 units: a message of fewer was not seen.
  const std::vector<json> lists = all_of(gpu.predicted(), "extrapolated_pairs");
  REQUIRE(lists.size() == 1);
  REQUIRE_FALSE(lists.front().empty());
  for (const json& use : lists.front()) {
    CHECK(use.at("of") == "units_held");
    CHECK(use.at("measured_largest_ratio") == 0.25);
    CHECK(use.at("smallest_ratio").get<double>() < 0.25);
  }
  const test::Captured answer = gpu.run({"predict"});
  CHECK_THAT(answer.out, ContainsSubstring("kinds of pairs of kernels are priced beyond"));
  // Where nothing was measured the prior holds, which is assumed and no extrapolation.
  CHECK(all_of(Calibrated().predicted(), "extrapolated_pairs").front().empty());
}

TEST_CASE("copies to the host that were measured take the place of a share of the slot") {
  Truth truth;
  truth.copy_gb_per_s = 20.0;
  const Calibrated measured(truth);
  const Calibrated assumed;
  // A GB takes 1/20 s there and 1/18 s back: 18.95 GB/s on the mean.
  const double rate = 2.0 / (1.0 / 20.0 + 1.0 / 18.0);
  CHECK_THAT(test::read_text(measured.profile()),
             ContainsSubstring("copies:") && ContainsSubstring("start: {value: 6 us") &&
                 ContainsSubstring(fmt::format("rate: {{value: {:.4g} GB/s", rate)));
  CHECK_THAT(test::read_text(assumed.profile()), !ContainsSubstring("copies:"));
  const std::vector<std::string> on_host{"--compress", "efsignsgd_host", "--set",
                                         "cluster.host.cores=32"};
  const auto explained = [&](const Calibrated& gpu, std::vector<std::string> more) {
    std::vector<std::string> words{"explain", "encode"};
    words.insert(words.end(), on_host.begin(), on_host.end());
    words.insert(words.end(), more.begin(), more.end());
    const test::Captured answer = gpu.run(words);
    INFO(answer.err);
    CHECK(answer.code == ExitCode::success);
    return answer.out;
  };
  CHECK_THAT(explained(measured, {}),
             ContainsSubstring("cluster.gpu.copies.rate") && ContainsSubstring("measured"));
  // 0.8 of a slot of 15.75 GB/s, or 63 GB/s of an H100, is what nobody measured.
  CHECK_THAT(explained(assumed, {}), !ContainsSubstring("cluster.gpu.copies"));
}
