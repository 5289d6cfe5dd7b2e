// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "study/kernel_calibration.hpp"

// Laws of kernels for people.

namespace payoff {

[[nodiscard]] std::string laws_table(const KernelCalibration& calibration);
// What was left out, and what the rest is worth.
[[nodiscard]] std::string summary_text(const KernelCalibration& calibration);
// Kernels beside each other: what was seen, what the law gives and with what was seen; empty where
// none was measured.
[[nodiscard]] std::string pairs_text(const KernelCalibration& calibration);
// Every point with a mark at its residual: "|" is none, the ends are the largest one.
[[nodiscard]] std::string residual_plot(const KernelLaw& law);
// What the covariance says of the constants beside what drawing the points anew says: where they
// differ, the law is not as straight as the covariance takes it to be.
[[nodiscard]] std::string spread_text(const KernelLaw& law);

}  // namespace payoff
