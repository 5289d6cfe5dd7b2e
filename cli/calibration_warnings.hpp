// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/session.hpp"
#include "study/kernel_calibration.hpp"

// What `payoff calibrate` says of laws that it gives all the same.

namespace payoff {

inline constexpr double most_law_error = 0.1;  // RMS

// A law that misses its own points is no law, whatever its constants' deviations say.
void warn_of_poor_laws(const KernelCalibration& calibration, Session& session);

// What holds for the samples as they are, but not for the GPU as its users run it.
void warn_of_circumstances(const KernelCalibration& calibration, Session& session);

// Why the error of a check may not be that of the laws.
void warn_of_other_conditions(const KernelCalibration& laws, const KernelCalibration& other,
                              const KernelChecks& checks, Session& session);

}  // namespace payoff
