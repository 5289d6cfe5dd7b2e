// SPDX-License-Identifier: Apache-2.0
// What the points of an invented kernel cannot tell is named, with what would tell it.
#include "calibrate/kernel_untold.hpp"

#include <string>
#include <vector>

#include "tests/calibrate/invented_kernel.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using namespace payoff::test;

namespace {

// "b_gb_per_s: larger sizes; ...", after a fit to a few samples of the truth
std::string told(const std::vector<KernelPoint>& points, const Truth& truth) {
  Noise random(5);
  const std::vector<KernelPoint> drawn = measured(points, truth, random);
  std::string text;
  for (const UntoldConstant& each : untold_constants(drawn, fit_kernel(drawn))) {
    text += (text.empty() ? "" : "; ") + each.name + ": " + each.measure;
  }
  return text;
}

double line_us(const KernelPoint& point) { return 3.0 + point.bytes / 1_MB / 2.0; }

// r (1.5 us + S / 1 TB/s), the columns of a Gram-Schmidt one by one
double columns_us(const KernelPoint& point) { return point.rank * (1.5 + point.bytes / 1_MB); }

std::vector<KernelPoint> of_ranks(const std::vector<double>& ranks) {
  std::vector<KernelPoint> points;
  for (const double rank : ranks) {
    for (KernelPoint point : swept()) {
      point.rank = rank;
      points.push_back(point);
    }
  }
  return points;
}

}  // namespace

TEST_CASE("a law whose constants are all told lacks nothing") {
  CHECK(told(swept(), line_us).empty());
  CHECK(told(swept(), copy_us).empty());
  CHECK(told(of_ranks({1.0, 2.0, 4.0, 8.0}), columns_us).empty());
}

// 1 to 8 KB at 2 TB/s are 0.5 to 4 ns of 3 us, a thousandth, at a noise of 3 %.
TEST_CASE("small sizes alone do not tell a bandwidth, and larger ones would") {
  const std::vector<KernelPoint> small{of_size(0.001), of_size(0.002), of_size(0.004),
                                       of_size(0.006), of_size(0.008)};
  CHECK(told(small, line_us) == "b_gb_per_s: larger sizes");
  CHECK(told({of_size(1.0)}, line_us) == "b_gb_per_s: a second size");
  CHECK(told({of_size(0.0)}, line_us).empty());  // moves nothing: a launch
}

// 1 to 8 GB at 2 TB/s are 0.5 to 4 ms beside 3 us.
TEST_CASE("large sizes alone do not tell the start, and smaller ones would") {
  const std::vector<KernelPoint> large{of_size(1e4), of_size(2e4), of_size(4e4), of_size(6e4),
                                       of_size(8e4)};
  CHECK(told(large, line_us) == "t0_us: smaller sizes");
}

TEST_CASE("one rank says nothing of another, whatever the form") {
  CHECK(told(of_ranks({4.0}), columns_us) ==
        "column_us: another rank than 4; rank_squared_us: another rank than 4");
}

// Where a share of 1 % is kept at every size, what is kept is as good a measure as the size.
TEST_CASE("one share kept does not tell its cost from that of the size") {
  const auto select_us = [](const KernelPoint& point) {
    return 20.0 + point.bytes / 1_MB / 1.5 + 4e-3 * point.kept / 1e3;
  };
  std::vector<KernelPoint> points = swept();
  for (KernelPoint& point : points) {
    point.kept = 0.01 * point.bytes.si / 4.0;
  }
  CHECK(told(points, select_us) == "kept_ns: another share kept, at the same sizes");
  // Of one size, a second tells more than a second share.
  CHECK(told({points.front()}, select_us) == "b_gb_per_s: a second size");
}

TEST_CASE("products of one length of time do not tell their rate") {
  std::vector<KernelPoint> points{of_size(0.01), of_size(0.02), of_size(0.03)};
  for (KernelPoint& point : points) {
    point.flops = Flops{1e3 * point.bytes.si};
  }
  CHECK(told(points, [](const KernelPoint&) { return 9.0; }) ==
        "rate_tflop_per_s: larger products");
}
