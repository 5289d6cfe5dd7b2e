// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "model/matrix_product.hpp"
#include "tests/catch.hpp"
#include "tests/cli/capture.hpp"

// Samples of an invented GPU whose truth is known, fitted to a profile, and predictions for it.

namespace payoff::test {

using nlohmann::json;

// Shares of the H100's 3.35 TB/s and 989 TFLOP/s (bf16); its L2 cache has 50 MiB.
struct Truth {
  double launch_us = 4.0;
  double resident = 0.8;
  double beyond = 0.4;
  double product = 0.7;  // of the bf16 peak, in full waves of products without an end
  double depth_half = 120.0;
  int last = 29;               // power of two of the largest tensor's elements
  double nvfp4 = 0.0;          // of another kernel of the class: its share beyond the cache
  std::string together = {};   // kernels beside each other
  double copy_gb_per_s = 0.0;  // to the host; back a tenth slower
  std::string more = {};       // points
};

struct Moved {
  double bytes{};
  double flops{};
  double accesses{};  // of sectors
};

inline std::string point_of(const std::string& kernel, const std::string& family,
                            const std::string& implementation, const std::string& parameters,
                            const Moved& moved, double us) {
  return fmt::format(
      "{{\"kernel\": \"{}\", \"family\": \"{}\", \"implementation\": \"{}\", \"input\": "
      "\"gaussian\", \"state\": \"cold\", \"mode\": \"stream\", \"parameters\": {{{}}}, "
      "\"read_bytes\": {}, \"written_bytes\": 0, \"flops\": {}, \"random_accesses\": {}, "
      "\"launches\": 1, \"host_syncs\": 0, \"samples_us\": [{:.12g}], \"discarded\": 0, \"stop\": "
      "\"count\"}}",
      kernel, family, implementation, parameters, moved.bytes, moved.flops, moved.accesses, us);
}

inline std::string point(const std::string& kernel, const std::string& family,
                         const std::string& parameters, double bytes, double flops, double us) {
  return point_of(kernel, family, "fused", parameters, {bytes, flops, 0.0}, us);
}

inline double streaming_us(const Truth& truth, double bytes) {
  const double peak = 3.35e6;  // bytes/us
  const double cache = 50.0 * 1048576.0;
  return truth.launch_us + std::min(bytes, cache) / (peak * truth.resident) +
         std::max(0.0, bytes - cache) / (peak * truth.beyond);
}

// As predictions price it (model/operator_pricer.hpp): tiles in whole waves over 132 units, each of
// which fills its pipeline, or the traffic of its three matrices.
inline double product_us(const Truth& truth, double side, double traffic) {
  Gpu gpu;
  gpu.compute_units = 132;
  gpu.memory_bandwidth = 3350_GBps;
  gpu.law.memory_efficiency = truth.beyond;
  gpu.law.depth_half = truth.depth_half;
  const FlopRate rate = truth.product * 989_TFLOPps;
  const Seconds arithmetic = tiling_of({side, side, side}, rate, gpu).time;
  return truth.launch_us + std::max(arithmetic, traffic * 1_B / reached_bandwidth(gpu)) / 1_us;
}

inline std::string samples_file(const std::vector<std::string>& points,
                                const std::string& together = {}) {
  return fmt::format(
      "{{\"format\": \"payoff-samples\", \"version\": 1, \"provenance\": \"measured_local\",\n"
      "\"date\": \"2026-11-20T03:00:00Z\", \"seed\": 1, \"program\": {{\"name\": \"invented\", "
      "\"version\": \"1\"}},\n\"device\": {{\"name\": \"Some GPU\", \"multiprocessors\": 132, "
      "\"l2_bytes\": 52428800, \"memory_bytes\": 80000000000}},\n\"points\": [{}]{}}}\n",
      fmt::join(points, ",\n"), together.empty() ? "" : ", \"interference\": [" + together + "]");
}

inline std::string samples_of(const Truth& truth) {
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
  if (!truth.more.empty()) {
    points.push_back(truth.more);
  }
  for (const double chain : {1.0, 10.0, 20.0}) {
    points.push_back(point("launch", "launch", fmt::format("\"launches\": {}", chain), 0.0, 0.0,
                           3.0 + chain * truth.launch_us));
  }
  for (double side = 512.0; side <= 16384.0; side *= 2.0) {
    const double flops = 2.0 * side * side * side;
    const double traffic = 6.0 * side * side;
    const std::string shape = fmt::format("\"m\": {0}, \"n\": {0}, \"k\": {0}, \"bytes\": 2", side);
    points.push_back(
        point("gemm", "layers", shape, traffic, flops, product_us(truth, side, traffic)));
  }
  return samples_file(points, truth.together);
}

// `share` of the law's slow-down: twice as long beside each other, a quarter longer beside 26.4
// channels of 132.
inline std::string runs_beside(double share) {
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

class Calibrated {
 public:
  explicit Calibrated(const Truth& truth = {}) {
    folder_.write("samples.json", samples_of(truth));
    fit_ = payoff(
        {"calibrate", "fit", folder_.path("samples.json"), "--gpu", "h100-sxm", "-o", profile()});
    INFO(fit_.err);
    REQUIRE(fit_.code == ExitCode::success);
  }

  [[nodiscard]] std::string profile() const { return folder_.path("mine.yaml"); }
  [[nodiscard]] const Captured& fit() const { return fit_; }

  [[nodiscard]] Captured run(std::vector<std::string> words) const {
    const std::vector<std::string> job{"--model",       "resnet-50", "--cluster",
                                       "p3-8xlarge",    "--nodes",   "2",
                                       "--micro-batch", "64",        "--compress",
                                       "fp8",           "--set",     "cluster.gpu=" + profile()};
    words.insert(words.end(), job.begin(), job.end());
    return payoff(words);
  }

  [[nodiscard]] json predicted() const {
    const Captured answer = run({"predict", "--json"});
    INFO(answer.err);
    REQUIRE(answer.code == ExitCode::success);
    return json::parse(answer.out);
  }

 private:
  ScratchFolder folder_;
  Captured fit_;
};

// The values of a key, wherever they are below.
inline std::vector<json> all_of(const json& tree, const std::string& key) {
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

}  // namespace payoff::test
