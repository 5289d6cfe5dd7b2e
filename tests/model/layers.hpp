// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "model/workload.hpp"
#include "tests/catch.hpp"

namespace payoff::test {

inline const Layer& layer_named(const Workload& workload, const std::string& name) {
  INFO("layer " << name);
  const auto found = std::find_if(workload.layers.begin(), workload.layers.end(),
                                  [&](const Layer& layer) { return layer.name == name; });
  REQUIRE(found != workload.layers.end());
  return *found;
}

}  // namespace payoff::test
