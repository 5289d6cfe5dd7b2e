// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/cli/calibrated_gpu.hpp"

// Codecs of an invented GPU: kernels that stream, selections, scattered accesses and steps of
// PowerSGD, of any class of implementations.

namespace payoff::test {

inline constexpr double peak_bandwidth = 3.35e6;  // bytes/us, of the H100's data sheet
inline constexpr double scattered_share = 0.15;
inline constexpr double factor_rate = 30e6;  // flops/us

inline void add_point(std::string& points, std::string more) {
  points += (points.empty() ? "" : ",\n") + std::move(more);
}

// Streams as `truth` has them, and sectors.
inline double codec_us(const Truth& truth, const Moved& moved) {
  return streaming_us(truth, moved.bytes) +
         32.0 * moved.accesses / (peak_bandwidth * scattered_share) + moved.flops / factor_rate;
}

inline std::string message_size(double elements, double ratio, double workers) {
  return fmt::format("\"elements\": {}, \"ratio\": {}, \"workers\": {}", elements, ratio, workers);
}

// `random_k` or `scatter_add`.
inline void add_scattering(const Truth& truth, const std::string& kernel,
                           const std::string& implementation, std::string& points) {
  for (const double elements : {65536.0, 1048576.0, 67108864.0}) {
    for (const double ratio : {0.01, 0.1}) {
      for (const double workers : {2.0, 8.0}) {
        const double sent = workers * ratio * elements;
        const Moved moved{8.0 * sent + 4.0 * elements, 0.0, 2.0 * sent};
        add_point(points,
                  point_of(kernel, "sparse", implementation, message_size(elements, ratio, workers),
                           moved, codec_us(truth, moved)));
      }
    }
  }
}

// Half as fast as other kernels. As a chain of operators it gathers what it has chosen.
inline void add_selection(const Truth& truth, const std::string& kernel,
                          const std::string& implementation, std::string& points) {
  Truth slower = truth;
  slower.resident *= 0.5;
  slower.beyond *= 0.5;
  const double gathered = implementation == "framework_ops" ? 1.0 : 0.0;
  for (double elements = 16384.0; elements <= 268435456.0; elements *= 4.0) {
    const double kept = 0.01 * elements;
    const Moved moved{8.0 * elements + 8.0 * kept, 0.0, gathered * kept};
    add_point(points, point_of(kernel, "selection", implementation,
                               fmt::format("\"elements\": {}, \"ratio\": 0.01", elements), moved,
                               codec_us(slower, moved)));
  }
}

inline void add_streaming(const Truth& truth, const std::string& kernel,
                          const std::string& implementation, std::string& points) {
  for (double elements = 16384.0; elements <= 268435456.0; elements *= 4.0) {
    const Moved moved{10.0 * elements, 0.0, 0.0};
    add_point(points,
              point_of(kernel, "casts", implementation, fmt::format("\"elements\": {}", elements),
                       moved, codec_us(truth, moved)));
  }
}

inline void add_factors(const Truth& truth, const std::string& implementation,
                        std::string& points) {
  for (const double side : {512.0, 1024.0, 4096.0}) {
    for (const double rank : {1.0, 4.0, 32.0}) {
      const Moved moved{44.0 * side * side + 40.0 * side * rank, 6.0 * side * side * rank, 0.0};
      add_point(points,
                point_of("power_sgd", "low_rank", implementation,
                         fmt::format("\"rows\": {0}, \"columns\": {0}, \"rank\": {1}", side, rank),
                         moved, codec_us(truth, moved)));
    }
  }
}

// What payoff-kernels measures of a kernel or a family, as far as its laws tell them apart.
inline void add_codec(const Truth& truth, const std::string& only,
                      const std::string& implementation, std::string& points) {
  if (only == "power_sgd") {
    add_factors(truth, implementation, points);
  } else if (only == "random_k" || only == "scatter_add") {
    add_scattering(truth, only, implementation, points);
  } else if (only.starts_with("topk_")) {
    add_selection(truth, only, implementation, points);
  } else {
    add_streaming(truth,
                  only == "casts"    ? "cast_bf16"
                  : only == "groups" ? "quantize_group"
                  : only == "signs"  ? "sign_pack"
                                     : only,
                  implementation, points);
  }
}

}  // namespace payoff::test
