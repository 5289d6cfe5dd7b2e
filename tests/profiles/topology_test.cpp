// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>

#include "profiles/read_topology.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/reading.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

struct TopologyReading : test::Reading {
  explicit TopologyReading(const std::string& text) : Reading(text) {
    REQUIRE(document);
    read = read_topology(*document, sources, diagnostics);
  }
  ReadTopology read;
};

const std::string server =
    "server: {gpus: 4, fabric: {kind: switch, bandwidth: 450 GB/s}, "
    "nics: {count: 4, bandwidth: 400 Gb/s}}\n";

const std::string graph =
    "topology: mine\n"
    "graph:\n"
    "  gpus: [a, b, c]\n"
    "  routers: [hub]\n"
    "  links:\n"
    "    - {between: [a, hub], bandwidth: 10 GB/s}\n"
    "    - {between: [b, hub], bandwidth: 10 GB/s, count: 3}\n"
    "    - {from_to: [c, hub], bandwidth: 10 GB/s}\n"
    "    - {from_to: [hub, c], bandwidth: 5 GB/s}\n";

}  // namespace

TEST_CASE("every kind of network is read") {
  const auto shape_of = [](const std::string& network) {
    TopologyReading reading("topology: t\n" + server + "servers: 8\nnetwork: " + network + "\n");
    INFO(reading.lines());
    REQUIRE_FALSE(reading.diagnostics.has_errors());
    return std::get<RegularTopology>(reading.read.topology.shape).network;
  };
  CHECK(std::holds_alternative<SingleSwitch>(shape_of("{kind: switch}")));
  const NetworkShape fat = shape_of(
      "{kind: fat_tree, rails: true, servers_per_leaf: 2, spines: 4, oversubscription: 2, "
      "leaves_per_pod: 2, cores_per_spine: 2, core_oversubscription: 1.5}");
  CHECK(std::get<FatTree>(fat).rails);
  CHECK(std::get<FatTree>(fat).core_oversubscription == 1.5);
  const NetworkShape fly = shape_of(
      "{kind: dragonfly, groups: 3, routers: 2, servers_per_router: 2, global_links: 1, "
      "local: {bandwidth: 10 GB/s}, global: {bandwidth: 20 GB/s}}");
  CHECK(std::get<Dragonfly>(fly).global.bandwidth == 20_GBps);
  const NetworkShape plus = shape_of(
      "{kind: dragonfly_plus, groups: 3, leaves: 2, spines: 2, servers_per_leaf: 2, "
      "global_links: 1, local: {bandwidth: 10 GB/s}, global: {bandwidth: 20 GB/s}}");
  CHECK(std::get<Dragonfly>(plus).plus);
  CHECK(std::get<Torus>(shape_of("{kind: torus, sides: [4, 2], bandwidth: 10 GB/s}")).sides ==
        std::vector<int>{4, 2});
  CHECK(std::get<Torus>(shape_of("{kind: ring, bandwidth: 10 GB/s}")).sides == std::vector<int>{8});
  CHECK(std::holds_alternative<FullMesh>(shape_of("{kind: full_mesh, bandwidth: 10 GB/s}")));
}

TEST_CASE("a graph has its links, bundles and one-way links") {
  const TopologyReading reading(graph);
  INFO(reading.lines());
  REQUIRE_FALSE(reading.diagnostics.has_errors());
  const auto& own = std::get<UserGraph>(reading.read.topology.shape);
  CHECK(own.gpus == 3);
  REQUIRE(own.links.size() == 4);
  CHECK(own.links[1].rate.bandwidth == 30_GBps);
  CHECK(own.links[0].both_ways);
  CHECK_FALSE(own.links[3].both_ways);
}

TEST_CASE("every mistake of a graph is reported at once, with its line and column") {
  TopologyReading reading(
      "topology: mine\n"
      "graph:\n"
      "  gpus: [a, b, a]\n"
      "  routers: [hub]\n"
      "  links:\n"
      "    - {between: [a, hbu], bandwidth: 10 GB/s}\n"
      "    - {between: [b, hub], bandwith: 10 GB/s}\n"
      "    - {between: [a], bandwidth: 10}\n"
      "  routes:\n"
      "    - [a, hub, a, b]\n"
      "rank_order: [0, 0]\n");
  const std::string lines = reading.lines();
  INFO(lines);
  CHECK_FALSE(reading.read.links_complete);
  for (const char* wanted : {
           "3:16 `graph.gpus.2` is there already",
           "6:21 `graph.links.0.between.1` is in none of the lists of the graph | did you mean "
           "`hub`?",
           "7:27 unknown key `bandwith`",
           "8:17 `graph.links.2.between` has 1 names, a link two ends",
           "8:33 `graph.links.2.bandwidth` has no unit",
           "10:16 `graph.routes.0.2`: is passed a second time: the route is a loop",
           "11:17 `rank_order.1`: GPU 0 is rank 0 already: no permutation",
       }) {
    CHECK_THAT(lines, ContainsSubstring(wanted));
  }
}

TEST_CASE("a route needs a link for each of its steps") {
  TopologyReading reading(graph + "  routes: [[a, hub, b], [a, b]]\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("10:29 `graph.routes.1.1`: no link leads there"));
}

TEST_CASE("keys that another kind of network has are unknown") {
  TopologyReading reading("topology: t\n" + server +
                          "servers: 2\nnetwork: {kind: switch, spines: 2}\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("spines"));
  CHECK(reading.diagnostics.error_count() == 1);
}

TEST_CASE("what a network cannot hold points at its field") {
  TopologyReading reading("topology: t\n" + server +
                          "servers: 6\nnetwork: {kind: torus, sides: [2, 2], bandwidth: 1 GB/s}\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("`network.sides`: has 4 places for 6 servers"));
}
