// SPDX-License-Identifier: Apache-2.0
// From other programs' files to laws.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_code.hpp"
#include "model/matrix_product.hpp"
#include "profiles/library.hpp"
#include "profiles/read_hardware.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

// A cast at 3 us + S / (2 TB/s), of ten sizes.
std::string table() {
  std::string text = "kernel,implementation,state,elements,read_bytes,written_bytes,time_us\n";
  for (double elements = 1 << 16; elements < 1 << 27; elements *= 2.0) {
    text += fmt::format("cast_bf16,fused,cold,{},{},{},{}\n", elements, 4.0 * elements,
                        2.0 * elements, 3.0 + 6.0 * elements / 2e6);
  }
  return text;
}

// An all-reduce of two GPUs at 10 us + S / (100 GB/s).
std::string log() {
  std::string text =
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg "
      "iters: 1 validation: 1 graph: 0\n# Using devices\n"
      "#  Rank  0 Group  0 Pid  1 on  a device  0 [0000:07:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid  1 on  a device  1 [0000:0a:00] NVIDIA H100 80GB HBM3\n"
      "#       size  count  type  redop  root  time  algbw  busbw  #wrong\n";
  for (double size = 1 << 16; size < 1 << 30; size *= 4.0) {
    const double us = 10.0 + size / 1e5;
    text += fmt::format("  {}  {}  float  sum  -1  {}  {:.2f}  {:.2f}  0\n", size, size / 4, us,
                        size / us / 1e3, size / us / 1e3);
  }
  return text;
}

}  // namespace

TEST_CASE("files of other programs become samples, and their laws are the ones behind them") {
  const test::ScratchFolder folder;
  folder.write("own.csv", table());
  folder.write("reduce.log", log());
  const test::Captured import =
      test::payoff({"calibrate", "import", folder.path("own.csv"), folder.path("reduce.log"), "-o",
                    folder.path("samples.json"), "--date", "2026-11-20"});
  INFO(import.err);
  REQUIRE(import.code == ExitCode::success);
  // The log names a GPU that has a profile, and so does the table by standing beside it.
  CHECK_THAT(import.out, ContainsSubstring("18 points of NVIDIA H100 80GB HBM3"));
  const test::Captured fit = test::payoff(
      {"calibrate", "fit", folder.path("samples.json"), "-o", folder.path("gpu.yaml")});
  INFO(fit.err);
  CHECK(fit.code == ExitCode::success);
  CHECK_THAT(fit.out,
             ContainsSubstring("cast_bf16 (fused), cold, stream") &&
                 ContainsSubstring("nccl_all_reduce_float (library), hot, stream, gpus=2"));
  const std::string profile = test::read_text(folder.path("gpu.yaml"));
  CHECK_THAT(profile, ContainsSubstring("kind: measured, date: 2026-11-20") &&
                          ContainsSubstring("t0: {value: 3 us") &&
                          ContainsSubstring("b: {value: 2000 GB/s") &&
                          ContainsSubstring("t0: {value: 10 us") &&
                          ContainsSubstring("b: {value: 100 GB/s"));
}

TEST_CASE("one mistake in one file, and nothing is written") {
  const test::ScratchFolder folder;
  folder.write("own.csv", table());
  folder.write("wrong.csv", table() + "cast_bf16,fused,cold,1,4,2,-1\n");
  const auto refused = [&](std::vector<std::string> more, const std::string& reason) {
    std::vector<std::string> words{"calibrate", "import"};
    words.insert(words.end(), more.begin(), more.end());
    const test::Captured run = test::payoff(words);
    CHECK(run.code == ExitCode::bad_input);
    CHECK_THAT(run.err, ContainsSubstring(reason));
    CHECK(folder.files() == std::vector<std::string>{"own.csv", "wrong.csv"});
  };
  const std::string own = folder.path("own.csv");
  const std::string out = folder.path("samples.json");
  refused({own, folder.path("wrong.csv"), "-o", out, "--gpu", "h100-sxm", "--date", "2026-11-20"},
          "wrong.csv:13:28");
  refused({own, "-o", out}, "which GPU was measured");
  refused({own, "-o", out, "--gpu", "h100-sxm"}, "when this was measured");
  refused({own, "-o", out, "--gpu", "h100", "--date", "2026-11-20"}, "did you mean");
  refused({own, "-o", out, "--gpu", "h100-sxm", "--date", "yesterday"}, "is not a date");
  refused({own, "-o", out, "--format", "nvbenhc"}, "did you mean");
  refused({own, "-o", out, "--format", "nvbench"}, "no JSON of nvbench");
  refused({own, "--gpu", "h100-sxm"}, "nothing says where the samples go");
  refused({"-o", out}, "there is none");
  refused({own, "-o", own, "--gpu", "h100-sxm", "--date", "2026-11-20"}, "input of this run");
}

TEST_CASE("a GPU that --gpu names is the one that the log names") {
  const test::ScratchFolder folder;
  folder.write("reduce.log", log());
  const auto import = [&](const std::string& gpu) {
    return test::payoff({"calibrate", "import", folder.path("reduce.log"), "-o",
                         folder.path("samples.json"), "--date", "2026-11-20", "--gpu", gpu});
  };
  const test::Captured other = import("v100-sxm2-32");
  CHECK(other.code == ExitCode::bad_input);
  CHECK_THAT(other.err, ContainsSubstring("`v100-sxm2-32` is not the GPU that was measured") &&
                            ContainsSubstring("name `NVIDIA H100 80GB HBM3`") &&
                            ContainsSubstring("`--gpu h100-sxm`, or none"));
  CHECK(folder.files() == std::vector<std::string>{"reduce.log"});
  CHECK(import("h100-sxm").code == ExitCode::success);

  // A name that belongs to no profile: what the user says holds, where the model is in it.
  std::string unknown = log();
  for (std::size_t at = unknown.find("H100 80GB HBM3"); at != std::string::npos;
       at = unknown.find("H100 80GB HBM3")) {
    unknown.replace(at, 14, "H100 NVL");
  }
  folder.write("reduce.log", unknown);
  const test::Captured variant = import("h100-pcie");
  CHECK(variant.code == ExitCode::success);
  CHECK(variant.err.empty());
  const test::Captured strange = import("v100-sxm2-32");
  CHECK(strange.code == ExitCode::success);
  CHECK_THAT(strange.err, ContainsSubstring("warning: `v100-sxm2-32` is not the GPU that was "
                                            "measured, by its name"));
}

namespace {

// The H100 with the law that predictions take where nothing was measured.
Gpu shipped_h100() {
  const Library library(PAYOFF_SOURCE_DIR "/profiles");
  SourceMap sources;
  Diagnostics diagnostics;
  auto gpu = read_gpu("h100-sxm", std::nullopt, {library, sources, diagnostics});
  REQUIRE(gpu);
  return gpu->value;
}

}  // namespace

// Products at 0.7 of the 989 TFLOP/s that the H100's data sheet has for bf16, by the law that
// prices them in a step: all are longer than their traffic.
TEST_CASE("products of a table are what payoff-kernels would have measured of them") {
  const Gpu gpu = shipped_h100();
  const std::string columns = "kernel,state,m,n,k,bytes,flops,time_us";
  for (const bool has_traffic : {false, true}) {
    std::string text = columns + (has_traffic ? ",read_bytes\n" : "\n");
    for (double side = 512.0; side <= 16384.0; side *= 2.0) {
      const double flops = 2.0 * side * side * side;
      const Seconds time =
          tiling_of({side, side, side}, 0.7 * 989_TFLOPps, gpu).time + gpu.law.launch;
      text += fmt::format("gemm,cold,{0},{0},{0},2,{1},{2:.9g}", side, flops, time / 1_us);
      text += has_traffic ? fmt::format(",{}\n", 6.0 * side * side) : "\n";
    }
    const test::ScratchFolder folder;
    folder.write("own.csv", text);
    const test::Captured import =
        test::payoff({"calibrate", "import", folder.path("own.csv"), "-o",
                      folder.path("samples.json"), "--gpu", "h100-sxm", "--date", "2026-11-20"});
    INFO(import.err);
    REQUIRE(import.code == ExitCode::success);
    const test::Captured fit = test::payoff({"calibrate", "fit", folder.path("samples.json"),
                                             "--gpu", "h100-sxm", "-o", folder.path("gpu.yaml")});
    INFO(fit.err << fit.out);
    REQUIRE(fit.code == ExitCode::success);
    CHECK_THAT(test::read_text(folder.path("gpu.yaml")),
               ContainsSubstring("gemm_efficiency:\n    bf16: {value: 0.7, "));
  }
}
