// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "model/experiment.hpp"
#include "sim/step.hpp"
#include "tests/catch.hpp"
#include "tests/sim/random_plans.hpp"

// The analytical engine sees no links. Where they make no message late, the simulator must not
// either feel them: prices are what a message takes alone, links included.

using namespace payoff;

TEST_CASE("links that make no message late change no step, on random jobs") {
  int untouched = 0;
  int late = 0;
  for (int seed = 1; seed <= 400; ++seed) {
    const Experiment job = test::random_experiment(static_cast<std::uint64_t>(seed));
    REQUIRE(check(job).empty());
    const PreparedExperiment prepared(job);
    for (const CompressionPlan& compression : job.plans) {
      const StepPlan plan = prepared.plan(compression);
      if (std::any_of(plan.kinds.begin(), plan.kinds.end(), uses_host)) {
        continue;  // their platform has cores as well
      }
      INFO("job of seed " << seed << ", " << compression.label);
      const sim::SimulatedStep without = sim::simulate(plan, {});
      const sim::SimulatedStep with = sim::simulate(plan, {job.cluster, plan.layout});
      const bool nobody_late =
          std::all_of(with.links.begin(), with.links.end(),
                      [](const sim::LinkUse& link) { return link.max_delay == 0_s; });
      if (nobody_late) {
        ++untouched;
        const double ticks = std::abs(with.prediction.step.si - without.prediction.step.si) * 1e12;
        CHECK(ticks <= static_cast<double>(without.path_activities));
      } else {
        ++late;
      }
    }
  }
  std::printf("links: %d plans untouched, %d with messages that were late\n", untouched, late);
  CHECK(untouched >= 100);
  CHECK(late >= 20);
}
