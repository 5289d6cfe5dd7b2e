// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "calibrate/compute_fit.hpp"

// What is believed about compute laws and software stacks before any step time is looked at.
// `published`: the best matrix product that stas00/ml-engineering (compute/accelerator, "Maximum
// Achievable Matmul FLOPS") measured, as a share of the data sheet's peak. Everything else is
// assumed, with a width that says so.

namespace payoff {

inline constexpr std::size_t architecture_count = 8;

struct LawPrior {
  double value{};
  double log_sd{};
  bool published{};
};

// The share of its best product that a tensor core sustains: clocks under power, ragged shapes.
inline constexpr LawPrior sustained_prior{0.88, 0.10};
// Casts, masks and copies that change layouts add to one read of each input and one write.
inline constexpr LawPrior traffic_prior{1.2, 0.30};

[[nodiscard]] const std::array<LawPrior, law_parameter_count>& law_prior(Architecture architecture);
[[nodiscard]] const std::array<LawPrior, software_parameter_count>& software_prior(
    std::string_view name);

// Spread of the step times of a stack that no case supports.
inline constexpr double unknown_stack_sd = 0.15;

}  // namespace payoff
