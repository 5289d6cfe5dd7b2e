// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// training.codec_speed: what a job comes to whose codecs are faster, or slower, than they are.

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::Captured;
using payoff::test::json_of;
using payoff::test::ScratchFolder;

namespace {

// On 32 GPUs, where the compressed step waits for little but its codec.
std::vector<std::string> command_at(const std::string& command, const std::string& speed) {
  return {command,
          "--model",
          "resnet-50",
          "--cluster",
          "p3-8xlarge",
          "--nodes",
          "8",
          "--micro-batch",
          "16",
          "--precision",
          "fp32",
          "--compress",
          "powersgd:rank=4",
          "--codec-speed",
          speed};
}

double codec_of(const json& plan) {
  return plan["waterfall"]["encode_seconds"].get<double>() +
         plan["waterfall"]["decode_seconds"].get<double>();
}

}  // namespace

TEST_CASE("codecs that are four times as fast take a quarter of their time, in both engines") {
  const std::string command = GENERATE("predict", "simulate");
  const json as_is = json_of(command_at(command, "1"));
  const json faster = json_of(command_at(command, "4"));
  REQUIRE(codec_of(as_is["plans"][1]) > 0.0);
  CHECK_THAT(codec_of(faster["plans"][1]), WithinRel(codec_of(as_is["plans"][1]) / 4.0, 1e-6));
  CHECK(faster["plans"][0]["step_seconds"] == as_is["plans"][0]["step_seconds"]);
  CHECK(faster["plans"][1]["step_seconds"].get<double>() <
        as_is["plans"][1]["step_seconds"].get<double>());
}

// The break-even of encoding and decoding is the time at which a plan stops paying: at the speed
// that makes it take so long, it is faster than the best remedy by no more than the noise.
TEST_CASE("at the break-even of its codec a plan is faster than the best remedy by the noise") {
  const json as_is = json_of(command_at("predict", "1"));
  const json& even = as_is["plans"][1]["break_even"];
  const double now = even["codec_now_seconds"].get<double>();
  const double most = even["codec_seconds"]["pays"][0]["high"].get<double>();
  REQUIRE(most > now);
  const json there = json_of(command_at("predict", std::to_string(now / most)));
  CHECK_THAT(there["plans"][1]["against_remedy"]["speedup"].get<double>(),
             WithinRel(1.0 + as_is["band_ratio"].get<double>(), 1e-4));
}

TEST_CASE("parts of an explained codec add up at any speed, and say what divides them") {
  std::vector<std::string> words = command_at("explain", "4");
  words.push_back("encode");
  const json term = json_of(words)["terms"][0];
  double sum = 0.0;
  for (const json& part : term["parts"]) {
    sum += part["count"].get<double>() * part["each_seconds"].get<double>();
    CHECK_THAT(part["numbers"].get<std::string>(), ContainsSubstring(") / 4"));
  }
  CHECK_THAT(sum, WithinRel(term["time_seconds"].get<double>(), 1e-6));
}

TEST_CASE("speeds of codecs are an axis of sweeps") {
  const ScratchFolder folder;
  folder.write("job.yaml", std::string(test::small_job) + "compress: [\"powersgd:rank=4\"]\n");
  const Captured swept =
      test::payoff({"sweep", folder.path("job.yaml"), "--over", "training.codec_speed=0.5,1,2"});
  REQUIRE(swept.code == ExitCode::success);
  CHECK_THAT(swept.out, ContainsSubstring("\"training.codec_speed\":0.5"));
  const json set =
      json_of({"predict", folder.path("job.yaml"), "--set", "training.codec_speed=0.5"});
  CHECK_THAT(swept.out,
             ContainsSubstring("\"step_seconds\":" + set["plans"][1]["step_seconds"].dump()));
}

TEST_CASE("speeds that no codec can have are refused where they stand") {
  const std::string wrong = GENERATE("0", "-1", "1e9", "fast");
  const Captured run = test::predict(
      test::small_experiment({"--set", "training.codec_speed=" + wrong, "--tp", "3"}));
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`training.codec_speed`"));
}
