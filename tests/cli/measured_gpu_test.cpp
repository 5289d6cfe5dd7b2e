// SPDX-License-Identifier: Apache-2.0
// From samples of an invented GPU to predictions for it: the truth is known, so a codec's time is.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace {

// Shares of the H100's 3.35 TB/s and 989 TFLOP/s (bf16); its L2 cache has 50 MiB.
struct Truth {
  double launch_us = 4.0;
  double resident = 0.8;
  double beyond = 0.4;
  double product = 0.7;
  int last = 29;               // power of two of the largest tensor's elements
  double nvfp4 = 0.0;          // of another kernel of the class: its share beyond the cache
  std::string together = {};   // kernels beside each other
  double copy_gb_per_s = 0.0;  // to the host; back a tenth slower
};

std::string point(const std::string& kernel, const std::string& family,
                  const std::string& parameters, double bytes, double flops, double us) {
  return fmt::format(
      "{{\"kernel\": \"{}\", \"family\": \"{}\", \"implementation\": \"fused\", \"input\": "
      "\"gaussian\", \"state\": \"cold\", \"mode\": \"stream\", \"parameters\": {{{}}}, "
      "\"read_bytes\": {}, \"written_bytes\": 0, \"flops\": {}, \"launches\": 1, \"host_syncs\": "
      "0, \"samples_us\": [{:.9g}], \"discarded\": 0, \"stop\": \"count\"}}",
      kernel, family, parameters, bytes, flops, us);
}

double streaming_us(const Truth& truth, double bytes) {
  const double peak = 3.35e6;  // bytes/us
  const double cache = 50.0 * 1048576.0;
  return truth.launch_us + std::min(bytes, cache) / (peak * truth.resident) +
         std::max(0.0, bytes - cache) / (peak * truth.beyond);
}

std::string samples_of(const Truth& truth) {
  std::vector<std::string> points;
  for (int power = 8; power <= truth.last; ++power) {
    const double elements = std::ldexp(1.0, power);
    const std::string size = fmt::format("\"elements\": {}", elements);
    points.push_back(
        point("copy", "memory", size, 8.0 * elements, 0.0, streaming_us(truth, 8.0 * elements)));
    points.push_back(point("fp8_tensor", "casts", size, 5.0 * elements, 0.0,
                           streaming_us(truth, 5.0 * elements)));
  }
  Truth other = truth;
  other.beyond = truth.nvfp4;
  for (int power = 8; power <= truth.last && truth.nvfp4 > 0.0; ++power) {
    const double bytes = 5.0 * std::ldexp(1.0, power);
    points.push_back(point("nvfp4", "blocks", fmt::format("\"elements\": {}", bytes / 5.0), bytes,
                           0.0, streaming_us(other, bytes)));
  }
  for (int power = 10; power <= 26 && truth.copy_gb_per_s > 0.0; power += 2) {
    const double bytes = std::ldexp(4.0, power);
    const std::string size = fmt::format("\"elements\": {}", bytes / 4.0);
    const double us = bytes / (1e3 * truth.copy_gb_per_s);
    points.push_back(point("device_to_host", "transfers", size, bytes, 0.0, 6.0 + us));
    points.push_back(point("host_to_device", "transfers", size, bytes, 0.0, 6.0 + us / 0.9));
  }
  for (const double chain : {1.0, 10.0, 20.0}) {
    points.push_back(point("launch", "launch", fmt::format("\"launches\": {}", chain), 0.0, 0.0,
                           3.0 + chain * truth.launch_us));
  }
  for (double side = 512.0; side <= 16384.0; side *= 2.0) {
    const double flops = 2.0 * side * side * side;
    points.push_back(point(
        "gemm", "layers", fmt::format("\"m\": {0}, \"n\": {0}, \"k\": {0}, \"bytes\": 2", side),
        6.0 * side * side, flops, truth.launch_us + flops / (989e6 * truth.product)));
  }
  return fmt::format(
      "{{\"format\": \"payoff-samples\", \"version\": 1, \"provenance\": \"measured_local\",\n"
      "\"date\": \"2026-11-20T03:00:00Z\", \"seed\": 1, \"program\": {{\"name\": \"invented\", "
      "\"version\": \"1\"}},\n\"device\": {{\"name\": \"Some GPU\", \"multiprocessors\": 132, "
      "\"l2_bytes\": 52428800, \"memory_bytes\": 80000000000}},\n\"points\": [{}]{}}}\n",
      fmt::join(points, ",\n"),
      truth.together.empty() ? "" : ", \"interference\": [" + truth.together + "]");
}

class Calibrated {
 public:
  explicit Calibrated(const Truth& truth = {}) {
    folder_.write("samples.json", samples_of(truth));
    fit_ = test::payoff(
        {"calibrate", "fit", folder_.path("samples.json"), "--gpu", "h100-sxm", "-o", profile()});
    INFO(fit_.err);
    REQUIRE(fit_.code == ExitCode::success);
  }

  [[nodiscard]] std::string profile() const { return folder_.path("mine.yaml"); }
  [[nodiscard]] const test::Captured& fit() const { return fit_; }

  [[nodiscard]] test::Captured run(std::vector<std::string> words) const {
    const std::vector<std::string> job{"--model",       "resnet-50", "--cluster",
                                       "p3-8xlarge",    "--nodes",   "2",
                                       "--micro-batch", "64",        "--compress",
                                       "fp8",           "--set",     "cluster.gpu=" + profile()};
    words.insert(words.end(), job.begin(), job.end());
    return test::payoff(words);
  }

  [[nodiscard]] json predicted() const {
    const test::Captured answer = run({"predict", "--json"});
    INFO(answer.err);
    REQUIRE(answer.code == ExitCode::success);
    return json::parse(answer.out);
  }

 private:
  test::ScratchFolder folder_;
  test::Captured fit_;
};

// The values of a key, wherever they are below.
std::vector<json> all_of(const json& tree, const std::string& key) {
  std::vector<json> found;
  for (const auto& [name, value] : tree.items()) {
    if (tree.is_object() && name == key) {
      found.push_back(value);
    } else if (value.is_structured()) {
      const std::vector<json> below = all_of(value, key);
      found.insert(found.end(), below.begin(), below.end());
    }
  }
  return found;
}

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
  std::string samples = samples_of({});
  const std::string wide =
      point("gemm", "layers", "\"m\": 512, \"n\": 512, \"k\": 512, \"bytes\": 4", 3.0 * 1048576,
            268435456.0, 9.0);
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

namespace {

// `share` of the law's slow-down: twice as long beside each other, a quarter longer beside 26.4
// channels of 132.
std::string runs_beside(double share) {
  std::string runs;
  const auto add = [&](const std::string& kernel, const std::string& role, double slowdown,
                       const std::string& beside) {
    for (int i = 0; i < 4; ++i) {
      runs += fmt::format(
          "{}{{\"window_ms\": 60, \"members\": [{{\"kernel\": \"{}\", \"role\": \"{}\", "
          "\"parameters\": {{\"elements\": {}}}, \"alone_us\": 100, \"together_us\": {}}}, "
          "{}]}}",
          runs.empty() ? "" : ",\n", kernel, role, i, 100.0 * slowdown, beside);
    }
  };
  const auto beside = [](const std::string& kernel, const std::string& role, double slowdown) {
    return fmt::format(
        "{{\"kernel\": \"{}\", \"role\": \"{}\", \"units_held\": {}, \"parameters\": {{}}, "
        "\"alone_us\": 100, \"together_us\": {}}}",
        kernel, role, role == "message" ? 33 : 0, 100.0 * slowdown);
  };
  const double by_units = 1.0 + share * (1.0 / 0.75 - 1.0);
  add("gemm", "compute", 1.0 + share, beside("fp8_tensor", "codec", 1.0 + share));
  add("gemm", "compute", by_units, beside("message", "message", 1.0));
  add("fp8_tensor", "codec", by_units, beside("message", "message", 1.0));
  return runs;
}

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
  free.together = runs_beside(0.0);
  Truth lawful;
  lawful.together = runs_beside(1.0);
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
  lawful.together = runs_beside(1.0);
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
