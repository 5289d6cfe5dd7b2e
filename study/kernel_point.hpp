// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/kernel_fit.hpp"
#include "calibrate/sample_summary.hpp"
#include "profiles/import/samples.hpp"

// A point of a samples file as what laws are fitted to: its time, and all that a form asks for.

namespace payoff {

// The deviation of its time is left to the law that it belongs to.
[[nodiscard]] KernelPoint kernel_point(const SamplesPoint& point, const SampleSummary& summary);

}  // namespace payoff
