// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "profiles/diagnostics.hpp"
#include "profiles/import/samples.hpp"

// Which device samples are of.

namespace payoff {

// "`driver` is 570.86 and not 580.12, ...": every field in which two devices differ; empty where
// they are the same.
[[nodiscard]] std::string differences_of(const SamplesDevice& device, const SamplesDevice& other);

namespace import_detail {

// Reports a file of another device than the first's, and times that no device has run.
void check_device(const SamplesFile& file, const SamplesFile& first, Span place,
                  Diagnostics& diagnostics);

}  // namespace import_detail
}  // namespace payoff
