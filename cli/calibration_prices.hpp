// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.hpp"
#include "study/kernel_calibration.hpp"
#include "study/measured_part.hpp"

// What predictions take of the samples of a GPU, and what they do not.

namespace payoff {

// Numbers that the samples leave as they were, with what would tell them; kernels whose laws no
// prediction takes.
[[nodiscard]] std::string prices_text(const KernelCalibration& calibration,
                                      const MeasuredPart& measured);

// What the file is that `fit` writes.
[[nodiscard]] std::string written_text(const MeasuredPart& measured, const std::string& sheet);

// Of numbers that cannot be so, which are left out.
void warn_of_wrong_numbers(const MeasuredPart& measured, Session& session);

}  // namespace payoff
