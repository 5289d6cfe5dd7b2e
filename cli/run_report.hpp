// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/priced_uses.hpp"
#include "cli/session.hpp"
#include "model/run_schedule.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "study/scheduled_run.hpp"

// The answer of `payoff run`: a table of phases with the whole and what it is compared with, and
// the verdict in words as the last line; the same as versioned JSON and as CSV.

namespace payoff {

struct RunReport {
  const ReadExperiment& read;
  const Library& library;
  const RunOptions& options;
  Price price{};  // of a node; zero: not known
  RunPayoff run;
  PreparedExperiment prepared;  // of the job, whose plans are those of the schedule

  [[nodiscard]] const RunSchedule& schedule() const { return *read.run; }
  // Of the plan of a phase, and of the one that refreshes it.
  [[nodiscard]] PricedUses uses(const RunPhase& phase) const;
  // Of all nodes.
  [[nodiscard]] double gpu_hours(Seconds time) const;
  [[nodiscard]] std::optional<double> cost_usd(Seconds time) const;
};

[[nodiscard]] std::string run_text(const RunReport& report);
[[nodiscard]] std::string run_json(const RunReport& report, const Session& session);
[[nodiscard]] std::string run_csv(const RunReport& report);

// "pays", with what it gains over what, and what convergence may still cost.
[[nodiscard]] std::string run_verdict(const RunReport& report);
// What a phase is called: its name, or what it does.
[[nodiscard]] std::string phase_text(const RunPhase& phase, const PhasePayoff& payoff);

}  // namespace payoff
