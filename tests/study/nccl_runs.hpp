// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective.hpp"
#include "model/experiment.hpp"
#include "study/observed_collective.hpp"

// Runs of nccl-tests on the machine of small_job(), as it is or off from what the law says of it.

namespace payoff::test {

// Four nodes of four, as small_job() has them.
inline constexpr Group everybody{16, 4, 1};

// What nccl-tests would print of a machine whose links take `factor` times what the law says.
inline ObservedCollective run_of(const Experiment& job, double factor,
                                 Collective collective = Collective::all_reduce,
                                 const Group& group = everybody) {
  ObservedCollective run;
  run.file = "run";
  run.collective = collective;
  run.group = group;
  const CollectiveModel model(job.cluster, group);
  for (Bytes size = 1_KiB; size <= 1_GiB; size = size * 4.0) {
    run.points.push_back({size, factor * model.price(collective, size).time});
  }
  return run;
}

}  // namespace payoff::test
