// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"

using namespace payoff;
using namespace payoff::test;
using Catch::Matchers::WithinRel;

TEST_CASE("one process that drives many GPUs makes small messages wait for its launches") {
  CollectivePrice alone;
  alone.time = 15_us;
  alone.relative_sd = 0.5;
  const HostLaw host{5_us, 0.2};
  CHECK(launched_by_one_process(alone, 1, host).time == 15_us);
  const CollectivePrice many = launched_by_one_process(alone, 12, host);
  CHECK_THAT(many.time / 60_us, WithinRel(1.0, 1e-3));
  CHECK(many.relative_sd == 0.2);
  alone.time = 1_s;
  CHECK_THAT(launched_by_one_process(alone, 12, host).time / 1_s, WithinRel(1.0, 1e-6));
  CHECK(launched_by_one_process(alone, 12, host).relative_sd == 0.5);
}

TEST_CASE("a pin holds for the calls that have the algorithm, the others stay NCCL's choice") {
  CollectiveModel model(dgx_h100(), Group{32, 8, 1});
  const CollectivePrice gathered = model.price(Collective::all_gather, 64_MiB);
  model.pin({Algorithm::tree, Protocol::none});
  CHECK(model.price(Collective::all_reduce, 1_GiB).algorithm == Algorithm::tree);
  CHECK(model.price(Collective::all_gather, 64_MiB).time == gathered.time);
}
