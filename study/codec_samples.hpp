// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/codec_fit.hpp"
#include "study/kernel_calibration.hpp"

// Which points of samples files are of codecs, and as timings for their laws.

namespace payoff {

// Whatever it computes: launches and traffic tell its time.
[[nodiscard]] bool is_streaming(const SamplesPoint& point);
// `random_k` and `scatter_add`.
[[nodiscard]] bool is_scattering(const SamplesPoint& point);
// Streaming ones, selections of Top-K and steps of PowerSGD.
[[nodiscard]] bool has_law_of_its_own(const SamplesPoint& point);

// Of the points that can be used.
class CodecSamples {
 public:
  CodecSamples(const KernelCalibration& calibration, const Gpu& data, std::string gpu);

  // Of a class, those that are wanted; cold ones where there are any.
  [[nodiscard]] std::vector<CodecTiming> of(
      Implementation implementation,
      const std::function<bool(const SamplesPoint&)>& is_wanted) const;

 private:
  const KernelCalibration& calibration_;
  const Gpu& data_;
  std::string gpu_;
  std::set<std::string> left_out_;
};

}  // namespace payoff
