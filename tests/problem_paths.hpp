// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/experiment.hpp"

namespace payoff::test {

// Where check() finds something wrong with a job.
inline std::vector<std::string> problems_of(const Experiment& job) {
  std::vector<std::string> paths;
  for (const Problem& problem : check(job)) {
    paths.push_back(problem.path);
  }
  return paths;
}

}  // namespace payoff::test
