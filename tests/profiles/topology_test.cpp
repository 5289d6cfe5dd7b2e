// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <variant>

#include "profiles/check_topology.hpp"
#include "tests/catch.hpp"
#include "tests/profiles/reading.hpp"

using namespace payoff;
using Catch::Matchers::ContainsSubstring;

namespace {

struct TopologyReading : test::Reading {
  explicit TopologyReading(const std::string& text) : Reading(text) {
    REQUIRE(document);
    read = read_topology(*document, sources, diagnostics);
    report(check(read, true, nullptr), read.positions, diagnostics);
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

TEST_CASE("two GPUs have one route: a second one is refused where it stands") {
  const std::string two = graph +
                          "  routes:\n"
                          "    - [a, hub, b]\n"
                          "    - [b, hub, a]\n"
                          "    - [a, hub, b]\n";
  TopologyReading reading(two);
  CHECK_THAT(
      reading.lines(),
      ContainsSubstring("13:7 `graph.routes.2`: leads from `a` to `b`, as `graph.routes.0`"));
  CHECK(reading.diagnostics.error_count() == 1);
}

TEST_CASE("keys that another kind of network has are unknown") {
  TopologyReading reading("topology: t\n" + server +
                          "servers: 2\nnetwork: {kind: switch, spines: 2}\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("spines"));
  CHECK(reading.diagnostics.error_count() == 1);
}

TEST_CASE("a mesh that nobody knows is answered with the one that has a name") {
  TopologyReading reading(
      "topology: t\n"
      "server: {gpus: 8, fabric: {kind: mesh, links: dgx1-vlta, bandwidth: 25 GB/s}}\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("2:47 `server.fabric.links` has the unknown value "
                                                "`dgx1-vlta`"));
  CHECK(reading.diagnostics.error_count() == 1);
}

TEST_CASE("a failed link that is written as a degraded one is one mistake") {
  TopologyReading reading("topology: t\n" + server + "failed: [{link: [x]}]\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("`failed.0` is a mapping, a link two names"));
  CHECK(reading.diagnostics.error_count() == 1);
}

TEST_CASE("a link is not faster, slower or farther than any is") {
  for (const char* rate :
       {"bandwidth: 1e9 GB/s", "bandwidth: 1 b/s", "bandwidth: 1 GB/s, latency: 1 h"}) {
    TopologyReading reading(
        "topology: t\n"
        "server: {gpus: 2, fabric: {kind: switch, " +
        std::string(rate) + "}}\n");
    INFO(rate << reading.lines());
    CHECK(reading.diagnostics.error_count() == 1);
  }
}

TEST_CASE("what a network cannot hold points at its field") {
  TopologyReading reading("topology: t\n" + server +
                          "servers: 6\nnetwork: {kind: torus, sides: [2, 2], bandwidth: 1 GB/s}\n");
  CHECK_THAT(reading.lines(), ContainsSubstring("`network.sides`: has 4 places for 6 servers"));
}

TEST_CASE("a mistake of one field hides no problem of the others") {
  // Five mistakes: a key, a bandwidth, two sides that do not make the servers, an order twice.
  TopologyReading reading(
      "topology: t\n"
      "server: {gpus: 2, fabric: {kind: switch, bandwith: 450 GB/s}, "
      "nics: {count: 4, bandwidth: 400}}\n"
      "servers: 6\n"
      "network: {kind: torus, sides: [2, 2], bandwidth: 1 GB/s}\n"
      "rank_order: [0, 0]\n");
  const std::string lines = reading.lines();
  INFO(lines);
  for (const char* wanted : {
           "2:42 unknown key `bandwith`",
           "2:91 `server.nics.bandwidth` has no unit",
           "`server.nics`: are more than the GPUs",
           "`network.sides`: has 4 places for 6 servers",
           "5:17 `rank_order.1`: GPU 0 is rank 0 already",
           "5:1 `rank_order`: GPUs 1 to 11 have no rank",
       }) {
    CHECK_THAT(lines, ContainsSubstring(wanted));
  }
}

TEST_CASE("what follows from a field that was not read is not said") {
  const auto errors_of = [](const std::string& text) {
    TopologyReading reading("topology: t\n" + text);
    INFO(reading.lines());
    CHECK(reading.diagnostics.has_errors());
    return reading.lines();
  };
  const std::string switched = "server: {gpus: 4, fabric: {kind: switch, bandwidth: 450 GB/s}, ";
  const std::string joined = switched + "nics: {count: 4, bandwidth: 400 Gb/s}}\n";
  const std::string two_by_two = "network: {kind: torus, sides: [2, 2], bandwidth: 1 GB/s}\n";
  // 4 places for the one server that stands in for `six`.
  CHECK_THAT(errors_of(joined + "servers: six\n" + two_by_two), !ContainsSubstring("places"));
  CHECK_THAT(errors_of(joined + "severs: 4\n" + two_by_two), !ContainsSubstring("places"));
  // A network of the fallback, a switch, has none of these keys.
  const std::string unknown =
      errors_of(joined + "servers: 4\nnetwork: {kind: tours, sides: [2, 2], bandwidth: 1 GB/s}\n");
  CHECK_THAT(unknown, ContainsSubstring("did you mean `torus`"));
  CHECK_THAT(unknown, !ContainsSubstring("unknown key"));
  // NICs that are misspelt are not missing.
  CHECK_THAT(
      errors_of(switched + "nic: {count: 4, bandwidth: 400 Gb/s}}\nservers: 4\n" + two_by_two),
      !ContainsSubstring("through NICs"));
  // How many rows a mesh needs is not known.
  CHECK_THAT(errors_of("server: {gpus: two, fabric: {kind: mesh, bandwidth: 1 GB/s, "
                       "links: [[0, 1], [1, 0]]}}\n"),
             !ContainsSubstring("one row and one column"));
  // GPU 9 may be there, but not twice.
  const std::string order =
      errors_of(joined + "servers: six\n" + "network: {kind: switch}\n" + "rank_order: [9, 9]\n");
  CHECK_THAT(order, !ContainsSubstring("there is no GPU 9"));
  CHECK_THAT(order, ContainsSubstring("GPU 9 is rank 0 already"));
}
