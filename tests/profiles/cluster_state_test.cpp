// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "profiles/read_cluster_state.hpp"
#include "profiles/read_experiment.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"
#include "tests/profiles/profile_folder.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;
using test::ProfileReading;
using test::shipped;

namespace {

std::string job(const std::string& cluster) {
  return "cluster: {profile: dgx-a100, nodes: 4, " + cluster +
         "}\nmodel: {profile: bert-large}\nlayout: {dp: 32}\n";
}

std::optional<ReadExperiment> read_job(const std::string& cluster, ProfileReading& reading) {
  auto document = load_yaml_text("e.yaml", job(cluster), reading.sources, reading.diagnostics);
  REQUIRE(document);
  return read_experiment(std::move(*document), {}, reading.context());
}

std::string errors_of(const std::string& cluster) {
  ProfileReading reading(shipped());
  CHECK_FALSE(read_job(cluster, reading));
  return reading.errors();
}

}  // namespace

TEST_CASE("a topology in an experiment takes its servers from the cluster") {
  ProfileReading reading(shipped());
  const auto read = read_job(
      "topology: {network: {kind: fat_tree, servers_per_leaf: 2, spines: 2}, "
      "background: {nic: 20 %, network: {mean: 10 %, sd: 5 %}}}, "
      "slow_gpus: [{gpu: 31, slowdown: 1.5}], jitter: 3 %",
      reading);
  INFO(reading.errors());
  REQUIRE(read);
  const ClusterState& state = read->cluster_state;
  REQUIRE(state.topology);
  CHECK(state.topology->gpus() == 32);
  const auto& regular = std::get<RegularTopology>(state.topology->shape);
  CHECK(regular.servers == 4);
  CHECK(regular.server.gpus == 8);
  CHECK(regular.server.nic.bandwidth == read->experiment.cluster.nic);
  const auto load_of = [&](BackgroundClass links) {
    return state.topology->background.at(static_cast<std::size_t>(links));
  };
  CHECK(load_of(BackgroundClass::nic).mean == 0.2);
  CHECK(load_of(BackgroundClass::network).mean == 0.1);
  CHECK(load_of(BackgroundClass::network).sd == 0.05);
  CHECK(load_of(BackgroundClass::socket).mean == 0.0);
  REQUIRE(state.slow_gpus.size() == 1);
  CHECK(state.slow_gpus[0].slowdown == 1.5);
  CHECK(state.jitter.sd == 0.03);
}

TEST_CASE("a cluster may have a part of a larger topology, GPU by GPU") {
  ProfileReading reading(shipped());
  std::string gpus = "511";
  for (int gpu = 32; gpu < 63; ++gpu) {
    gpus += ", " + std::to_string(gpu);
  }
  const auto read = read_job(
      "topology: {servers: 64, network: {kind: switch}}, on_gpus: [" + gpus + "]", reading);
  INFO(reading.errors());
  REQUIRE(read);
  REQUIRE(read->cluster_state.on_gpus.size() == 32);
  CHECK(read->cluster_state.on_gpus.front() == 511);
  CHECK(read->cluster_state.on_gpus.back() == 62);
  const std::string wrong =
      errors_of("topology: {servers: 64, network: {kind: switch}}, on_gpus: [512, 3, 3]");
  CHECK_THAT(wrong, ContainsSubstring("is 512; the topology has GPUs 0 to 511"));
  CHECK_THAT(wrong, ContainsSubstring("is 3 again"));
  CHECK_THAT(wrong, ContainsSubstring("lists 3 GPUs, the cluster has 32"));
  CHECK_THAT(errors_of("on_gpus: [0]"), ContainsSubstring("needs a `cluster.topology`"));
  CHECK_THAT(errors_of("topology: {servers: 64, network: {kind: switch}, rank_order: [1, 0]}, "
                       "on_gpus: [3, 4]"),
             ContainsSubstring("says which GPU every rank is on, and so does the topology's "
                               "`rank_order`"));
}

TEST_CASE("a GPU has one slowdown, and a number that was not read is none of them") {
  const std::string errors = errors_of(
      "slow_gpus: [{gpu: 3, slowdown: 1.5}, {gpu: 3, slowdown: 1.2}, {gpu: x, slowdown: 2}, "
      "{gpu: 0, slowdown: 2}]");
  CHECK_THAT(errors, ContainsSubstring("`cluster.slow_gpus.1.gpu`: is 3 again"));
  CHECK_THAT(errors, !ContainsSubstring("is 0 again"));
}

TEST_CASE("a hybrid cube knows which of its GPUs the cluster has") {
  ProfileReading reading(shipped());
  auto document =
      load_yaml_text("e.yaml",
                     "cluster: {profile: dgx-1v, nodes: 1, gpus_per_node: 4, on_gpus: [1, 4, 5, 6],"
                     " topology: " PAYOFF_SOURCE_DIR
                     "/examples/topologies/dgx-1v.yaml}\n"
                     "model: {profile: bert-large}\nlayout: {dp: 4}\n",
                     reading.sources, reading.diagnostics);
  REQUIRE(document);
  const auto read = read_experiment(std::move(*document), {}, reading.context());
  INFO(reading.errors());
  REQUIRE(read);
  CHECK(read->experiment.cluster.fabric.parts == std::vector<std::vector<int>>{{1, 4, 5, 6}});
}

TEST_CASE("a rank order of a hybrid cube places its groups as a list of its GPUs does") {
  Server server;
  server.gpus = 8;
  server.fabric = ServerFabric::mesh;
  server.mesh = dgx1_volta_links();
  const std::vector<int> order{1, 4, 5, 6, 0, 2, 3, 7};
  ClusterState listed;
  listed.topology.emplace();
  listed.topology->shape = RegularTopology{server, 1, SingleSwitch{}};
  ClusterState ordered = listed;
  listed.on_gpus = order;
  ordered.topology->rank_order = order;
  for (const ClusterState& state : {listed, ordered}) {
    Cluster placed = test::volta_cube();
    place_in_cube(state, placed);
    CHECK(placed.fabric.parts == std::vector<std::vector<int>>{order});
  }
}

TEST_CASE("a cluster may use fewer GPUs of a server than it has NICs") {
  ProfileReading reading(shipped());
  auto document = load_yaml_text("e.yaml",
                                 "cluster: {profile: dgx-a100, nodes: 2, gpus_per_node: 4, "
                                 "topology: {network: {kind: switch}}}\n"
                                 "model: {profile: bert-large}\nlayout: {dp: 8}\n",
                                 reading.sources, reading.diagnostics);
  REQUIRE(document);
  const auto read = read_experiment(std::move(*document), {}, reading.context());
  INFO(reading.errors());
  CHECK(read);
}

TEST_CASE("a fault of an inline topology is named within it") {
  ProfileReading reading(shipped());
  const auto read = read_job(
      "topology: {network: {kind: fat_tree, servers_per_leaf: 2, spines: 2}, "
      "failed: [[leaf0, spine1]], degraded: [{link: [leaf1, spine0], ratio: 0.5}]}",
      reading);
  INFO(reading.errors());
  REQUIRE(read);
  const Topology& topology = *read->cluster_state.topology;
  REQUIRE(topology.faults.size() == 2);
  CHECK(topology.faults[0].path == "failed.0");
  CHECK(topology.faults[1].path == "degraded.0.link");
}

TEST_CASE("every mistake about an uneven cluster is reported at its place") {
  CHECK_THAT(errors_of("slow_gpus: [{gpu: 32, slowdown: 1.5}]"),
             ContainsSubstring("the cluster has GPUs 0 to 31"));
  CHECK_THAT(errors_of("slow_gpus: [{gpu: 1, slowdown: 0.5}]"), ContainsSubstring("slowdown"));
  CHECK_THAT(errors_of("topology: rail-pod"), ContainsSubstring("is no file"));
  CHECK_THAT(errors_of("topology: {servers: 3, network: {kind: switch}}"),
             ContainsSubstring("has 24 GPUs, the cluster 32"));
  CHECK_THAT(errors_of("topology: {network: {kind: fat_tree, servers_per_leaf: 2}}"),
             ContainsSubstring("spines"));
  CHECK_THAT(errors_of("topology: {network: {kind: switch}, rank_order: [0, 0]}"),
             ContainsSubstring("rank_order"));
}
