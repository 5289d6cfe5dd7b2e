// SPDX-License-Identifier: Apache-2.0
#include "model/workload.hpp"

#include "tests/catch.hpp"

using namespace payoff;

TEST_CASE("parameters of a workload are the elements of all tensors") {
  Workload workload;
  CHECK(workload.parameters() == 0);
  workload.layers.resize(2);
  workload.layers[0].parameters = {{30, 20, true}, {30, 1, false}};
  workload.layers[1].parameters = {{1LL << 20, 1LL << 20, true}};  // more than 32 bits count
  CHECK(workload.parameters() == 630 + (1LL << 40));
}
