// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/units.hpp"

// Start and end of kernels as the driver's own stamps have them, by the activity records of CUPTI,
// which is opened at run time: a second opinion on the events that every sample is timed with.

namespace payoff::kernels {

// How long a kernel ran, from its record: nothing where the record is of something else, too short,
// or has no times. The fields that are read lie where they are in CUpti_ActivityKernel4 (CUDA 9.0)
// to CUpti_ActivityKernel10 (CUDA 13.0): the kind, 12 bytes, start and end in ns.
[[nodiscard]] std::optional<Seconds> kernel_time_of(std::span<const std::uint8_t> record);

// Why records cannot be had; empty where they can, and from then on every kernel leaves one. A
// tracer costs launches time, so nothing is measured after it.
[[nodiscard]] std::string start_records();
// Of all kernels since the start, in the order of their records; ends the recording.
[[nodiscard]] std::vector<Seconds> take_records();

[[nodiscard]] std::string activity_library_version();

}  // namespace payoff::kernels
