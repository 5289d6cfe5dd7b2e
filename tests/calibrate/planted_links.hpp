// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/collective.hpp"
#include "model/measured_collective.hpp"

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
  LinkLaw law;
  law.launch = 5_us;
  law.step_ll = 0.7_us;
  law.step_ll128 = 1.6_us;
  law.step_simple = 3_us;
  law.step_nvls = 18_us;
  law.share_ll = 0.95;
  law.share_ll128 = 0.9;
  law.share_simple = 0.8;
  law.share_nvls = 0.7;
  law.channel = 18_GBps;
  law.ramp = 3_us;
  return law;
}

inline LinkLaw planted_network() {
  LinkLaw law;
  law.launch = 5_us;
  law.step_ll = 7_us;
  law.step_ll128 = 12_us;
  law.step_simple = 20_us;
  law.share_ll = 0.6;
  law.share_ll128 = 0.85;
  law.share_simple = 0.9;
  law.chunk = 1_MiB;
  law.ramp = 9_us;
  law.congestion_per_doubling = 0.04;
  return law;
}

inline MeasuredCollective measured(const Cluster& truth, int nodes, Collective collective,
                                   double noise, Noise& random) {
  MeasuredCollective table;
  table.id = truth.fabric.name + std::to_string(nodes) + std::string(name(collective));
  table.source = "planted";
  table.system = "eight";
  table.cluster = truth;
  table.cluster.fabric.law = {};
  table.cluster.network.law = {};
  table.group = {8 * nodes, 8, 1};
  table.collective = collective;
  table.launch = Launch::process_per_gpu;
  const CollectiveModel model(truth, table.group);
  for (Bytes size = 8_B; size <= 8_GiB; size *= 2) {
    const double factor = 1 + noise * random.next();
    table.points.push_back({size, model.price(collective, size).time * factor});
  }
  return table;
}

}  // namespace payoff::test
