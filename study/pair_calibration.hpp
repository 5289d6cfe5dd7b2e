// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "calibrate/pair_fit.hpp"
#include "profiles/import/samples.hpp"

// From the `interference` of samples files to the law of kernels that share a GPU.

namespace payoff {

// Kernels beside each other of which one was faster than alone, which cannot be.
struct LeftOutRun {
  Span place;
  std::string title;
  std::string reason;
};

struct PairCalibration {
  PairFits fits;
  std::string why_none;  // pairs were measured and none was fitted; else empty
  std::vector<LeftOutRun> left_out;
};

// What a kernel takes of the memory is its traffic over what a copy of the same files moves in the
// time.
[[nodiscard]] PairCalibration calibrate_pairs(const std::vector<SamplesFile>& files);

// The key `interference` of a GPU profile (profiles/read_measured.hpp), and every member of every
// run for people; empty where no kind of pair was measured often enough.
[[nodiscard]] std::string pair_laws_text(const PairFits& fits);

}  // namespace payoff
