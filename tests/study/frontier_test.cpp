// SPDX-License-Identifier: Apache-2.0
#include "study/frontier.hpp"

#include <algorithm>
#include <cmath>

#include "study/remedy.hpp"
#include "study/scaled_job.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

Experiment job_with_plan() { return test::with_plans(test::small_job(), {test::shrink(4, 30)}); }

// GPUs across, bandwidth up.
Frontier frontier_of(const Experiment& job, int columns, int rows) {
  return find_frontier({job,
                        1,
                        {0, true, false, false},
                        gpu_scale(job, 8, 64, columns),
                        bandwidth_scale(1_Gbps, 400_Gbps, rows)});
}

// Of the plan over the job as given, on so many GPUs at a line rate, by prediction alone.
double speedup(const Experiment& job, int gpus, Bandwidth nic) {
  Experiment there = *with_dp(job, gpus);
  there.cluster.nic = nic;
  const PreparedExperiment prepared(there);
  return prepared.predict(there.plans[0]).step / prepared.predict(there.plans[1]).step;
}

double speedup_over_remedy(const Experiment& job, int gpus, Bandwidth nic) {
  Experiment there = *with_dp(job, gpus);
  there.cluster.nic = nic;
  const PreparedExperiment prepared(there);
  return best_remedy(prepared, {0, true, false, false}).step_per_batch() /
         prepared.predict(there.plans[1]).step;
}

// Where it ceases to pay, by halving.
template <typename Speedup>
double break_even(Speedup speedup_at, double low, double high) {
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (speedup_at(Bandwidth{middle}) > 1.0 ? low : high) = middle;
  }
  return low;
}

const FrontierPlace* place_at(const std::vector<FrontierLine>& lines, double x) {
  for (const FrontierLine& line : lines) {
    for (const FrontierPlace& place : line) {
      if (place.x == x) {
        return &place;
      }
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("every value of a map is that of a prediction there") {
  const Experiment job = job_with_plan();
  const Frontier map = frontier_of(job, 5, 4);
  REQUIRE(map.values.size() == map.xs.size() * map.ys.size());
  for (std::size_t y = 0; y < map.ys.size(); ++y) {
    for (std::size_t x = 0; x < map.xs.size(); ++x) {
      REQUIRE(map.at(x, y));
      const int gpus = static_cast<int>(map.xs[x]);
      CHECK(map.at(x, y)->speedup == speedup(job, gpus, Bandwidth{map.ys[y]}));
      CHECK(map.at(x, y)->against_remedy == speedup_over_remedy(job, gpus, Bandwidth{map.ys[y]}));
      CHECK(map.at(x, y)->fits);
    }
  }
}

TEST_CASE(
    "the lines lie where halving with predictions finds the break-even, on a coarse grid too") {
  const Experiment job = job_with_plan();
  const Frontier map = frontier_of(job, 6, 5);
  int checked = 0;
  for (const double x : map.xs) {
    const int gpus = static_cast<int>(x);
    if (const FrontierPlace* place = place_at(map.even, x)) {
      const double expected = break_even([&](Bandwidth nic) { return speedup(job, gpus, nic); },
                                         map.ys.front(), map.ys.back());
      CHECK_THAT(place->y, WithinRel(expected, 1e-3));
      ++checked;
    }
    if (const FrontierPlace* place = place_at(map.even_with_remedy, x)) {
      const double expected =
          break_even([&](Bandwidth nic) { return speedup_over_remedy(job, gpus, nic); },
                     map.ys.front(), map.ys.back());
      CHECK_THAT(place->y, WithinRel(expected, 1e-3));
      ++checked;
    }
  }
  CHECK(checked >= 8);
}

TEST_CASE("the pieces of a line that crosses the whole map are one line") {
  const Frontier map = frontier_of(job_with_plan(), 6, 5);
  REQUIRE(map.even.size() == 1);
  const auto [left, right] =
      std::minmax_element(map.even[0].begin(), map.even[0].end(),
                          [](const auto& a, const auto& b) { return a.x < b.x; });
  CHECK(left->x == map.xs.front());
  CHECK(right->x == map.xs.back());
}

TEST_CASE("a single replica has nothing to compress and leaves a hole in the map") {
  Experiment job = job_with_plan();
  job.cluster.gpus_per_node = 1;
  job.cluster.nodes = 4;
  job.layout.dp = 4;
  REQUIRE(check(job).empty());
  const Frontier map =
      find_frontier({job, 1, {}, gpu_scale(job, 1, 4, 4), bandwidth_scale(1_Gbps, 10_Gbps, 2)});
  REQUIRE(map.xs.front() == 1);
  CHECK_FALSE(map.at(0, 0));
  CHECK(map.at(1, 0));
}

TEST_CASE("an axis of GPUs has those only for which there is a job") {
  Experiment job = test::small_job();
  job.layout.zero = 3;
  job.layout.shard = 8;
  REQUIRE(check(job).empty());
  const JobScale scale = gpu_scale(job, 8, 1024, 36);
  REQUIRE(scale.values.size() > 10);
  for (const double x : scale.values) {
    CHECK(static_cast<int>(x) % 8 == 0);
    CHECK(scale.job(job, x));
  }
}
