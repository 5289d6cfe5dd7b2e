// SPDX-License-Identifier: Apache-2.0
#include "study/ordered_work.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

TEST_CASE("results come in the order of their numbers, whatever threads compute them") {
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::string all;
    OrderedWork work;
    work.first = 3;
    work.end = 300;
    work.threads = threads;
    work.compute = [](std::uint64_t i) {
      // The later ones are ready first.
      std::this_thread::sleep_for(std::chrono::microseconds(i % 10 == 0 ? 200 : 1));
      return std::to_string(i) + " ";
    };
    work.emit = [&](std::uint64_t, const std::string& text) { all += text; };
    CHECK(run_in_order(work) == 300);
    std::string expected;
    for (int i = 3; i < 300; ++i) {
      expected += std::to_string(i) + " ";
    }
    CHECK(all == expected);
  }
}

TEST_CASE("what was begun before a stop is emitted, without a hole") {
  std::atomic<bool> stop{false};
  std::vector<std::uint64_t> emitted;
  OrderedWork work;
  work.end = 1'000'000;
  work.threads = 4;
  work.stop = &stop;
  work.compute = [&](std::uint64_t i) {
    if (i == 100) {
      stop = true;
    }
    return std::string();
  };
  work.emit = [&](std::uint64_t i, const std::string&) { emitted.push_back(i); };
  const std::uint64_t reached = run_in_order(work);
  CHECK(reached >= 101);
  CHECK(reached < 1'000'000);
  REQUIRE(emitted.size() == reached);
  for (std::uint64_t i = 0; i < reached; ++i) {
    CHECK(emitted[i] == i);
  }
}

TEST_CASE("the first failure ends the work and is told") {
  for (const bool while_emitting : {false, true}) {
    std::uint64_t emitted = 0;
    OrderedWork work;
    work.end = 1'000'000;
    work.threads = 3;
    work.compute = [&](std::uint64_t i) -> std::string {
      if (!while_emitting && i == 50) {
        throw std::runtime_error("fifty");
      }
      return {};
    };
    work.emit = [&](std::uint64_t i, const std::string&) {
      if (while_emitting && i == 50) {
        throw std::runtime_error("fifty");
      }
      ++emitted;
    };
    CHECK_THROWS_WITH(run_in_order(work), "fifty");
    CHECK(emitted <= 50);
  }
}

TEST_CASE("no work is done at once") {
  OrderedWork work;
  CHECK(run_in_order(work) == 0);
}
