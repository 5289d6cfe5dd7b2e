// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/units.hpp"

// Numbers of a job that are often asked about one after the other: a prepared job changes to others
// of them without being prepared anew (PreparedExperiment::change).

namespace payoff {

struct Experiment;

struct JobNumbers {
  int nodes{1};
  int nics_per_node{};
  Bandwidth nic{};     // Cluster::nic
  Bandwidth fabric{};  // Fabric::per_gpu
  int dp{1};
  int micro_batch{1};
  int micro_batches{1};
  Bytes bucket{};
  Bytes first_bucket{};

  bool operator==(const JobNumbers&) const = default;
};

[[nodiscard]] JobNumbers numbers_of(const Experiment& experiment);
void set_numbers(const JobNumbers& numbers, Experiment& experiment);

}  // namespace payoff
