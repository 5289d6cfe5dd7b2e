// SPDX-License-Identifier: Apache-2.0
#include "calibrate/beyond_cache.hpp"

#include <algorithm>
#include <vector>

#include "tests/calibrate/invented_kernel.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

namespace {

constexpr double knee = 50.0;  // MB: what of the cache keeps data

// 3 us, `inside` TB/s to the knee and 3 TB/s beyond, at these sizes in MB.
std::vector<KernelPoint> at_sizes(const std::vector<double>& sizes, double inside) {
  std::vector<KernelPoint> points;
  for (const double size : sizes) {
    points.push_back(of_size(size));
    points.back().time =
        (3.0 + std::min(size, knee) / inside + std::max(0.0, size - knee) / 3.0) * 1_us;
    points.back().relative_sd = 0.01;
  }
  return points;
}

}  // namespace

TEST_CASE("the bandwidth beyond the cache is that of memory, however fast the cache is") {
  for (const double inside : {2.0, 3.0, 6.0, 30.0}) {
    for (const double cache : {knee, 100.0, 130.0}) {  // of which the knee is a part
      const auto found =
          bandwidth_beyond(at_sizes({0.13, 2.1, 33.6, 134.0, 537.0}, inside), cache * 1_MB);
      REQUIRE(found);
      CHECK_THAT(found->gb_per_s, WithinRel(3000.0, 1e-9));
    }
  }
}

// Two times of 1 % each: of the slope their absolute errors over the distance.
TEST_CASE("its deviation is that of the slope between two sizes") {
  const auto points = at_sizes({134.0, 537.0}, 6.0);
  const auto found = bandwidth_beyond(points, knee * 1_MB);
  REQUIRE(found);
  const double apart = std::hypot(points[0].time / 1_us, points[1].time / 1_us) * 0.01;
  const double rise = (points[1].time - points[0].time) / 1_us;
  CHECK_THAT(found->sd / found->gb_per_s, WithinRel(apart / rise, 1e-9));
}

TEST_CASE("of one size beyond the cache, how much of it keeps data is in the deviation") {
  const auto points = at_sizes({0.13, 2.1, 33.6, 537.0}, 6.0);
  const auto found = bandwidth_beyond(points, knee * 1_MB);
  REQUIRE(found);
  CHECK_THAT(found->gb_per_s, WithinRel(3000.0, 1e-9));
  // Half of this cache keeps data, and exact times are held to be certain.
  auto certain = points;
  for (KernelPoint& point : certain) {
    point.relative_sd = 1e-6;
  }
  const auto less_kept = bandwidth_beyond(certain, 2.0 * knee * 1_MB);
  REQUIRE(less_kept);
  CHECK(std::abs(less_kept->gb_per_s - 3000.0) > 1.0);
  CHECK(std::abs(less_kept->gb_per_s - 3000.0) < 1.645 * less_kept->sd);
}

TEST_CASE("sizes that fit into the cache tell nothing of what is beyond it") {
  CHECK(!bandwidth_beyond(at_sizes({0.13, 2.1, 8.4, 33.6}, 6.0), knee * 1_MB));
  CHECK(!bandwidth_beyond(at_sizes({2.1, 537.0}, 6.0), knee * 1_MB));
  CHECK(!bandwidth_beyond({}, knee * 1_MB));
}
