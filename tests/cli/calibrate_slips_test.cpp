// SPDX-License-Identifier: Apache-2.0
// Slips that samples come with: units, points that cannot be, files of other names, and what prices
// nothing.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/calibrated_gpu.hpp"
#include "tests/cli/invented_samples.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using payoff::test::Captured;
using payoff::test::ScratchFolder;
using payoff::test::Truth;

namespace {

const std::filesystem::path examples = std::filesystem::path(PAYOFF_SOURCE_DIR) / "examples";

Captured fitted(const ScratchFolder& folder, const std::string& samples,
                const std::string& file = "samples.json") {
  folder.write(file, samples);
  return test::payoff(
      {"calibrate", "fit", folder.path(file), "--gpu", "h100-sxm", "-o", folder.path("mine.yaml")});
}

std::string run_of(const std::string& kernel, double together_us) {
  return fmt::format(
      "{{\"window_ms\": 60, \"members\": [{{\"kernel\": \"{}\", \"role\": \"compute\", "
      "\"parameters\": {{}}, \"alone_us\": 300, \"together_us\": {}}}, {{\"kernel\": \"message\", "
      "\"role\": \"message\", \"units_held\": 4, \"parameters\": {{}}, \"alone_us\": 100, "
      "\"together_us\": 100}}]}}",
      kernel, together_us);
}

}  // namespace

// 0.0004 of the data sheet's bandwidth, and launches of 4 ms.
TEST_CASE("times a thousand times too long are warned of, with the place of the slowest") {
  const ScratchFolder folder;
  const Captured usual = fitted(folder, test::samples_of({4.0, 0.8, 0.4, 0.7}));
  INFO(usual.err);
  CHECK(usual.code == ExitCode::success);
  CHECK_THAT(usual.err, !ContainsSubstring("microseconds"));
  const Captured slow = fitted(folder, test::samples_of({4000.0, 8e-4, 4e-4, 7e-4}));
  INFO(slow.err);
  CHECK(slow.code == ExitCode::success);
  CHECK_THAT(slow.err,
             ContainsSubstring("times what launches and the memory of h100-sxm do\n --> ") &&
                 ContainsSubstring("more points of more than five times") &&
                 ContainsSubstring("a launch takes 4 ms\n --> ") &&
                 ContainsSubstring("of the arithmetic peak of h100-sxm\n --> "));
}

// Each kind of time alone, by no more than what others say.
TEST_CASE("products, copies and what stays in the cache are warned of by themselves") {
  const ScratchFolder folder;
  Truth truth;
  truth.product = 7e-4;
  const Captured products = fitted(folder, test::samples_of(truth));
  // The best is the largest: 0.07 %, less for its depth and its last wave.
  const double side = 16384.0;
  const double us = test::product_us(truth, side, 6.0 * side * side);
  const double percent = 100.0 * 2.0 * side * side * side / us / 989e6;
  CHECK(percent > 0.068);
  CHECK(percent < 0.07);
  CHECK_THAT(products.err,
             ContainsSubstring("no product is faster than gemm") &&
                 ContainsSubstring(fmt::format("at {:.3g} % of the arithmetic peak", percent)));

  truth = Truth{};
  truth.copy_gb_per_s = 25.0;
  CHECK_THAT(fitted(folder, test::samples_of(truth)).err, !ContainsSubstring("microseconds"));
  truth.copy_gb_per_s = 0.025;
  CHECK_THAT(fitted(folder, test::samples_of(truth)).err,
             ContainsSubstring("copies 22.5 MB/s") &&
                 ContainsSubstring("more points of less than 1 GB/s"));

  // 4 MiB at most: the sheet's memory says nothing of it.
  truth = Truth{};
  truth.last = 19;
  CHECK_THAT(fitted(folder, test::samples_of(truth)).err, !ContainsSubstring("microseconds"));
  truth.launch_us = 4e-3;
  const Captured fast = fitted(folder, test::samples_of(truth));
  CHECK_THAT(fast.err, ContainsSubstring("ns a launch\n --> ") &&
                           ContainsSubstring("more points of less than 0.3 us"));
  truth.launch_us = 4000.0;
  CHECK_THAT(fitted(folder, test::samples_of(truth)).err,
             ContainsSubstring("times what launches and the memory of h100-sxm do"));
}

TEST_CASE(
    "where no law of the samples prices anything, the profile is not called a GPU of its own") {
  const ScratchFolder folder;
  const std::string samples = folder.path("samples.json");
  REQUIRE(test::payoff({"calibrate", "import", (examples / "calibrate/all_reduce.log").string(),
                        "--gpu", "h100-sxm", "--date", "2026-11-20", "-o", samples})
              .code == ExitCode::success);
  const Captured run = test::payoff(
      {"calibrate", "fit", samples, "--gpu", "h100-sxm", "-o", folder.path("mine.yaml")});
  INFO(run.out << run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("price nothing in predictions: nccl_all_reduce_float") &&
                          ContainsSubstring("`--observed LOG` of `payoff predict`") &&
                          ContainsSubstring("no number of a prediction is from these samples"));
  CHECK_THAT(run.out, !ContainsSubstring("a GPU for predictions"));
  // Nor do samples stand in a log's place.
  const Captured observed =
      test::payoff({"predict", "--model", "resnet-50", "--cluster", "p3-8xlarge", "--nodes", "2",
                    "--micro-batch", "64", "--observed", samples});
  CHECK(observed.code == ExitCode::bad_input);
  CHECK_THAT(observed.err, ContainsSubstring("samples.json` holds samples of kernels") &&
                               ContainsSubstring("what nccl-tests printed") &&
                               ContainsSubstring("\n1 error"));
}

// 262 kB in 2 ns, of a GPU whose 100 multiprocessors give 38.4 TB/s at most.
TEST_CASE("a point faster than any cache is left out by name, and spoils no law") {
  const ScratchFolder folder;
  folder.write("samples.json",
               test::invented::samples_of(
                   {1.0, 0.0, "," + test::invented::point("copy", 32769.0, 262152.0, 2e-3, 1)}));
  const Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
  INFO(run.out << run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out,
             ContainsSubstring("left out: copy (fused), cold, stream, gaussian, elements=32769") &&
                 ContainsSubstring("the caches of 100 multiprocessors give at most 38.4 TB/s"));
  CHECK_THAT(run.err, !ContainsSubstring("misses its points"));
}

TEST_CASE("a kernel that is faster beside another than alone is left out of the law of pairs") {
  const ScratchFolder folder;
  const auto shown = [&](double together_us) {
    std::string samples = test::invented::samples_of();
    samples.insert(samples.find("\"points\""), "\"interference\": [" + run_of("gemm", together_us) +
                                                   ", " + run_of("attention", 310.0) + "],\n");
    folder.write("samples.json", samples);
    const Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
    INFO(run.err);
    CHECK(run.code == ExitCode::success);
    return run;
  };
  const Captured impossible = shown(3.0);
  CHECK_THAT(impossible.err, ContainsSubstring("gemm takes 1 % of its time alone\n --> "));
  CHECK_THAT(impossible.out, !ContainsSubstring("gemm"));
  const Captured noisy = shown(290.0);
  CHECK_THAT(noisy.err, !ContainsSubstring("of its time alone"));
  CHECK_THAT(noisy.out, ContainsSubstring("gemm"));
}

TEST_CASE("samples are fitted whatever their file is called; of a missing one there is one error") {
  const ScratchFolder folder;
  const Captured run = fitted(folder, test::samples_of({}), "samples.txt");
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  const Captured missing =
      test::payoff({"calibrate", "fit", folder.path("sample.txt"), "-o", folder.path("mine.yaml")});
  CHECK(missing.code == ExitCode::bad_input);
  CHECK_THAT(missing.err, ContainsSubstring("is not a law, nor a file of samples that is there") &&
                              ContainsSubstring("\n1 error"));
}

TEST_CASE("a profile that cannot be written is told before any table") {
  const ScratchFolder folder;
  folder.write("samples.json", test::samples_of({}));
  const Captured run = test::payoff(
      {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("nowhere/mine.yaml")});
  CHECK(run.code == ExitCode::failure);
  CHECK(run.out.empty());
}

TEST_CASE("a number that is too large for any is said to be that") {
  const ScratchFolder folder;
  std::string samples = test::invented::samples_of();
  samples.replace(samples.find("\"samples_us\": [") + 15, 1, "1e999, 1");
  folder.write("samples.json", samples);
  const Captured run = test::payoff({"calibrate", "show", folder.path("samples.json")});
  INFO(run.err);
  CHECK(run.code == ExitCode::bad_input);
  CHECK_THAT(run.err, ContainsSubstring("`1e999` is beyond the range of numbers"));
}

// Truths that differ by nothing that a GPU has.
TEST_CASE("what laws and points are worth is no difference between two GPUs") {
  const ScratchFolder folder;
  for (const char* name : {"first", "second"}) {
    const bool is_first = std::string(name) == "first";
    folder.write("samples.json",
                 test::invented::samples_of({1.0, is_first ? 0.0 : 0.01, "", "Invented GPU", 13}));
    REQUIRE(test::payoff({"calibrate", "fit", folder.path("samples.json"), "-o",
                          folder.path(std::string(name) + ".yaml")})
                .code == ExitCode::success);
  }
  std::string second = test::read_text(folder.path("second.yaml"));
  for (const std::string key : {"rms_error: ", "left_out_error: ", "outliers: ", "residual: "}) {
    REQUIRE(second.find(key) != std::string::npos);
    second.insert(second.find(key) + key.size(), "9");
  }
  folder.write("second.yaml", second);
  const Captured run =
      test::payoff({"calibrate", "diff", folder.path("first.yaml"), folder.path("second.yaml")});
  INFO(run.err);
  CHECK(run.code == ExitCode::success);
  CHECK_THAT(run.out, ContainsSubstring("The profiles are equal"));
}
