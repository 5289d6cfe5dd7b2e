// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hardware.hpp"
#include "profiles/diagnostics.hpp"
#include "study/kernel_calibration.hpp"

// Times that no GPU takes, mostly because they are in another unit than microseconds. Warnings,
// with the place of the worst and the number of all: what is measured may be odd, and true.

namespace payoff {

// By what holds for every GPU: how long launches, kernels and copies to the host take.
void warn_of_unlikely_times(const KernelCalibration& calibration, Diagnostics& diagnostics);

// By a data sheet: kernels that only stream and reach a fifth or less of what launches and memory
// let them, and matrix products of which none reaches a fiftieth of the arithmetic peak.
void warn_of_slow_work(const KernelCalibration& calibration, const Gpu& data,
                       Diagnostics& diagnostics);

}  // namespace payoff
