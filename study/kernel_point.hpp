// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "calibrate/kernel_fit.hpp"
#include "calibrate/sample_summary.hpp"
#include "profiles/import/samples.hpp"

// A point of a samples file as what laws are fitted to: its time, and all that a form asks for.

namespace payoff {

// Of the parameters of a point or of a law.
[[nodiscard]] double value_or(const std::map<std::string, double>& parameters,
                              const std::string& name, double otherwise);

// The deviation of its time is left to the law that it belongs to.
[[nodiscard]] KernelPoint kernel_point(const SamplesPoint& point, const SampleSummary& summary);

}  // namespace payoff
