// SPDX-License-Identifier: Apache-2.0
// From samples of an invented GPU to predictions for it: the truth is known, so a codec's time is.
#include "tests/cli/calibrated_gpu.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;
using payoff::test::all_of;
using payoff::test::Calibrated;
using payoff::test::Truth;

namespace {

double encode_seconds(const json& answer) {
  double largest = 0.0;
  for (const json& value : all_of(answer, "encode_seconds")) {
    largest = std::max(largest, value.get<double>());
  }
  return largest;
}

bool is_assumed(const json& answer, const std::string& path) {
  const std::vector<json> lists = all_of(answer, "assumed");
  return std::any_of(lists.begin(), lists.end(), [&](const json& list) {
    return std::find(list.begin(), list.end(), json(path)) != list.end();
  });
}

bool codec_is_extrapolated(const json& answer) {
  for (const json& list : all_of(answer, "extrapolated_kernels")) {
    for (const json& use : list) {
      if (use.at("work") == "encode" && use.at("kernel") == "streams") {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

TEST_CASE("a fit with a data sheet is a GPU whose laws are those of the samples") {
  const Calibrated gpu;
  CHECK_THAT(gpu.fit().out, ContainsSubstring("with the data sheet of h100-sxm"));
  const std::string profile = test::read_text(gpu.profile());
  CHECK_THAT(profile, ContainsSubstring("gpu: mine\n") && ContainsSubstring("data_of: h100-sxm") &&
                          ContainsSubstring("launch: {value: 4 us") &&
                          ContainsSubstring("memory_efficiency: {value: 0.4,") &&
                          ContainsSubstring("bf16: {value: 0.7,") &&
                          ContainsSubstring("resident_efficiency: {value: 0.8,"));
  const test::Captured check = test::payoff({"check", gpu.profile()});
  INFO(check.out << check.err);
  CHECK(check.code == ExitCode::success);
}

TEST_CASE("predictions for a measured GPU take its codecs' time from the measurement") {
  // All of the codec's time is launches and traffic, so twice of both is twice the time.
  const Calibrated fast({4.0, 0.8, 0.4});
  const Calibrated slow({8.0, 0.4, 0.2});
  const double once = encode_seconds(fast.predicted());
  CHECK(once > 0.0);
  CHECK_THAT(encode_seconds(slow.predicted()), WithinRel(2.0 * once, 1e-3));
}

TEST_CASE("what was measured is no assumption, and what was not still is") {
  const json answer = Calibrated().predicted();
  CHECK(!is_assumed(answer, "compress.fp8.law.resident_efficiency"));
  CHECK(!is_assumed(answer, "compress.fp8.law.memory_efficiency"));
  CHECK(!is_assumed(answer, "cluster.gpu.law.launch"));
  CHECK(is_assumed(answer, "compress.fp8.law.dispatch"));
  const test::Captured why = Calibrated().run({"explain"});
  INFO(why.err);
  CHECK_THAT(why.out, ContainsSubstring("measured"));
}

TEST_CASE("beyond the sizes that were measured a prediction is an extrapolation") {
  CHECK(!codec_is_extrapolated(Calibrated().predicted()));
  Truth small;
  small.last = 16;
  CHECK(codec_is_extrapolated(Calibrated(small).predicted()));
}

TEST_CASE("products of two precisions do not share a law") {
  const test::ScratchFolder folder;
  std::string samples = test::samples_of({});
  const std::string wide =
      test::point("gemm", "layers", "\"m\": 512, \"n\": 512, \"k\": 512, \"bytes\": 4",
                  3.0 * 1048576, 268435456.0, 9.0);
  folder.write("samples.json", samples.insert(samples.rfind(']'), "," + wide));
  const test::Captured shown = test::payoff({"calibrate", "show", folder.path("samples.json")});
  CHECK_THAT(shown.out, ContainsSubstring("gemm (fused), cold, stream, gaussian, bytes=2") &&
                            ContainsSubstring("gemm (fused), cold, stream, gaussian, bytes=4"));
}

TEST_CASE("a measured profile with a mistake is named at its place") {
  const test::ScratchFolder folder;
  folder.write("mine.yaml",
               "gpu: mine\ndescription: x\ndata_of: h100-sxn\n"
               "law: {launch: 3}\ncodecs: {fused: {memory_efficiency: 0.5}}\n");
  const test::Captured run =
      test::payoff({"predict", "--model", "resnet-50", "--cluster", "p3-8xlarge", "--nodes", "2",
                    "--compress", "fp8", "--set", "cluster.gpu=" + folder.path("mine.yaml")});
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("did you mean") && ContainsSubstring("mine.yaml:4:15"));
}

TEST_CASE("a method is priced by its own kernels, not by all of their class") {
  // nvfp4's kernel is slower beyond the cache: that is in the law of the class, not in fp8's.
  Truth mixed;
  mixed.nvfp4 = 0.1;
  const Calibrated alone;
  const Calibrated beside(mixed);
  const std::string profile = test::read_text(beside.profile());
  CHECK_THAT(profile, ContainsSubstring("    kernels:\n      fp8_tensor:\n") &&
                          ContainsSubstring("      nvfp4:\n"));
  CHECK_THAT(encode_seconds(beside.predicted()),
             WithinRel(encode_seconds(alone.predicted()), 1e-3));
}
