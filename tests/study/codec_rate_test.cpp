// SPDX-License-Identifier: Apache-2.0
#include "study/codec_rate.hpp"

#include <cmath>

#include "model/compression.hpp"
#include "tests/catch.hpp"
#include "tests/study/experiments.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

TEST_CASE(
    "a codec that streams is as fast as its share of the memory allows, for large gradients") {
  // Reads and writes the gradient 3 times on either side: 12 times its bytes.
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  const PreparedExperiment prepared(job);
  const auto rates = codec_rates(prepared, 1, {1_GiB});
  REQUIRE(rates.size() == 1);
  const double share = job.plans[1].method->law.memory_efficiency;
  CHECK_THAT(rates[0].rate().si, WithinRel(share * memory_roof(prepared).si / 12, 0.05));
}

TEST_CASE("a codec of small gradients is as fast as its launches allow") {
  const Experiment job = test::with_plans(test::small_job(), {test::shrink(4, 3)});
  const PreparedExperiment prepared(job);
  const auto rates = codec_rates(prepared, 1, {1_KiB, 4_KiB});
  REQUIRE(rates.size() == 2);
  // 16 by 16 and 32 by 32 elements of 4 bytes
  CHECK(rates[0].size == 1_KiB);
  CHECK(rates[1].size == 4_KiB);
  CHECK_THAT(rates[1].rate() / rates[0].rate(), WithinRel(4.0, 0.05));
}

TEST_CASE("the job as given has no codec, and its reduction is that of the network") {
  const Experiment job = test::small_job();
  const PreparedExperiment prepared(job);
  CHECK(codec_rates(prepared, 0, {1_MiB}).empty());
  CHECK(reduction_rate(prepared, 1_MiB) ==
        1_MiB / prepared.data_network().price(Collective::all_reduce, 1_MiB).time);
}
