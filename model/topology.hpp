// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/hardware.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"

// What joins the GPUs, as the user describes it: equal servers on a regular network, or a graph of
// the user's own. Bandwidths are nominal, of one direction. sim/topology makes a graph of links of
// it. Sources of the shapes: Al-Fares, Loukissas, Vahdat (SIGCOMM 2008) for fat trees; Kim, Dally,
// Scott, Abts (ISCA 2008) for the dragonfly; Shpiner et al. (HiPINEB 2017) for dragonfly+.

namespace payoff {

struct LinkRate {
  Bandwidth bandwidth{};
  Seconds latency{};
};

enum class ServerFabric : std::uint8_t { none, switched, mesh };

// GPUs g and NICs k of a server hang on PCIe switches, these on sockets, each in equal runs.
struct Server {
  int gpus{1};
  ServerFabric fabric{ServerFabric::none};
  LinkRate fabric_link{};  // of a GPU to the switch; of one link of a mesh
  std::vector<int> mesh;   // links between GPUs a and b at [a * gpus + b], symmetric
  int sockets{};           // 0: no PCIe, NICs hang on the GPUs
  int pcie_switches{};
  LinkRate pcie{};         // of a GPU or NIC to its switch
  LinkRate pcie_uplink{};  // of a switch to its root complex
  LinkRate socket_link{};  // between sockets
  bool gpudirect{true};    // false: what goes to a NIC passes the memory of its host
  int nics{};
  LinkRate nic{};  // of a NIC to the network
};

// A tree of two levels, or of three with pods. NICs of a server share a leaf, or with `rails` go
// to one leaf each, together with the same NIC of the other servers of the group. The ratio says
// how much less a switch has upwards than downwards.
struct FatTree {
  bool rails{};
  int servers_per_leaf{1};
  int spines{1};          // of a pod
  int leaves_per_pod{};   // groups of leaves where there are rails; 0: one pod, no cores
  int cores_per_spine{};  // spine i of every pod is joined to the cores of its own plane
  double oversubscription{1.0};
  double core_oversubscription{1.0};
  Seconds hop_latency{};
};

// Groups of routers that are joined all to all; a router has `global_links`. In a dragonfly+ the
// routers of a group are leaves and spines, joined as a tree, and the spines have the global links.
struct Dragonfly {
  bool plus{};
  int groups{2};
  int routers{1};  // leaves, where there are spines
  int spines{};    // of a group of a dragonfly+
  int servers_per_router{1};
  int global_links{1};  // of a router; of a spine
  LinkRate local{};
  LinkRate global{};
};

// Neighbours in a grid whose sides are closed to rings; a ring is a torus of one dimension.
struct Torus {
  std::vector<int> sides;  // the first one varies fastest
  LinkRate link{};
};

struct FullMesh {
  LinkRate link{};
};

struct SingleSwitch {};

using NetworkShape = std::variant<SingleSwitch, FatTree, Dragonfly, Torus, FullMesh>;

enum class GraphVertexKind : std::uint8_t { gpu, nic, pcie_switch, socket, fabric_switch, router };

struct UserGraph {
  struct Vertex {
    std::string name;
    GraphVertexKind kind{};
  };
  struct Link {
    std::size_t from{};
    std::size_t to{};
    LinkRate rate{};
    bool both_ways{true};
  };
  std::vector<Vertex> vertices;  // GPUs first
  std::size_t gpus{};
  std::vector<Link> links;
  // Paths that the user prescribes, from GPU to GPU; the others take a shortest one. An empty one
  // was refused.
  std::vector<std::vector<std::size_t>> routes;
};

struct RegularTopology {
  Server server;
  int servers{1};
  NetworkShape network;
};

// Of the link between two vertices, in both directions. A ratio of 0 is a failed link.
struct LinkFault {
  std::string path;  // in the file, "failed.2"
  std::string a;
  std::string b;
  double ratio{};
};

// Traffic of others, as a share of the capacity of every link of a class: on average, and how much
// it differs from link to link (a normal distribution, cut off at 0 and at 0.95).
struct BackgroundLoad {
  double mean{};
  double sd{};
};
// As `payoff check` lists them: between GPUs or to their switch, PCIe, between sockets, NICs,
// between switches, and between groups of a dragonfly.
enum class BackgroundClass : std::uint8_t { fabric, pcie, socket, nic, network, global };
inline constexpr std::size_t background_class_count = 6;

enum class Balance : std::uint8_t {
  hashed,  // every flow on one of the shortest paths, by a seeded hash (ECMP)
  ideal,   // every flow on all of them: adaptive routing at its best
};

struct Topology {
  std::string name;
  std::variant<RegularTopology, UserGraph> shape;
  std::vector<LinkFault> faults;
  std::array<BackgroundLoad, background_class_count> background{};
  std::vector<int> rank_order;  // the GPU of every rank; empty: as they come
  Balance balance{Balance::hashed};
  std::uint64_t seed{1};

  [[nodiscard]] std::size_t gpus() const;
};

// A GPU whose kernels take longer than those of the others: a straggler.
struct SlowGpu {
  std::string path;  // in the file, "cluster.slow_gpus.0"
  int gpu{};         // counted server by server
  double slowdown{1};
};

// Kernels of every GPU take longer by a draw of its own, the size of a normal one with this
// standard deviation: a step waits for the slowest.
struct Jitter {
  double sd{};
  std::uint64_t seed{1};
};

// What the analytical engine does not see of a cluster, and the simulator does. Without a topology
// the network is never the limit.
struct ClusterState {
  std::optional<Topology> topology;
  // The GPU of the topology, counted server by server, that every GPU of the cluster is: the job
  // has a part of it. Empty: it has all, in the topology's own order.
  std::vector<int> on_gpus;
  std::vector<SlowGpu> slow_gpus;
  Jitter jitter;

  [[nodiscard]] bool is_even() const { return !topology && slow_gpus.empty() && jitter.sd <= 0.0; }
};

// Numbers of links between the 8 GPUs of a DGX-1 with V100, as `nvidia-smi topo -m` prints them.
[[nodiscard]] std::vector<int> dgx1_volta_links();
// A mesh in which every pair has the same number of links.
[[nodiscard]] std::vector<int> uniform_mesh(int gpus, int links_per_pair);

// Everything that keeps a topology from being built, by the path of the field.
[[nodiscard]] Problems check(const Topology& topology);

// What the profile of a cluster says of its links: the fabric inside a server, the NICs, and
// between servers one switch that is never the limit.
[[nodiscard]] Topology topology_of(const Cluster& cluster);

// Whether others load any class of its links.
[[nodiscard]] bool has_background(const Topology& topology);

}  // namespace payoff
