// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

TEST_CASE("what a link was not measured with adds an error of its own") {
  Cluster cluster = dgx_h100();
  LinkLaw& law = cluster.network.law;
  law.relative_sd_small = 0.3;
  law.relative_sd_family.at(static_cast<std::size_t>(CollectiveFamily::gathers)) = {0.4, 0.5, 0.6};
  law.relative_sd_more_ranks = {1.2, 0, 0};
  law.domain = {8_B, 1_GiB, 16};
  const auto sd = [&](int nodes, Collective collective, Bytes size) {
    return CollectiveModel(cluster, {8 * nodes, 8, 1}).price(collective, size).relative_sd;
  };
  CHECK_THAT(sd(2, Collective::all_reduce, 1_KiB), WithinRel(0.3, 1e-12));
  CHECK_THAT(sd(2, Collective::broadcast, 1_KiB), WithinRel(0.3, 1e-12));
  // Pythagorean triples: 3, 4, 5 and 5, 12, 13.
  CHECK_THAT(sd(2, Collective::all_gather, 1_KiB), WithinRel(0.5, 1e-12));
  CHECK_THAT(sd(2, Collective::reduce_scatter, 1_KiB), WithinRel(0.5, 1e-12));
  CHECK_THAT(sd(16, Collective::all_gather, 1_KiB), WithinRel(1.3, 1e-12));
  // Ranks beyond none are not "more": a link without tables says all in its own spread.
  law.domain = {};
  CHECK_THAT(sd(16, Collective::all_gather, 1_KiB), WithinRel(0.5, 1e-12));
}
