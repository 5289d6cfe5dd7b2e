// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/session.hpp"
#include "profiles/library.hpp"
#include "profiles/read_experiment.hpp"
#include "study/advice.hpp"

// The answer of `payoff advise`: what was chosen among, the advised plan beside nothing, the best
// remedy and the best plan as it was written, the plan as YAML, and the advice as the last line.

namespace payoff {

struct AdviceReport {
  const ReadExperiment& read;
  const Library& library;
  const Advice& advice;
  const AdviceOptions& options;
  PreparedExperiment prepared;  // of what is compared
};

// Why nothing is to be compressed, and the means to take instead. Requires that none is advised.
[[nodiscard]] std::string reason_for_nothing(const Advice& advice);
[[nodiscard]] std::string advice_text(const AdviceReport& report);
[[nodiscard]] std::string advice_json(const AdviceReport& report, const Session& session);

}  // namespace payoff
