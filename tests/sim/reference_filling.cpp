// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/reference_filling.hpp"

#include <algorithm>
#include <cstddef>

namespace payoff::sim::reference {
namespace {

// How far the common level can rise before the constraint is full.
double level_of(const Constraint& constraint, std::size_t index, const std::vector<Flow>& flows,
                const std::vector<double>& rates) {
  double left = constraint.capacity;
  double weight = 0.0;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (rates[f] >= 0.0) {
      left -= flows[f].usage[index] * rates[f];
    } else {
      weight += flows[f].usage[index] * flows[f].share;
    }
  }
  return weight > 0.0 ? std::max(left, 0.0) / weight : 1e300;
}

}  // namespace

std::vector<double> fill(const std::vector<Constraint>& constraints,
                         const std::vector<Flow>& flows) {
  std::vector<double> bounds;
  for (const Flow& flow : flows) {
    double bound = flow.bound;
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      if (constraints[c].fat_pipe && flow.usage[c] > 0.0) {
        bound = std::min(bound, constraints[c].capacity / flow.usage[c]);
      }
    }
    bounds.push_back(bound);
  }
  std::vector<double> rates(flows.size(), -1.0);  // negative: not fixed yet
  for (;;) {
    double level = 1e300;
    std::size_t full = constraints.size();
    for (std::size_t c = 0; c < constraints.size(); ++c) {
      const double here =
          constraints[c].fat_pipe ? 1e300 : level_of(constraints[c], c, flows, rates);
      if (here < level) {
        level = here;
        full = c;
      }
    }
    std::size_t bounded = flows.size();
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (rates[f] < 0.0 && bounds[f] / flows[f].share < level) {
        level = bounds[f] / flows[f].share;
        bounded = f;
      }
    }
    if (bounded < flows.size()) {
      rates[bounded] = bounds[bounded];
    } else if (full < constraints.size()) {
      for (std::size_t f = 0; f < flows.size(); ++f) {
        if (rates[f] < 0.0 && flows[f].usage[full] > 0.0) {
          rates[f] = flows[f].share * level;
        }
      }
    } else {
      return rates;
    }
  }
}

}  // namespace payoff::sim::reference
