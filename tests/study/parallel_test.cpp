// SPDX-License-Identifier: Apache-2.0
#include "study/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
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

TEST_CASE("as many threads do the same as are asked for, this one among them") {
  const std::thread::id own = std::this_thread::get_id();
  std::atomic<int> all{0};
  std::atomic<int> on_own{0};
  run_on_threads(4, [&] {
    ++all;
    on_own += std::this_thread::get_id() == own ? 1 : 0;
  });
  CHECK(all == 4);
  CHECK(on_own == 1);
  CHECK(thread_count(3) == 3);
  CHECK(thread_count(0) >= 1);
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
