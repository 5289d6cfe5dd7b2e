// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "study/kernel_calibration.hpp"
#include "study/measured_part.hpp"

// The law of copies between the GPU and pinned memory of its host, CopyLaw of model/hardware.hpp,
// from the family `transfers`: a straight line for each direction, and one law for both, since a
// prediction asks for either. That they differ makes it less certain.

namespace payoff {

// The key `copies` of a GPU profile; empty where the samples have no law of copies.
[[nodiscard]] MeasuredPart measured_copies(const KernelCalibration& calibration);

}  // namespace payoff
