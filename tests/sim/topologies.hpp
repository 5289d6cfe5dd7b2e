// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/topology.hpp"

// Small topologies of every kind. Every link that has no name of its own carries 10 GB/s.

namespace payoff::sim::test {

inline constexpr LinkRate ten{Bandwidth{10e9}, Seconds{1e-6}};

[[nodiscard]] Server one_gpu();                     // and one NIC
[[nodiscard]] Server switched(int gpus, int nics);  // 100 GB/s a GPU
[[nodiscard]] Server dgx1();                        // 25 GB/s a link
[[nodiscard]] Server pcie(bool gpudirect);          // 8 GPUs, 4 switches, 2 sockets, 4 NICs

[[nodiscard]] Topology regular(const Server& server, int servers, const NetworkShape& network);
[[nodiscard]] Topology torus(std::vector<int> sides);
[[nodiscard]] FatTree fat_tree(bool rails, int servers_per_leaf, int spines,
                               double oversubscription);
[[nodiscard]] FatTree with_pods(FatTree tree, int leaves_per_pod, int cores_per_spine,
                                double ratio);
// The largest in which every two groups have one link: groups = routers * global_links + 1.
[[nodiscard]] Dragonfly dragonfly(int routers, int global_links, int servers_per_router);
[[nodiscard]] Dragonfly dragonfly_plus(int groups, int leaves, int spines, int global_links);

// It has to be right.
[[nodiscard]] TopologyGraph built(const Topology& topology);

[[nodiscard]] std::vector<std::pair<std::string, Topology>> every_kind();

}  // namespace payoff::sim::test
