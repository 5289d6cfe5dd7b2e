// SPDX-License-Identifier: Apache-2.0
// Two profiles of GPUs, value by value.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/calibrated_gpu.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// Laws alone, as a fit without --gpu writes them.
const std::string laws =
    "kernels_of: mine\n"
    "citations:\n  samples: {kind: measured, date: 2026-11-20, text: \"a run\"}\n"
    "environment:\n  driver: \"570\"\n"
    "laws:\n"
    "  copy (fused), cold, stream:\n"
    "    form: affine\n"
    "    constants:\n"
    "      t0: {value: 3 us, sd: 0.1, from: samples}\n"
    "      b: {value: 2000 GB/s, sd: 0.02, from: samples}\n"
    "    covariance:\n    - [0.1, 0.2]\n    - [0.2, 0.4]\n"
    "interference:\n"
    "  codec_beside_message:\n"
    "    share: {value: 0.5, sd: 0.1, from: samples}\n"
    "measured:\n"
    "- {point: \"copy (fused), elements=8\", lowest: 3 us, kept: 5}\n";

test::json compared(const std::string& first, const std::string& second) {
  const test::ScratchFolder folder;
  folder.write("a.yaml", first);
  folder.write("b.yaml", second);
  const test::Captured run =
      test::payoff({"calibrate", "diff", folder.path("a.yaml"), folder.path("b.yaml"), "--json"});
  INFO(run.err);
  REQUIRE(run.code == ExitCode::success);
  return test::json::parse(run.out).at("differences");
}

}  // namespace

// 3 us +- 10 % and 3.9 us +- 5 %: 0.9 us apart, of which a joint deviation is
// sqrt(0.3^2 + 0.195^2) = 0.3578 us: 2.515 of them, and 30 %.
TEST_CASE("a change is that of the value, in per cent and in joint standard deviations") {
  const test::json found = compared(laws, changed(laws, "3 us, sd: 0.1", "3900 ns, sd: 0.05"));
  REQUIRE(found.size() == 1);
  CHECK(found[0]["path"] == "laws.copy (fused), cold, stream.constants.t0");
  CHECK(found[0]["a"] == "3 us");
  CHECK(found[0]["b"] == "3900 ns");
  CHECK_THAT(found[0]["change_ratio"].get<double>(), WithinRel(0.3, 1e-9));
  CHECK_THAT(found[0]["change_sds"].get<double>(), WithinAbs(2.5153, 1e-3));
}

TEST_CASE("what is less sure but the same has not changed, nor has another unit of the same") {
  CHECK(compared(laws, changed(laws, "sd: 0.1,", "sd: 0.2,")).empty());
  CHECK(compared(laws, changed(laws, "value: 3 us", "value: 3000 ns")).empty());
  CHECK(compared(laws, changed(laws, "a run", "another run")).empty());
  CHECK(compared(laws, changed(laws, "[0.1, 0.2]", "[0.7, 0.2]")).empty());
}

TEST_CASE("forms, the environment, points and what only one has are compared too") {
  const auto path = [](const std::string& second) {
    const test::json found = compared(laws, second);
    REQUIRE(found.size() == 1);
    return found[0]["path"].get<std::string>();
  };
  CHECK(path(changed(laws, "form: affine", "form: constant")) ==
        "laws.copy (fused), cold, stream.form");
  CHECK(path(changed(laws, "value: 0.5", "value: 0.7")) ==
        "interference.codec_beside_message.share");
  CHECK(path(changed(laws, "570", "575")) == "environment.driver");
  CHECK(path(changed(laws, "lowest: 3 us", "lowest: 4 us")) ==
        "measured.copy (fused), elements=8.lowest");
  CHECK(path(changed(laws, "      b:", "      c: {value: 1 us, from: samples}\n      b:")) ==
        "laws.copy (fused), cold, stream.constants.c");
}

TEST_CASE("every section of a measured GPU is compared") {
  test::Truth slower;
  slower.launch_us = 8.0;
  slower.product = 0.5;
  slower.beyond = 0.3;
  test::Truth truth;
  truth.copy_gb_per_s = 25.0;
  slower.copy_gb_per_s = 20.0;
  const test::Calibrated first(truth);
  const test::Calibrated second(slower);
  const test::Captured run = test::payoff({"calibrate", "diff", first.profile(), second.profile()});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  for (const char* path : {"law.launch", "law.memory_efficiency", "law.gemm_efficiency.bf16",
                           "codecs.fused.memory_efficiency", "copies.rate", "laws.gemm (fused)",
                           "Of the points behind the laws"}) {
    CHECK_THAT(run.out, ContainsSubstring(path));
  }
  // The launch twice as long: 100 % more.
  CHECK_THAT(run.out, ContainsSubstring("+100.0 %"));
  CHECK_THAT(test::payoff({"calibrate", "diff", first.profile(), first.profile()}).out,
             ContainsSubstring("The profiles are equal"));
}

TEST_CASE("profiles that are shipped are compared by their names") {
  const test::Captured run = test::payoff({"calibrate", "diff", "a100-sxm-40", "a100-sxm-80"});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("memory_bandwidth"));
}

TEST_CASE("files that are no profiles of GPUs are refused, both in one run") {
  const test::ScratchFolder folder;
  folder.write("good.yaml", laws);
  folder.write("empty.yaml", "");
  folder.write("binary.yaml", std::string("\x00\x01\xff\xfe: [\x7f", 9));
  folder.write("samples.yaml", "{\"format\": \"payoff-samples\", \"points\": []}");
  folder.write("lawless.yaml", "kernels_of: mine\nlaws: 3\n");
  folder.write("typo.yaml", "gpu: typo\ndescription: x\ndata_of: h100-sxn\nlaw: {launch: 3 kg}\n");
  const auto refused = [&](const std::string& first, const std::string& second,
                           const std::vector<std::string>& reasons) {
    const test::Captured run =
        test::payoff({"calibrate", "diff", folder.path(first), folder.path(second)});
    INFO(first << " " << second << "\n" << run.err);
    CHECK(run.code == ExitCode::bad_input);
    CHECK(run.out.empty());
    for (const std::string& reason : reasons) {
      CHECK_THAT(run.err, ContainsSubstring(reason));
    }
  };
  refused("binary.yaml", "samples.yaml",
          {"binary.yaml:1:", "samples.yaml:1:1", "this is no profile of a GPU"});
  refused("empty.yaml", "lawless.yaml", {"empty.yaml", "lawless.yaml:2:7", "no laws"});
  refused("typo.yaml", "good.yaml", {"typo.yaml:3:10", "did you mean", "typo.yaml:4:"});
  refused("good.yaml", "typo.yaml", {"typo.yaml:3:10"});
  CHECK(test::payoff({"calibrate", "diff", folder.path("good.yaml"), folder.path("none.yaml")})
            .code == ExitCode::failure);
  CHECK_THAT(test::payoff({"calibrate", "diff", folder.path("good.yaml")}).err,
             ContainsSubstring("takes two profiles"));
}
