// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/hardware.hpp"
#include "profiles/diagnostics.hpp"
#include "study/kernel_calibration.hpp"

// Whether a data sheet can be that of the device that was measured.

namespace payoff {

// "108 compute units and not 132, ...": what the samples' device has and the sheet's GPU has not;
// empty where they can be the same. Drivers report a little less memory than is sold, and caches of
// which a part is switched off.
[[nodiscard]] std::string sheet_differences(const Gpu& data, const SamplesDevice& device);

// Reports times in which a kernel moved or computed more than the sheet says can be.
void report_beyond_peaks(const KernelCalibration& calibration, const Gpu& data,
                         Diagnostics& diagnostics);

}  // namespace payoff
