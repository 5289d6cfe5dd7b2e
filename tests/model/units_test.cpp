// SPDX-License-Identifier: Apache-2.0
#include "model/units.hpp"

#include <type_traits>

#include "tests/catch.hpp"

using namespace payoff::literals;
using Catch::Matchers::WithinRel;
using payoff::Bandwidth;
using payoff::Bytes;
using payoff::FlopRate;
using payoff::Flops;
using payoff::Seconds;

TEST_CASE("GB counts in powers of ten and GiB in powers of two, 7.4 % apart") {
  STATIC_REQUIRE(1_GB == 1000000000_B);
  STATIC_REQUIRE(1_GiB == 1073741824_B);
  CHECK_THAT(1_GiB / 1_GB, WithinRel(1.073741824, 1e-15));
}

TEST_CASE("Gb/s counts bits: a 100 Gb/s link moves 12.5 GB in a second") {
  STATIC_REQUIRE(100_Gbps * 1_s == 12.5_GB);
  STATIC_REQUIRE(8_Gbps == 1_GBps);
  STATIC_REQUIRE(1_TBps == 1000_GBps);
}

TEST_CASE("size over bandwidth is a time, size over time a bandwidth, and they agree") {
  STATIC_REQUIRE(std::is_same_v<decltype(64_MiB / 400_Gbps), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(64_MiB / 5_us), Bandwidth>);
  // 64 MiB = 67,108,864 bytes at 50e9 bytes/s.
  CHECK_THAT((64_MiB / 400_Gbps) / 1_us, WithinRel(67108864.0 / 50e9 * 1e6, 1e-14));
}

TEST_CASE("operations over a rate are a time") {
  STATIC_REQUIRE(std::is_same_v<decltype(2_TFLOP / 312_TFLOPps), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(2_TFLOP / 1_s), FlopRate>);
  CHECK_THAT((312_GFLOP / 312_TFLOPps) / 1_ms, WithinRel(1.0, 1e-14));
}

TEST_CASE("a quotient of equal dimensions is a plain double") {
  STATIC_REQUIRE(std::is_same_v<decltype(1_ms / 1_us), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(1_s * (1.0 / 1_s)), double>);
  CHECK_THAT(1_ms / 1_us, WithinRel(1000.0, 1e-14));
}

TEST_CASE("arithmetic intensity keeps its dimension: operations per byte") {
  const auto intensity = 100_flop / 50_B;
  STATIC_REQUIRE(std::is_same_v<decltype(intensity), const payoff::Quantity<0, -1, 1>>);
  // An intensity times a memory bandwidth is a rate of operations: the roofline's slope.
  STATIC_REQUIRE(std::is_same_v<decltype(intensity * 1_TBps), FlopRate>);
  CHECK_THAT((intensity * 1_TBps) / 1_TFLOPps, WithinRel(2.0, 1e-14));
}

TEST_CASE("whole and decimal literals of one value are equal") {
  STATIC_REQUIRE(5_us == 5.0_us);
  STATIC_REQUIRE(25_MiB == 25.0_MiB);
  STATIC_REQUIRE(0_ns == 0.0_s);
}

TEST_CASE("sums, differences and scaling stay within a dimension") {
  Seconds time = 3_s;
  time += 2_s;
  CHECK(time == 5_s);
  time -= 1_s;
  CHECK(time == 4_s);
  time *= 2.0;
  CHECK(time == 8_s);
  time /= 4.0;
  CHECK(time == 2_s);
  CHECK(-time == 0_s - 2_s);
  CHECK(3.0 * time == time * 3.0);
}

TEST_CASE("quantities order as their values do") {
  STATIC_REQUIRE(999_us < 1_ms);
  STATIC_REQUIRE(1_GiB > 1_GB);
  STATIC_REQUIRE(Bytes{} == 0_B);
}

TEST_CASE("a million GPUs' worth of bytes and operations does not overflow") {
  // 2^20 GPUs with 192 GB each, and one zettaflop of work: far below the range of a double, and
  // whole bytes stay exact up to 2^53.
  const Bytes memory = 1048576.0 * 192_GB;
  CHECK(memory == Bytes{1048576.0 * 192e9});
  const Flops work = 1e9 * 1_TFLOP;
  CHECK_THAT(work / 1_TFLOP, WithinRel(1e9, 1e-14));
}
