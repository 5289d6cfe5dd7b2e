// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/session.hpp"
#include "profiles/read_experiment.hpp"
#include "sim/topology_platform.hpp"

// Which jobs of a sweep by the simulator run every rank by itself, and why: each result says it,
// the sweep each reason once.

namespace payoff {

// Empty where ranks fold, and where every stage has one rank: nothing could.
[[nodiscard]] std::string why_not_folded(const sim::FoldReport& fold, const ReadExperiment& read);

class SweepFolding {
 public:
  // The results of a job, one JSON object a line.
  void add(const std::string& lines);
  // A note for each reason.
  void report(Session& session) const;

 private:
  std::map<std::string, std::uint64_t> jobs_;  // by reason
  std::uint64_t all_{};
};

}  // namespace payoff
