// SPDX-License-Identifier: Apache-2.0
#include "model/textbook.hpp"

#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

TEST_CASE("inside a node the textbook's two levels are its ring") {
  const TextbookAllReduce prices = textbook_all_reduce(dgx_h100(), Group{8, 8, 1}, 1_GB);
  // 14 steps of 4 us (the test cluster's law), 14/8 of the buffer at 450 GB/s.
  CHECK_THAT(prices.ring / 1_s, WithinRel(14 * 4e-6 + 14.0 / 8 * 1e9 / 450e9, 1e-12));
  CHECK(prices.two_level == prices.ring);
}

TEST_CASE("between nodes a textbook's tree pays for every level and byte twice") {
  Cluster cluster = dgx_h100();
  cluster.network.law.step_simple = 10_us;
  // 32 ranks: five levels; eight ranks share 8 x 400 Gb/s, so each has 50 GB/s.
  const TextbookAllReduce prices = textbook_all_reduce(cluster, Group{32, 8, 1}, 1_GB);
  CHECK_THAT(prices.tree / 1_s, WithinRel(10 * 10e-6 + 2e9 / 50e9, 1e-12));
  CHECK_THAT(prices.halving_doubling / 1_s,
             WithinRel(10 * 10e-6 + 2 * 31.0 / 32 * 1e9 / 50e9, 1e-12));
}

TEST_CASE("two levels send an eighth of the buffer through every NIC of a node of eight") {
  Cluster cluster = dgx_h100();
  cluster.network.law.step_simple = 0_s;
  cluster.fabric.law.step_simple = 0_s;
  const TextbookAllReduce prices = textbook_all_reduce(cluster, Group{32, 8, 1}, 1_GB);
  const double inside = 14.0 / 8 * 1e9 / 450e9;
  const double between = 2 * 3.0 / 4 * (1e9 / 8) / 50e9;
  CHECK_THAT(prices.two_level / 1_s, WithinRel(inside + between, 1e-12));
  CHECK(prices.two_level < prices.halving_doubling);
}

TEST_CASE("one rank costs nothing in a textbook either") {
  const TextbookAllReduce prices = textbook_all_reduce(dgx_h100(), Group{1, 1, 1}, 1_GB);
  CHECK(prices.ring == 0_s);
  CHECK(prices.halving_doubling == 0_s);
  CHECK(prices.tree == 0_s);
  CHECK(prices.two_level == 0_s);
}
