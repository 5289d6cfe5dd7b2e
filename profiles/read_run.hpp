// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/experiment_check.hpp"
#include "model/run_schedule.hpp"
#include "profiles/read_plans.hpp"
#include "profiles/section.hpp"

// The `run` of an experiment, which `payoff run` asks for:
//
//   run:
//     epochs: 300                  or iterations: N; without either, as long as its phases
//     iterations_per_epoch: 98     where epochs are counted
//     phases:
//     - plan: powersgd:rank=2      none where it is left out
//       share: 20 %                or epochs, or iterations; one phase may leave it to the rest
//       name: critical regime
//       inflation: 2 %             iterations that convergence takes more
//       local_steps: 4             exchanged in every 4th step only
//       trigger_probability: 30 %  and then in 30 % of them only
//       refresh: {plan: topk:ratio=1 %, every: 1000}

namespace payoff {

struct ReadRun {
  RunSchedule schedule;
  ReadPlans plans;                  // those of the schedule, once more with what they rest on
  std::vector<std::string> places;  // of every plan that compresses, where it is first used

  // What is wrong with its plans in this job, with paths as in the file; and with its phases.
  [[nodiscard]] Problems check(const Experiment& experiment, const SoundParts& sound) const;
};

// Nothing where there is no such section. Every mistake is reported at its place.
[[nodiscard]] std::optional<ReadRun> read_run(const Value& value, const Gpu& gpu,
                                              const ReadContext& context);

}  // namespace payoff
