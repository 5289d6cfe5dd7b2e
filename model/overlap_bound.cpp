// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/interference.hpp"
#include "model/overlap.hpp"

namespace payoff {

namespace {

// Work beside a copy goes on at no less than half of its rate.
Seconds most_on_host(const HostWork& work) { return work.work + 1.5 * work.copy; }

}  // namespace

std::vector<Seconds> most_added(const StepPlan& plan) {
  constexpr double rounding = 1.0 + 1e-9;
  std::vector<Seconds> of_kind;
  of_kind.reserve(plan.kinds.size());
  // While a message is in flight, work goes on at no less than half of its rate; and the message at
  // no less than what its units weigh in the memory.
  constexpr double slowed_at_most = 0.5;
  double reserved = plan.reserved_share;
  for (const StageUnits& units : plan.units) {
    reserved = std::min(reserved, units.reserved_share);
  }
  for (const BucketKind& kind : plan.kinds) {
    Seconds& sum = of_kind.emplace_back(kind.decode.alone + most_on_host(kind.host_decode));
    for (const BucketRound& round : kind.rounds) {
      const double longer = 1.0 / message_rate(1.0, round.message.memory_share, reserved);
      sum += most_on_host(round.host);
      sum += round.encode.alone + (1.0 + slowed_at_most) * longer * round.message.alone;
    }
  }
  std::vector<Seconds> most(plan.stages.size());
  for (std::size_t s = 0; s < most.size(); ++s) {
    if (plan.stages[s].like < s) {
      most[s] = most[plan.stages[s].like];
      continue;
    }
    for (const Bucket& bucket : plan.stages[s].buckets) {
      most[s] += rounding * of_kind[bucket.kind];
    }
  }
  return most;
}

}  // namespace payoff
