// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/collective.hpp"
#include "model/measured_collective.hpp"
#include "tests/model/collective_clusters.hpp"

// Measurements that laws of our own made, so that a fit can be held to them.

namespace payoff::test {

// A small generator of our own, so that tests are the same everywhere (Numerical Recipes' LCG).
class Noise {
 public:
  double next() {  // in [-1, 1)
    state_ = 1664525U * state_ + 1013904223U;
    return static_cast<double>(state_ >> 8U) / 8388608.0 - 1.0;
  }

 private:
  std::uint32_t state_{11};
};

inline LinkLaw planted_fabric() {
  LinkLaw law = link_law(5_us, {0.7_us, 1.6_us, 3_us, 18_us}, {0.95, 0.9, 0.8, 0.7});
  law.channel = 18_GBps;
  law.ramp = 3_us;
  return law;
}

inline LinkLaw planted_network() {
  LinkLaw law = link_law(5_us, {7_us, 12_us, 20_us, 0_us}, {0.6, 0.85, 0.9, 0.92});
  law.chunk = 1_MiB;
  law.ramp = 9_us;
  law.congestion_per_doubling = 0.04;
  return law;
}

// A table to be filled with times.
inline MeasuredCollective planted_table(const Cluster& truth, const Group& group,
                                        Collective collective, Launch launch) {
  MeasuredCollective table;
  table.source = "planted";
  table.system = "eight";
  table.cluster = truth;
  table.group = group;
  table.collective = collective;
  table.launch = launch;
  return table;
}

inline MeasuredCollective measured(const Cluster& truth, int nodes, Collective collective,
                                   double noise, Noise& random) {
  MeasuredCollective table =
      planted_table(truth, {8 * nodes, 8, 1}, collective, Launch::process_per_gpu);
  table.id = truth.fabric.name + std::to_string(nodes) + std::string(name(collective));
  table.cluster.fabric.law = {};
  table.cluster.network.law = {};
  const CollectiveModel model(truth, table.group);
  for (Bytes size = 8_B; size <= 8_GiB; size *= 2) {
    const double factor = 1 + noise * random.next();
    table.points.push_back({size, model.price(collective, size).time * factor});
  }
  return table;
}

}  // namespace payoff::test
