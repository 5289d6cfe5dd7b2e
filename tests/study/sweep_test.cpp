// SPDX-License-Identifier: Apache-2.0
#include "study/sweep.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "tests/catch.hpp"

using namespace payoff;

namespace {

std::vector<SweepAxis> axes_of(std::vector<std::size_t> sizes) {
  std::vector<SweepAxis> axes;
  for (const std::size_t size : sizes) {
    SweepAxis axis{"key" + std::to_string(axes.size()), {}};
    for (std::size_t value = 0; value < size; ++value) {
      axis.values.push_back(std::to_string(value));
    }
    axes.push_back(axis);
  }
  return axes;
}

std::set<std::vector<std::size_t>> different_jobs(const SweepDesign& design) {
  std::set<std::vector<std::size_t>> jobs;
  for (std::uint64_t number = 0; number < design.jobs(); ++number) {
    jobs.insert(design.job(number));
  }
  return jobs;
}

}  // namespace

TEST_CASE("a grid has every combination once, the last axis fastest") {
  const SweepDesign design(axes_of({2, 3, 4}), Sampling::grid);
  CHECK(design.jobs() == 2 * 3 * 4);
  CHECK(different_jobs(design).size() == 2 * 3 * 4);
  CHECK(design.job(0) == std::vector<std::size_t>{0, 0, 0});
  CHECK(design.job(1) == std::vector<std::size_t>{0, 0, 1});
  CHECK(design.job(4) == std::vector<std::size_t>{0, 1, 0});
}

TEST_CASE("zipped axes go value by value") {
  const SweepDesign design(axes_of({5, 5}), Sampling::zipped);
  CHECK(design.jobs() == 5);
  CHECK(design.job(3) == std::vector<std::size_t>{3, 3});
}

TEST_CASE("random jobs are different, of the grid, and the same again for the same seed") {
  // More combinations than could be listed: 10^18.
  const std::vector<SweepAxis> axes = axes_of({1000, 1000, 1000, 1000, 1000, 1000});
  const SweepDesign design(axes, Sampling::random, 500, 7);
  CHECK(design.jobs() == 500);
  CHECK(different_jobs(design).size() == 500);
  CHECK(different_jobs(design) == different_jobs(SweepDesign(axes, Sampling::random, 500, 7)));
  CHECK(different_jobs(design) != different_jobs(SweepDesign(axes, Sampling::random, 500, 8)));
  // All of a small grid when more are asked for.
  CHECK(different_jobs(SweepDesign(axes_of({3, 4}), Sampling::random, 100)).size() == 12);
}

TEST_CASE("every combination is as likely as any other in a random sweep") {
  std::map<std::vector<std::size_t>, int> seen;
  constexpr int seeds = 3000;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    for (const auto& job :
         different_jobs(SweepDesign(axes_of({2, 5}), Sampling::random, 3, seed))) {
      ++seen[job];
    }
  }
  // Each is in 3 of 10: 900 times, with a standard deviation of sqrt(3000 0.3 0.7) = 25.
  REQUIRE(seen.size() == 10);
  for (const auto& [job, times] : seen) {
    CHECK(std::abs(times - 900) < 5 * 25);
  }
}

TEST_CASE("a Latin hypercube has every value of every axis equally often") {
  const SweepDesign design(axes_of({4, 7}), Sampling::latin, 30, 3);
  std::vector<int> first(4);
  std::vector<int> second(7);
  for (std::uint64_t number = 0; number < design.jobs(); ++number) {
    const std::vector<std::size_t> job = design.job(number);
    ++first[job[0]];
    ++second[job[1]];
  }
  for (const std::vector<int>& times : {first, second}) {
    CHECK(*std::max_element(times.begin(), times.end()) -
              *std::min_element(times.begin(), times.end()) <=
          1);
  }
}

TEST_CASE("shards have every job between them, none twice, and differ by one job at most") {
  for (const std::uint64_t jobs : {0U, 1U, 7U, 24U, 25U}) {
    std::set<std::uint64_t> seen;
    std::uint64_t sum = 0;
    for (std::uint64_t index = 0; index < 8; ++index) {
      const Shard shard{index, 8};
      const std::uint64_t size = shard.size(jobs);
      CHECK(size >= jobs / 8);
      CHECK(size <= jobs / 8 + 1);
      sum += size;
      for (std::uint64_t i = 0; i < size; ++i) {
        CHECK(shard.job(i) < jobs);
        seen.insert(shard.job(i));
      }
    }
    CHECK(sum == jobs);
    CHECK(seen.size() == jobs);
  }
}

TEST_CASE("a grid beyond 2^64 combinations is as large as can be told") {
  CHECK(grid_size(axes_of({1000, 1000})) == 1'000'000);
  CHECK(grid_size(std::vector<SweepAxis>(10, axes_of({1000}).front())) ==
        std::numeric_limits<std::uint64_t>::max());
}
