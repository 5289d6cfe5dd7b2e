// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/measured_collective.hpp"
#include "model/problem.hpp"

// A run of nccl-tests on the user's machine as a measurement of its links: what the network's
// latents of study/draws.hpp would show in it, as a step shows them in the step.
//
// One run is one machine on one day: its sizes are no independent observations. Sizes that one
// latent rules count as one, their mean deviation; its noise is that of the run, and how much the
// sizes scatter about the shape of the law.

namespace payoff {

struct ObservedCollective {
  std::string file;
  Collective collective{};
  Group group;  // alone on the network of its nodes
  NcclRelease release{newest_nccl};
  std::vector<CollectivePoint> points;
  double noise{0.02};  // of the run, relative, one standard deviation: as of a measured step
};

// Whether it says how fast links inside nodes are in a job whose messages go between nodes as well.
[[nodiscard]] bool measures_inside_alone(const Experiment& experiment,
                                         const ObservedCollective& observed);

// A group that the cluster cannot have, a time of nothing, links that the job's messages do not
// take.
[[nodiscard]] Problems check_observation(const Experiment& experiment,
                                         const ObservedCollective& observed);

// Sizes of one run that count as one observation.
struct ObservedSizes {
  std::string file;
  Collective collective{};
  Group group;
  Bytes first{};
  Bytes last{};
  std::size_t count{};
  double before{};  // measured over predicted, geometric mean
  double after{};   // the same, with the most likely parameters given all measurements
  double noise{};   // relative, one standard deviation
};

}  // namespace payoff
