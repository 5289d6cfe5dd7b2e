// SPDX-License-Identifier: Apache-2.0
// From samples of an invented GPU, whose laws are known, to a profile.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"
#include "tests/cli/invented_samples.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::invented::point;
using payoff::test::invented::samples_of;

namespace {

// The same by a program that compared its events with the driver's records.
std::string timed_by(std::pair<double, double> events_and_records) {
  std::string text = samples_of();
  text.insert(
      text.find("\"anchors\""),
      fmt::format("\"timer_check\": {{\"kernel\": \"copy\", \"runs\": 21, \"moved_bytes\": 1e9, "
                  "\"events_us\": {}, \"records_us\": {}}},\n",
                  events_and_records.first, events_and_records.second));
  return text;
}

}  // namespace

TEST_CASE("a fit writes the profile of a GPU, with what it rests on") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const test::Captured run = test::payoff(
      {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("invented.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.err, ContainsSubstring("these times are drawn, not measured"));
  CHECK_THAT(run.out, ContainsSubstring("two_bandwidths") && ContainsSubstring("affine") &&
                          ContainsSubstring("2 laws of 32 points"));
  const std::string profile = test::read_text(folder.path("invented.yaml"));
  CHECK_THAT(profile, ContainsSubstring("kernels_of: invented\n") &&
                          ContainsSubstring("kind: assumed") && ContainsSubstring("NOT MEASURED") &&
                          ContainsSubstring("form: two_bandwidths") &&
                          ContainsSubstring("quartiles: ["));
  // Nothing is left beside it, and a second run gives the same bytes.
  CHECK(folder.files() == std::vector<std::string>{"invented.yaml", "samples.json"});
  const test::Captured again = test::payoff(
      {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("invented.yaml")});
  CHECK(again.code == ExitCode::success);
  CHECK(test::read_text(folder.path("invented.yaml")) == profile);
}

TEST_CASE("what is shown has a mark for every residual") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
  CHECK(run.code == ExitCode::success);
  CHECK(std::count(run.out.begin(), run.out.end(), '*') == 32);
  CHECK(folder.files() == std::vector<std::string>{"samples.json"});
}

TEST_CASE("laws are judged by samples that they have not seen") {
  const test::ScratchFolder folder;
  folder.write("first.json", samples_of());
  folder.write("same.json", samples_of({1.02, 0.0, "", "Invented GPU", 12}));
  folder.write("slower.json", samples_of({0.7}));
  const test::Captured same =
      test::payoff({"calibrate", "check", folder.path("first.json"), folder.path("same.json")});
  CHECK(same.code == ExitCode::success);
  // The smallest size of each kernel was not among those that were fitted.
  CHECK_THAT(same.out, ContainsSubstring("2 beyond the fitted range"));
  const test::Captured slower =
      test::payoff({"calibrate", "check", folder.path("first.json"), folder.path("slower.json")});
  CHECK(slower.code == ExitCode::check_failed);
}

TEST_CASE("two profiles are compared value by value") {
  const test::ScratchFolder folder;
  folder.write("first.json", samples_of());
  folder.write("slower.json", samples_of({0.5}));
  for (const char* name : {"first", "slower"}) {
    const std::string stem = folder.path(name);
    REQUIRE(test::payoff({"calibrate", "fit", stem + ".json", "-o", stem + ".yaml"}).code ==
            ExitCode::success);
  }
  const std::string first = folder.path("first.yaml");
  CHECK_THAT(test::payoff({"calibrate", "diff", first, first}).out, ContainsSubstring("equal"));
  const test::Captured run = test::payoff({"calibrate", "diff", first, folder.path("slower.yaml")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("constants") && ContainsSubstring("-50."));
}

TEST_CASE("event times that the driver's records confirm are said nothing of, others are") {
  const test::ScratchFolder folder;
  const auto shown = [&](double events_us) {
    folder.write("samples.json", timed_by({events_us, 100.0}));
    const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
    CHECK(run.code == ExitCode::success);
    return run.err;
  };
  CHECK_THAT(shown(102.0), !ContainsSubstring("driver's records"));
  CHECK_THAT(shown(108.0),
             ContainsSubstring("a copy takes 8 % longer than by the driver's records"));
}

TEST_CASE("a file that cannot be trusted gives no profile") {
  const test::ScratchFolder folder;
  const auto refused = [&](const std::string& samples, const std::string& reason) {
    folder.write("samples.json", samples);
    const test::Captured run = test::payoff(
        {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("profile.yaml")});
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring(reason));
    CHECK(folder.files() == std::vector<std::string>{"samples.json"});
  };
  refused(samples_of({1.0, 0.3}), "copies of one run differ by 30 %");
  refused(timed_by({120.0, 100.0}), "a copy takes 20 % longer");
  refused(timed_by({0.0, 100.0}), "`events_us`");
  refused(samples_of({1.0, 0.0, "," + point("copy", 8192.0, 65536.0, 3.0, 1)}), "is there twice");
  refused(samples_of({1.0, 0.0, "," + point("copy", 1.0, 8.0, -3.0, 1)}), "cannot be -");
  refused(samples_of().substr(0, 2000), "this is not valid JSON");
  refused("{}", "missing key `format`");
}

// Of 10 us and 30 us in turns the best constant by relative errors is 12 us, 45 % RMS off; no form
// of the size comes near.
TEST_CASE("a law that misses its own points is warned of, with the worst of them") {
  const test::ScratchFolder folder;
  std::string extra;
  for (int exponent = 13; exponent <= 18; ++exponent) {
    extra += "," + point("jumpy", std::ldexp(1.0, exponent), std::ldexp(8.0, exponent),
                         exponent % 2 == 0 ? 10.0 : 30.0, exponent);
  }
  folder.write("samples.json", samples_of({1.0, 0.0, extra}));
  for (const std::vector<std::string>& action : std::vector<std::vector<std::string>>{
           {"show"}, {"fit", "-o", folder.path("profile.yaml")}}) {
    std::vector<std::string> words{"calibrate", action.front(), folder.path("samples.json")};
    words.insert(words.end(), action.begin() + 1, action.end());
    const test::Captured run = test::payoff(words);
    INFO(run.err);
    CHECK(run.code == ExitCode::success);
    CHECK_THAT(run.err, ContainsSubstring("jumpy (fused), cold, stream, gaussian: its law (") &&
                            ContainsSubstring("misses its points by") &&
                            ContainsSubstring("worst: jumpy (fused), cold, stream, gaussian, "
                                              "elements="));
    CHECK_THAT(run.err, !ContainsSubstring("copy (fused), cold, stream, gaussian: its law"));
  }
}

TEST_CASE("samples of a GPU that was not held back, or kept a lower clock, are warned of") {
  const test::ScratchFolder folder;
  const std::string usual = samples_of();
  const auto warnings = [&](const std::string& keys) {
    std::string samples = usual;
    const std::string before = R"("discarded")";
    samples.insert(samples.find(before), keys);
    folder.write("samples.json", samples);
    const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
    CHECK(run.code == ExitCode::success);
    return run.err;
  };
  CHECK_THAT(warnings(""), !ContainsSubstring("held") && !ContainsSubstring("clock"));
  CHECK_THAT(warnings(R"("timed_out": 3, "gated": false, )"),
             ContainsSubstring("1 point was measured without holding the GPU back"));
  CHECK_THAT(warnings(R"("clock_reference": 0.8, )"),
             ContainsSubstring("a steady clock of 80 % of its highest"));
}

TEST_CASE("kernels that ran beside each other at another clock than alone are warned of") {
  const test::ScratchFolder folder;
  const auto warned = [&](double together, double alone) {
    std::string samples = samples_of();
    const std::string run = fmt::format(
        "\"interference\": [{{\"window_ms\": 60, \"clock_ratio\": {}, \"members\": [\n"
        "{{\"kernel\": \"gemm\", \"role\": \"compute\", \"parameters\": {{\"m\": 4096}}, "
        "\"alone_us\": 200, \"together_us\": 310, \"alone_clock_ratio\": {}}},\n"
        "{{\"kernel\": \"cast\", \"role\": \"codec\", \"parameters\": {{}}, "
        "\"alone_us\": 50, \"together_us\": 80, \"alone_clock_ratio\": {}}}]}}],\n",
        together, alone, together);
    samples.insert(samples.find("\"points\""), run);
    folder.write("samples.json", samples);
    const test::Captured shown = test::payoff({"calibrate", "show", folder.path("samples.json")});
    CHECK(shown.code == ExitCode::success);
    return shown.err;
  };
  CHECK_THAT(warned(0.8, 1.0), ContainsSubstring("1 of the kernels beside others ran at another "
                                                 "clock than alone") &&
                                   ContainsSubstring("gemm m=4096, at 80 % of the clock"));
  CHECK_THAT(warned(0.97, 1.0), !ContainsSubstring("clock than alone"));
}

// Every law of the file would be an unknown key of a GPU, and the GPU's own keys missing.
TEST_CASE("laws without a data sheet are no GPU, which is one error with the way to one") {
  const test::ScratchFolder folder;
  folder.write("samples.json", samples_of());
  const std::string laws = folder.path("laws.yaml");
  REQUIRE(test::payoff({"calibrate", "fit", folder.path("samples.json"), "-o", laws}).code ==
          ExitCode::success);
  const test::Captured run =
      test::payoff({"predict", "--model", "resnet-50", "--cluster", "p3-8xlarge", "--nodes", "2",
                    "--micro-batch", "64", "--compress", "fp8", "--set", "cluster.gpu=" + laws});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("laws.yaml:3:1") &&
                          ContainsSubstring("this file has laws alone") &&
                          ContainsSubstring("payoff calibrate fit SAMPLES.json --gpu NAME") &&
                          ContainsSubstring("\n1 error;"));
}

TEST_CASE("what the points of a law cannot tell is named, once for all laws alike") {
  const test::ScratchFolder folder;
  std::string extra;
  for (const char* kernel : {"tiny", "small"}) {
    for (int exponent = 1; exponent <= 6; ++exponent) {  // 16 to 512 bytes in 5 us
      extra +=
          "," + point(kernel, std::ldexp(1.0, exponent), std::ldexp(8.0, exponent), 5.0, exponent);
    }
  }
  folder.write("samples.json", samples_of({1.0, 0.0, extra}));
  const test::Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out,
             ContainsSubstring("not told: b_gb_per_s of small (fused), cold, stream, gaussian and "
                               "of 1 more law; larger sizes would tell\n"));
  CHECK_THAT(run.out, !ContainsSubstring("of copy"));
}

TEST_CASE("two runs of one plan are one error, with the first of their points and how many") {
  const test::ScratchFolder folder;
  folder.write("first.json", samples_of());
  folder.write("second.json", samples_of({1.01}));
  const test::Captured run =
      test::payoff({"calibrate", "show", folder.path("first.json"), folder.path("second.json")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("elements=8192 is there twice") &&
                          ContainsSubstring("and 28 more") &&  // 32 points, four of them named
                          ContainsSubstring("two runs are two sets of samples") &&
                          ContainsSubstring("\n1 error"));
}
