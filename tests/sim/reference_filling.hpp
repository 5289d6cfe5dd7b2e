// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// Progressive filling written a second time, for tests: in floating point, everything recomputed
// at every step, one constraint at a time, with no data structure to speak of.

namespace payoff::sim::reference {

struct Constraint {
  double capacity = 0.0;
  bool fat_pipe = false;
};

struct Flow {
  std::vector<double> usage;  // of each constraint, 0 if not used
  double share = 1.0;
  double bound = 1e300;
};

// The rate of each flow.
std::vector<double> fill(const std::vector<Constraint>& constraints,
                         const std::vector<Flow>& flows);

}  // namespace payoff::sim::reference
