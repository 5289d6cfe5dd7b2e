// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/kernel_fit.hpp"
#include "calibrate/sample_summary.hpp"
#include "profiles/diagnostics.hpp"
#include "profiles/import/samples.hpp"
#include "study/pair_calibration.hpp"

// From samples files of one device to the laws of its kernels. Points of a kernel that differ in
// size only (elements, rows, columns, m, n, k, rank, ratio, batch, size) share a law; a batch
// beside a rank, which are steps of several matrices at once, other parameters (bits, group,
// workers ...), the implementation, the state of the cache, the mode of launching and the kind of
// input each make a law of their own. What is left out is named, also points that the GPU ran at
// another steady clock than most of their law: their times are another law's.

namespace payoff {

struct KernelLaw {
  std::string kernel, implementation, state, mode, input;
  std::map<std::string, double> parameters;  // that its points share
  std::vector<KernelPoint> points;
  std::vector<SampleSummary> summaries;  // of them
  std::vector<double> clocks;            // of them, of the device's highest
  KernelFit fit;

  [[nodiscard]] double clock() const;  // the lowest of its points'
};

struct LeftOutPoint {
  std::string title;
  std::string reason;
};

struct KernelCalibration {
  std::vector<SamplesFile> files;  // at least one; their points are in `laws`
  std::vector<KernelLaw> laws;     // sorted by title
  PairCalibration pairs;           // of kernels beside each other
  std::vector<LeftOutPoint> left_out;
  std::size_t points{};
  std::size_t samples{};   // kept
  std::size_t outliers{};  // left out of them
  double drift{};          // of the copies between the points
};

// "kernel (implementation), state, mode, input, bits=4": what the points of a law share.
[[nodiscard]] std::string title_of(const KernelLaw& law);

// Reports a device that drifted too far, and files in which no point can be used.
[[nodiscard]] KernelCalibration calibrate_kernels(std::vector<SamplesFile> files,
                                                  Diagnostics& diagnostics);

// The laws of a kernel, the cold ones where there are any; launched one by one before graphs.
[[nodiscard]] std::vector<const KernelLaw*> laws_of(const KernelCalibration& calibration,
                                                    std::string_view kernel);

// The profile of a device: YAML with every law, its constants with uncertainty and fitted range,
// where the samples come from and what they are worth. With the data sheet of the GPU it is a GPU
// profile (study/measured_gpu.hpp), which predictions read.
[[nodiscard]] std::string kernel_profile(const KernelCalibration& calibration,
                                         const std::string& name, const Gpu* data = nullptr);

// Whether a file that begins so is such a profile.
[[nodiscard]] bool is_kernel_profile(std::string_view beginning);

// What the laws of one set of samples say about another.
struct KernelCheck {
  std::string title;  // of the point
  Seconds predicted{};
  Seconds measured{};
  bool extrapolated{};

  [[nodiscard]] double error() const { return predicted / measured - 1.0; }
};

struct KernelChecks {
  std::vector<KernelCheck> points;
  std::vector<std::string> without_law;  // titles of points
  std::vector<std::string> other_clock;  // of laws, whose clock is not that of what judges them
};

[[nodiscard]] KernelChecks check_kernels(const KernelCalibration& laws,
                                         const KernelCalibration& other);

}  // namespace payoff
