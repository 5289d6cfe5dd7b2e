// SPDX-License-Identifier: Apache-2.0
// What a short measurement of an invented GPU, with the sizes that payoff-kernels takes, comes to
// in the profile that is written: shares of the memory bandwidth hold the truth as often as they
// say.
//
// An interval of 90 % is +- 1.645 standard deviations. Each is widened where the law misses its
// points by more than their noise, so that it holds the truth in nine of ten draws and more; of n
// draws the share is binomial, and 3.29 of its deviations below are left once in 2,000 times.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/families/families.hpp"
#include "study/codec_samples.hpp"
#include "study/measured_gpu.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double noise = 0.01;  // of a sample
constexpr std::size_t repetitions = 12;
constexpr double launch_us = 3.0;
constexpr double inside = 1.2;  // shares of the memory bandwidth
constexpr double beyond = 0.9;

Gpu sheet() {
  Gpu gpu;
  gpu.name = "invented";
  gpu.memory_bandwidth = 3.35_TBps;
  gpu.l2 = 50_MiB;
  return gpu;
}

SamplesPoint sampled(const kernels::Point& point) {
  SamplesPoint result;
  result.kernel = point.kernel;
  result.family = point.family;
  result.implementation = point.implementation;
  result.input = point.input;
  result.state = point.state;
  result.mode = "stream";
  result.parameters = point.parameters;
  result.read = point.traffic.read;
  result.written = point.traffic.written;
  result.flops = point.traffic.flops;
  result.random_accesses = point.traffic.random_accesses;
  result.launches = point.traffic.launches;
  result.host_syncs = point.traffic.host_syncs;
  return result;
}

// The copy, and the fused codecs that only stream.
std::vector<SamplesPoint> points_of(const kernels::Plan& plan) {
  std::vector<SamplesPoint> points;
  for (const kernels::Benchmark& each : kernels::all_benchmarks(plan)) {
    const SamplesPoint point = sampled(each.point);
    const bool is_codec = is_streaming(point) && point.host_syncs == 0.0;
    if (point.implementation == "fused" && (point.kernel == "copy" || is_codec)) {
      points.push_back(point);
    }
  }
  return points;
}

// `kept` of the cache holds data that are read again.
double time_us(const SamplesPoint& point, const Gpu& gpu, double kept) {
  const Bytes cached = std::min(point.traffic(), kept * point.launches * gpu.l2);
  return point.launches * launch_us +
         (cached / inside + (point.traffic() - cached) / beyond) / gpu.memory_bandwidth / 1_us;
}

KernelCalibration calibration_of(std::vector<SamplesPoint> points, const Gpu& gpu, double kept,
                                 unsigned seed) {
  std::mt19937 bits(seed);
  for (SamplesPoint& point : points) {
    for (std::size_t i = 0; i < repetitions; ++i) {
      double normal = -6.0;  // the sum of 12 uniforms, which is the same with any library
      for (int j = 0; j < 12; ++j) {
        normal += static_cast<double>(bits() >> 5U) * 0x1.0p-27;
      }
      point.samples.push_back(time_us(point, gpu, kept) * (1.0 + noise * normal) * 1_us);
    }
  }
  SamplesFile file;
  file.device.l2 = gpu.l2;
  file.points = std::move(points);
  Diagnostics diagnostics;
  return calibrate_kernels({std::move(file)}, diagnostics);
}

struct Written {
  double value{};
  double sd{};  // relative
};

// The efficiencies of a profile's text by the keys above them: "law", "fused", "cast_bf16".
std::map<std::string, Written> efficiencies_of(const std::string& text) {
  std::map<std::string, Written> found;
  std::string above;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::string key = line.substr(line.find_first_not_of(' '));
    if (key.ends_with(":")) {
      above = key;
    }
    const std::size_t at = line.find("_efficiency: {value: ");
    const std::size_t sd = line.find("sd: ");
    if (at != std::string::npos && sd != std::string::npos) {
      found[above + key.substr(0, key.find(':'))] = {
          std::stod(line.substr(line.find("value: ") + 7)), std::stod(line.substr(sd + 4))};
    }
  }
  return found;
}

// By the name of a number, how often its written interval of 90 % holds the truth.
std::map<std::string, double> coverage(const std::vector<SamplesPoint>& points, double kept,
                                       unsigned draws) {
  const Gpu gpu = sheet();
  std::map<std::string, double> held;
  for (unsigned draw = 0; draw < draws; ++draw) {
    const KernelCalibration calibration = calibration_of(points, gpu, kept, 100 + draw);
    for (const auto& [key, number] :
         efficiencies_of(measured_laws(calibration, gpu, "mine").text)) {
      const double truth = key.ends_with("resident_efficiency") ? inside : beyond;
      const bool holds = std::abs(number.value - truth) < 1.645 * number.sd * number.value;
      held[key] += holds ? 1.0 / draws : 0.0;
    }
  }
  return held;
}

double least_share(unsigned draws) { return 0.9 - 3.29 * std::sqrt(0.9 * 0.1 / draws); }

}  // namespace

TEST_CASE("a profile from the sizes of a short measurement holds the truth as often as it says") {
  constexpr unsigned draws = 400;
  const auto held = coverage(points_of(kernels::quick_plan()), 1.0, draws);
  for (const char* key : {"law:memory_efficiency", "fused:memory_efficiency",
                          "fused:resident_efficiency", "cast_bf16:memory_efficiency",
                          "sign_pack:memory_efficiency", "sign_ef:resident_efficiency"}) {
    INFO(key);
    CHECK(held.contains(key));
  }
  for (const auto& [key, share] : held) {
    INFO(key << " " << share);
    CHECK(share > least_share(draws));
  }
}

TEST_CASE("that of copies does so too where less than all of the cache keeps data") {
  constexpr unsigned draws = 1000;
  std::vector<SamplesPoint> copies = points_of(kernels::quick_plan());
  std::erase_if(copies, [](const SamplesPoint& point) { return point.kernel != "copy"; });
  CHECK(copies.size() == 5);
  for (const double kept : {0.5, 0.8}) {
    CHECK(coverage(copies, kept, draws).at("law:memory_efficiency") > least_share(draws));
  }
}

TEST_CASE("of sizes that all fit into the cache no share of the memory bandwidth is written") {
  const Gpu gpu = sheet();
  std::vector<SamplesPoint> points = points_of(kernels::quick_plan());
  std::erase_if(
      points, [&](const SamplesPoint& point) { return point.traffic() > point.launches * gpu.l2; });
  const MeasuredPart part = measured_laws(calibration_of(points, gpu, 1.0, 1), gpu, "mine");
  CHECK_THAT(part.text, ContainsSubstring("resident_efficiency"));
  CHECK_THAT(part.text, !ContainsSubstring("memory_efficiency"));
  CHECK_THAT(part.text, !ContainsSubstring("relative_sd"));
  std::map<std::string, std::string> untold;
  for (const UntoldNumber& each : part.untold) {
    untold[each.path] = each.why + "; " + each.measure;
  }
  CHECK_THAT(untold["law.memory_efficiency"],
             ContainsSubstring("no size of `copy` lies beyond the L2 cache of 52.4 MB; sizes"));
  CHECK_THAT(
      untold["codecs.fused.memory_efficiency"],
      ContainsSubstring("no sizes of its kernels lie beyond") && ContainsSubstring("larger sizes"));
  CHECK(!untold.contains("codecs.fused.resident_efficiency"));
}

TEST_CASE("a share of the memory bandwidth that no memory has is left out, and said to be wrong") {
  Gpu gpu = sheet();
  const KernelCalibration calibration =
      calibration_of(points_of(kernels::quick_plan()), gpu, 1.0, 1);
  gpu.memory_bandwidth = gpu.memory_bandwidth / 1.5;  // 0.9 of it are 1.35 of this
  const MeasuredPart part = measured_laws(calibration, gpu, "mine");
  CHECK_THAT(part.text, !ContainsSubstring("memory_efficiency"));
  CHECK(std::count_if(part.untold.begin(), part.untold.end(),
                      [](const UntoldNumber& each) { return each.is_wrong; }) == 2);
}
