// SPDX-License-Identifier: Apache-2.0
#include "sim/mesh_paths.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <variant>
#include <vector>

#include "model/group_paths.hpp"
#include "sim/collective_steps.hpp"
#include "sim/routing.hpp"
#include "sim/tree_packing.hpp"
#include "tests/catch.hpp"
#include "tests/model/collective_clusters.hpp"
#include "tests/sim/topologies.hpp"

// Programs of several servers pass their GPUs over all links of a mesh, not over the same few.

using namespace payoff;
using namespace payoff::sim;
using Catch::Matchers::WithinRel;
using payoff::sim::test::built;
using payoff::sim::test::dgx1;
using payoff::sim::test::regular;
using payoff::sim::test::switched;
using payoff::test::volta_cube;

namespace {

Server meshed(int gpus, std::vector<int> links) {
  Server server = dgx1();
  server.gpus = gpus;
  server.mesh = std::move(links);
  server.nics = gpus;
  server.nic = sim::test::ten;
  return server;
}

ServerPaths paths_in(PathUse use, const Server& server) {
  const Topology topology = regular(server, 2, SingleSwitch{});
  const auto gpus = static_cast<Rank>(server.gpus);
  return server_paths(use, {2 * gpus, gpus}, topology, built(topology));
}

// How often paths use the link from a to b, at [a * gpus + b]; every path passes each GPU once and
// begins at the GPU of its number.
std::vector<int> uses_of(const ServerPaths& paths, std::size_t gpus) {
  std::vector<int> uses(gpus * gpus);
  for (std::size_t k = 0; k < paths.size(); ++k) {
    std::vector<Rank> path = paths[k];
    CHECK(path.front() == k % gpus);
    for (std::size_t i = 1; i < path.size(); ++i) {
      ++uses[path[i - 1] * gpus + path[i]];
    }
    std::vector<Rank> all(gpus);
    std::iota(all.begin(), all.end(), Rank{0});
    CHECK(std::is_permutation(path.begin(), path.end(), all.begin(), all.end()));
  }
  return uses;
}

bool end_apart(const ServerPaths& paths) {
  std::vector<Rank> ends;
  for (const std::vector<Rank>& path : paths) {
    ends.push_back(path.back());
  }
  std::sort(ends.begin(), ends.end());
  return std::adjacent_find(ends.begin(), ends.end()) == ends.end();
}

std::vector<int> gpus_in(unsigned mask) {
  std::vector<int> gpus;
  for (int gpu = 0; gpu < 8; ++gpu) {
    if ((mask >> static_cast<unsigned>(gpu) & 1U) != 0) {
      gpus.push_back(gpu);
    }
  }
  return gpus;
}

}  // namespace

TEST_CASE("paths through an even full mesh use each of its links once in each direction") {
  for (const int gpus : {4, 6, 8, 12, 16}) {
    const ServerPaths paths = paths_in(PathUse::rings, meshed(gpus, uniform_mesh(gpus, 1)));
    INFO(gpus << " GPUs");
    REQUIRE(paths.size() == static_cast<std::size_t>(gpus));
    CHECK(end_apart(paths));
    const auto n = static_cast<std::size_t>(gpus);
    const std::vector<int> uses = uses_of(paths, n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        CHECK(uses[a * n + b] == (a == b ? 0 : 1));
      }
    }
  }
}

TEST_CASE("paths through other meshes are circles cut open, each as often as the others") {
  struct Case {
    int gpus;
    std::vector<int> links;
    int rings;  // uses of one link, of all paths of rings; a circle is cut at most so often
    int trees;
  };
  // 8 paths over 6 directed circles, 16 for two trees; of a full mesh of 5 and 7 over 4 and 6.
  for (const Case& c : {Case{8, dgx1_volta_links(), 2, 3}, Case{5, uniform_mesh(5, 1), 2, 3},
                        Case{7, uniform_mesh(7, 1), 2, 3}}) {
    const Server server = meshed(c.gpus, c.links);
    const auto n = static_cast<std::size_t>(c.gpus);
    INFO(c.gpus << " GPUs");
    for (const PathUse use : {PathUse::rings, PathUse::trees}) {
      const ServerPaths paths = paths_in(use, server);
      const bool trees = use == PathUse::trees;
      REQUIRE(paths.size() == (trees ? 2 * n : n));
      CHECK((trees || end_apart(paths)));
      const std::vector<int> uses = uses_of(paths, n);
      for (std::size_t i = 0; i < n * n; ++i) {
        CHECK(uses[i] <= c.links[i] * (trees ? c.trees : c.rings));
      }
    }
  }
}

TEST_CASE("what a switch joins, and what no circle passes, is passed in order") {
  CHECK(paths_in(PathUse::rings, switched(8, 8)).empty());
  const std::vector<int> whole = dgx1_volta_links();
  std::vector<int> five;
  for (std::size_t a = 0; a < 5; ++a) {
    five.insert(five.end(), whole.begin() + static_cast<std::ptrdiff_t>(8 * a),
                whole.begin() + static_cast<std::ptrdiff_t>(8 * a + 5));
  }
  CHECK(paths_in(PathUse::rings, meshed(5, five)).empty());
}

TEST_CASE(
    "one server of four GPUs, each joined to all, uses halves of its links in three circles") {
  const Topology topology = regular(meshed(4, uniform_mesh(4, 4)), 1, SingleSwitch{});
  const auto mesh = small_mesh({4, 4}, topology, built(topology));
  REQUIRE(mesh);
  std::vector<int> uses(16);
  for (const std::vector<Rank>& order : mesh_rings(*mesh)) {
    for (std::size_t i = 0; i < 4; ++i) {
      ++uses[order[i] * 4 + order[(i + 1) % 4]];
    }
  }
  CHECK(std::count(uses.begin(), uses.end(), 2) == 12);  // 6 circles with 12 links of 2 halves
}

TEST_CASE("the price of a part of a DGX-1V has the links of the circles through its GPUs") {
  Cluster cluster = volta_cube();
  const TopologyGraph graph = built(regular(dgx1(), 1, SingleSwitch{}));
  std::array<int, 9> without_circle{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    const std::vector<int> part = gpus_in(mask);
    const int gpus = static_cast<int>(part.size());
    if (gpus < 3) {
      continue;
    }
    cluster.fabric.parts = {part};
    const std::vector<Rank> ranks(part.begin(), part.end());
    const auto mesh = mesh_of(graph.links, ranks);
    const std::size_t circles = mesh ? mesh_rings(*mesh).size() : 0;  // in both directions
    INFO(mask << ": " << gpus << " GPUs, " << circles << " rings");
    // Rings have whole links of 25 GB/s here; halves never carry more.
    const Bandwidth priced = paths_of(cluster, {gpus, gpus, 1}).gpu;
    CHECK(priced ==
          (circles > 0 ? 25_GBps * static_cast<double>(circles) : pcie_slot(Architecture::volta)));
    without_circle.at(part.size()) += circles == 0 ? 1 : 0;
  }
  std::printf("parts of a DGX-1V without a circle, of 3 to 7 GPUs: %d %d %d %d %d\n",
              without_circle[3], without_circle[4], without_circle[5], without_circle[6],
              without_circle[7]);
  // Each of the two halves has all of its four triangles; no other three are joined all.
  CHECK(without_circle[3] == 56 - 8);
  CHECK(without_circle[7] == 0);
  CHECK(without_circle[8] == 0);
}

// Every GPU sends an equal part to all others, over all shortest routes.
TEST_CASE("the price of an exchange in a hybrid cube has what its busiest link carries") {
  for (const bool single : {false, true}) {
    Cluster cluster = volta_cube();
    cluster.fabric.per_gpu = cluster.fabric.pair * (single ? 4.0 : 6.0);
    Server cube = dgx1();
    for (int& links : cube.mesh) {
      links = single ? std::min(links, 1) : links;
    }
    const TopologyGraph whole = built(regular(cube, 1, SingleSwitch{}));
    for (Rank gpus = 2; gpus <= 8; ++gpus) {
      std::vector<Rank> first(gpus);
      std::iota(first.begin(), first.end(), Rank{0});
      TopologyGraph graph;
      graph.links = mesh_of(whole.links, first).value();
      graph.gpu_of_rank.resize(gpus);
      Routing routing(graph, Balance::ideal, 1);
      std::vector<double> parts(graph.links.edges().size());
      for (Rank from = 0; from < gpus; ++from) {
        for (Rank to = 0; to < gpus; ++to) {
          for (const EdgeShare& link : routing.route(from, to, 0)) {
            parts[link.edge] += link.share;
          }
        }
      }
      double busiest = 0;  // seconds for a part of one byte
      for (std::size_t e = 0; e < parts.size(); ++e) {
        busiest = std::max(busiest, parts[e] / graph.links.edges()[e].capacity.si);
      }
      const Group group{static_cast<int>(gpus), static_cast<int>(gpus), 1};
      const Bandwidth priced = paths_of(cluster, group).exchange;
      INFO(gpus << (single ? " GPUs, single links" : " GPUs"));
      CHECK_THAT(priced.si, WithinRel((gpus - 1) / busiest, 1e-9));
    }
  }
}

// What goes inside servers first and then between them: both at what links and NICs carry.
TEST_CASE("hierarchies, PXN and Bruck pass the GPUs of hybrid cubes at what their links carry") {
  Server cube = dgx1();
  cube.nics = 4;
  cube.nic = {12.5_GBps, 1_us};
  Server on_switch = switched(8, 4);
  on_switch.fabric_link = {150_GBps, 1_us};
  on_switch.nic = cube.nic;
  const ProgramRanks ranks{16, 8};
  const auto time = [&](OtherProgram program, const Server& server) {
    Topology topology = regular(server, 2, SingleSwitch{});
    topology.balance = Balance::ideal;
    const TopologyGraph graph = built(topology);
    const auto laid = std::get<LaidProgram>(program_of(program, ranks, topology, graph));
    return run_steps(laid, 1_GiB, std::nullopt, 0_s, graph, topology).alpha_beta;
  };
  // Six rings of 25 GB/s inside, there and back; of each GPU an eighth twice in halves outside.
  const Seconds rings = 1_GiB * (2 * 7.0 / 8) / 150_GBps + 1_GiB / 50_GBps;
  CHECK_THAT(time(OtherProgram::hierarchical, cube) / rings, WithinRel(1.0, 0.01));
  // Of an eighth for every peer 11/3 pass the busiest link; half of all buffers leave a server.
  const Seconds pairs = 1_GiB * (11.0 / 3 / 8) / 25_GBps + 1_GiB * (8 / 2.0) / 50_GBps;
  CHECK_THAT(time(OtherProgram::pxn, cube) / pairs, WithinRel(1.0, 0.01));
  // Bruck's steps wait for NICs, which neighbours share: links inside make nothing late.
  CHECK(time(OtherProgram::bruck, cube) <= time(OtherProgram::bruck, on_switch) * 1.001);
}
