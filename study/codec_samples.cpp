// SPDX-License-Identifier: Apache-2.0
#include "study/codec_samples.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace payoff {
namespace {

// Kernels that are no codecs, and families of such.
constexpr std::array<std::string_view, 5> other_families{"interference", "memory", "layers",
                                                         "collectives", "transfers"};
constexpr std::array<std::string_view, 6> other_kernels{"copy",  "fill", "read",
                                                        "write", "gemm", "launch"};
// What touches places all over a tensor. Those of a sketch lie in the cache.
constexpr std::array<std::string_view, 2> scattering{"random_k", "scatter_add"};
constexpr std::string_view sketching = "sparse";  // family
constexpr std::string_view factor_step = "power_sgd";
constexpr Bytes sector = 32_B;
constexpr double least_codec_sd = 1e-3;  // from run to run, of any time

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_codec(const SamplesPoint& point) {
  return !is_among(other_families, point.family) && !is_among(other_kernels, point.kernel) &&
         point.traffic() > Bytes{} && point.launches > 0.0 && point.mode == "stream";
}

// What a selection takes beyond its traffic depends on its algorithm, and is not the class's. As a
// chain of operators it gathers what it has chosen.
bool is_selection(const SamplesPoint& point) {
  return is_codec(point) && point.family != sketching && !is_among(scattering, point.kernel) &&
         point.flops == Flops{} && point.parameters.contains("ratio");
}

// The matrices of a batch go side by side.
bool is_factor_step(const SamplesPoint& point) {
  const auto batch = point.parameters.find("batch");
  return is_codec(point) && point.kernel == factor_step && point.flops > Flops{} &&
         (batch == point.parameters.end() || batch->second == 1.0);
}

CodecTiming timing_of(const SamplesPoint& point, Implementation implementation, const Gpu& data,
                      const std::string& gpu, const SampleSummary& summary) {
  CodecTiming timing{point.kernel,    gpu,           implementation, data.memory_bandwidth,
                     data.l2,         0.0,           point.launches, point.host_syncs,
                     point.traffic(), summary.median};
  timing.sectors = point.random_accesses * sector;
  timing.flops = point.flops;
  timing.relative_sd = std::max(least_codec_sd, summary.relative_sd);
  return timing;
}

}  // namespace

bool is_streaming(const SamplesPoint& point) {
  return is_codec(point) && point.flops == Flops{} && point.random_accesses == 0.0 &&
         !point.parameters.contains("ratio");
}

bool is_scattering(const SamplesPoint& point) {
  return is_codec(point) && is_among(scattering, point.kernel) && point.flops == Flops{} &&
         point.random_accesses > 0.0;
}

bool has_law_of_its_own(const SamplesPoint& point) {
  return is_streaming(point) || is_selection(point) || is_factor_step(point);
}

CodecSamples::CodecSamples(const KernelCalibration& calibration, const Gpu& data, std::string gpu)
    : calibration_(calibration), data_(data), gpu_(std::move(gpu)) {
  for (const LeftOutPoint& each : calibration.left_out) {
    left_out_.insert(each.title);
  }
}

std::vector<CodecTiming> CodecSamples::of(
    Implementation implementation,
    const std::function<bool(const SamplesPoint&)>& is_wanted) const {
  std::map<bool, std::vector<CodecTiming>> timings;  // by whether they are cold
  for (const SamplesFile& file : calibration_.files) {
    for (const SamplesPoint& point : file.points) {
      if (find_implementation(point.implementation) != implementation || !is_wanted(point) ||
          left_out_.contains(title_of(point))) {
        continue;
      }
      const SampleSummary summary =
          summarize_samples(point.samples, point.discarded, point.clock_ratio);
      if (summary.refused.empty()) {
        timings[point.state == "cold"].push_back(
            timing_of(point, implementation, data_, gpu_, summary));
      }
    }
  }
  return timings[!timings[true].empty()];
}

}  // namespace payoff
