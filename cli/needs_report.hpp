// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/calibration_needs.hpp"
#include "cli/session.hpp"
#include "cli/trust.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "study/next_measurement.hpp"
#include "study/payoff.hpp"

// The answer of `payoff calibrate needs`: what to measure next and what it is expected to settle,
// then the numbers that nobody measured, below the thing that they belong to.

namespace payoff {

struct NeedsReport {
  const ReadExperiment& read;
  const Library& library;
  const PlanPayoff& plan;  // the best one
  const std::vector<Need>& needs;
  const NextMeasurements& next;
  const Trust& trust;
};

[[nodiscard]] std::string needs_text(const NeedsReport& report);
[[nodiscard]] std::string needs_json(const NeedsReport& report, const Session& session);

}  // namespace payoff
