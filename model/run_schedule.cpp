// SPDX-License-Identifier: Apache-2.0
#include "model/run_schedule.hpp"

namespace payoff {

StepShares step_shares(const RunPhase& phase) {
  StepShares shares;
  shares.refreshing = phase.refresh ? 1.0 / phase.refresh->every : 0.0;
  const double others = 1.0 - shares.refreshing;
  shares.sending = others * phase.trigger_probability / phase.local_steps;
  shares.silent = others - shares.sending;
  return shares;
}

double RunSchedule::iterations() const {
  double sum = 0;
  for (const RunPhase& phase : phases) {
    sum += phase.iterations;
  }
  return sum;
}

Problems check(const RunSchedule& schedule, const ParallelLayout& layout) {
  Problems problems;
  for (std::size_t i = 0; i < schedule.phases.size(); ++i) {
    const RunPhase& phase = schedule.phases[i];
    if (layout.zero > 0 && phase.exchanges_models()) {
      const char* key = phase.local_steps > 1.0 ? "local_steps" : "trigger_probability";
      problems.push_back({"run.phases." + std::to_string(i) + "." + key,
                          "needs whole gradients and states on every rank, and zero " +
                              std::to_string(layout.zero) + " divides them",
                          "set layout.zero to 0"});
    }
  }
  return problems;
}

}  // namespace payoff
