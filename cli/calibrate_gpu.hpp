// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "model/hardware.hpp"
#include "study/kernel_calibration.hpp"

// The data sheet of the GPU that measurements are of.

namespace payoff {

// The GPU that --gpu names; else the first of these, as the driver calls devices, that has a
// profile. A wrong --gpu is reported, also one of another GPU than they name.
[[nodiscard]] std::optional<Gpu> data_sheet_of(const Arguments& arguments,
                                               const std::vector<std::string>& devices,
                                               Session& session);

// The same for a fit of these samples: a sheet that cannot be the measured device's is an error
// where --gpu names it, and left out with a warning where the device's name only suggested it.
// Times beyond the peaks of the sheet are errors.
[[nodiscard]] std::optional<Gpu> data_sheet_of(const Arguments& arguments,
                                               const KernelCalibration& calibration,
                                               Session& session);

}  // namespace payoff
