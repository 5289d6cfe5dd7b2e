// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profiles/document.hpp"

// Two profiles of GPUs, value by value: laws, launch costs, products, codecs, copies, what sharing
// the GPU does, collectives, the environment and the points behind the laws. A value is what its
// `value` says, not its uncertainty; that says how much of a change is one.

namespace payoff {

struct GpuDifference {
  std::string path;                    // "law.gemm_efficiency.bf16"
  std::string first, second;           // as written; empty: only the other has it
  std::optional<double> change_ratio;  // second / first - 1; none: no numbers of one unit
  std::optional<double> change_sds;    // in joint standard deviations; none: neither tells one
};

struct GpuDifferences {
  std::vector<GpuDifference> values;  // in the order of the first; what only the second has, last
  std::size_t compared{};             // that both have
};

// Numbers are equal within one unit of their third digit, as those of fitted profiles are
// (calibrate/profile_difference.hpp). Names, descriptions, citations and covariances are no values.
[[nodiscard]] GpuDifferences gpu_differences(const Node& first, const Node& second);

}  // namespace payoff
