// SPDX-License-Identifier: Apache-2.0
#include "model/collective.hpp"

#include "model/group_paths.hpp"
#include "tests/catch.hpp"

using namespace payoff;
using Catch::Matchers::WithinRel;

namespace {

// Laws with round numbers, so that every expected time can be written down.
LinkLaw plain_law() {
  LinkLaw law;
  law.launch = 10_us;
  law.step_ll = 1_us;
  law.step_ll128 = 2_us;
  law.step_simple = 4_us;
  law.step_nvls = 20_us;
  law.share_ll = 1.0;
  law.share_ll128 = 1.0;
  law.share_simple = 0.8;
  law.share_nvls = 0.9;
  return law;
}

Cluster hopper_nodes(int nodes) {
  Cluster cluster;
  cluster.name = "hopper";
  cluster.gpu.architecture = Architecture::hopper;
  cluster.fabric = {
      "switch", FabricKind::switched, LinkGeneration::nvlink4, 450_GBps, 450_GBps, 8, true, false,
      false,    plain_law()};
  cluster.network.name = "network";
  cluster.network.kind = NetworkKind::rdma;
  cluster.network.gpudirect = true;
  cluster.network.law = plain_law();
  cluster.gpus_per_node = 8;
  cluster.nics_per_node = 8;
  cluster.nic = 400_Gbps;
  cluster.nodes = nodes;
  return cluster;
}

constexpr Group node{8, 8, 1};

Seconds pinned(const Cluster& cluster, const Group& group, Bytes size,
               Algorithm algorithm = Algorithm::ring, Protocol protocol = Protocol::simple) {
  return CollectiveModel(cluster, group)
      .price_pinned(Collective::all_reduce, size, algorithm, protocol)
      .value()
      .time;
}

}  // namespace

TEST_CASE("a ring all-reduce takes 2(n-1) steps and moves 2(n-1)/n of the buffer") {
  const Seconds time = pinned(hopper_nodes(1), node, 1_GiB);
  const double expected = 10e-6 + 14 * 4e-6 + 14.0 / 8 * 1073741824.0 / (0.8 * 450e9);
  CHECK_THAT(time / 1_s, WithinRel(expected, 1e-12));
}

TEST_CASE("a collective of one rank costs nothing") {
  const CollectiveModel model(hopper_nodes(1), Group{1, 1, 1});
  for (int c = 0; c < collective_count; ++c) {
    CHECK(model.price(static_cast<Collective>(c), 1_GiB).time == 0_s);
  }
}

TEST_CASE("a group that does not fit its cluster is a problem, not a price") {
  CHECK(check_group(hopper_nodes(4), Group{32, 8, 1}).empty());
  CHECK(check_group(hopper_nodes(4), Group{13, 1, 1}).empty());
  CHECK(check_group(hopper_nodes(1), Group{16, 16, 1}).size() == 2);
  CHECK(check_group(hopper_nodes(2), Group{13, 8, 1}).size() == 1);
  Cluster alone = hopper_nodes(2);
  alone.network = {};
  CHECK(check_group(alone, Group{16, 8, 1}).size() == 1);
}
