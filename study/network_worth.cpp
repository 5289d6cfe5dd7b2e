// SPDX-License-Identifier: Apache-2.0
#include "study/network_worth.hpp"

#include <algorithm>

namespace payoff {
namespace {

double cost_usd(const Experiment& experiment, Seconds step, const NetworkQuestion& question) {
  return training_run(experiment, training_work(experiment), step, question.tokens, question.node)
      .cost_usd.value_or(0.0);
}

NetworkWorth worth_of(const Experiment& experiment, const PlanPayoff& plan, const Payoff& payoff,
                      const IntervalSet<Bandwidth>& pays, const NetworkQuestion& question) {
  NetworkWorth worth;
  worth.label = plan.label;
  const Cluster& cluster = experiment.cluster;
  const auto here = std::find_if(
      pays.intervals.begin(), pays.intervals.end(), [&](const Interval<Bandwidth>& interval) {
        // Beyond what was scanned nothing changes.
        const bool below = cluster.nic <= interval.high || interval.open_high;
        return (cluster.nic >= interval.low || interval.open_low) && below;
      });
  worth.pays_now = here != pays.intervals.end();
  // As many steps either way: what differs is the time of one.
  const double cost = cost_usd(experiment, plan.prediction.step, question);
  const Comparison& gain = plan.against_remedy;
  worth.saved_usd = cost_usd(experiment, payoff.remedy.step_per_batch(), question) - cost;
  worth.saved_low_usd = cost * (gain.speedup_low - 1.0);
  worth.saved_high_usd = cost * (gain.speedup_high - 1.0);
  if (!worth.pays_now || here->open_high) {
    return worth;
  }
  worth.pointless_from = here->high;
  worth.added = (here->high - cluster.nic) * cluster.nics_per_node * cluster.nodes;
  worth.network_usd = question.usd_per_gbps * (worth.added / 1_Gbps);
  if (worth.saved_usd > 0) {
    worth.trainings = worth.network_usd / worth.saved_usd;
  }
  return worth;
}

}  // namespace

std::vector<NetworkWorth> network_worths(const Experiment& experiment, const Payoff& payoff,
                                         const std::vector<BreakEven>& break_evens,
                                         const NetworkQuestion& question) {
  std::vector<NetworkWorth> worths;
  for (const BreakEven& entry : break_evens) {
    const auto plan = std::find_if(payoff.plans.begin(), payoff.plans.end(),
                                   [&](const PlanPayoff& p) { return p.label == entry.label; });
    if (entry.bandwidth && plan != payoff.plans.end()) {
      worths.push_back(worth_of(experiment, *plan, payoff, *entry.bandwidth, question));
    }
  }
  return worths;
}

}  // namespace payoff
