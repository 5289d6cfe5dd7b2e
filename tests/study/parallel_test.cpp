// SPDX-License-Identifier: Apache-2.0
#include "study/parallel.hpp"

#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

TEST_CASE("every index is computed once, on one thread or on eight") {
  for (const unsigned threads : {1U, 2U, 8U}) {
    std::vector<int> calls(1000);
    for_each_index(
        calls.size(), [&](std::size_t i) { ++calls[i]; }, threads);
    CHECK(calls == std::vector<int>(1000, 1));
  }
  for_each_index(0, [](std::size_t) { FAIL("nothing to do"); });
}

TEST_CASE("an exception of one index is the caller's, after all others are done") {
  std::vector<int> calls(100);
  CHECK_THROWS_AS(for_each_index(
                      calls.size(),
                      [&](std::size_t i) {
                        ++calls[i];
                        if (i == 17) {
                          throw std::runtime_error("17");
                        }
                      },
                      4),
                  std::runtime_error);
  CHECK(calls == std::vector<int>(100, 1));
}
