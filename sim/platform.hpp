// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "model/units.hpp"
#include "sim/circles.hpp"
#include "sim/folding.hpp"
#include "sim/place.hpp"

// Who takes part in a step and which links its messages share. Without a topology, and with all
// GPUs alike, that is one representative GPU and node of every pipeline stage: the NICs of a node
// together, what a GPU has to the others of its node, and its PCIe slot, each in both directions.
// Where the GPUs of a node talk over PCIe, that is the slot. Ranks of a stage are symmetric (the
// same work, groups of the same shape, numbered as model/groups says), so one of them stands for
// all: a message counts on a node's NICs once for every group of its kind that has ranks in the
// node. The price of a message already holds what these groups take from each other; the links find
// what different kinds of traffic do. Not here: switches and uplinks of the network, PCIe above the
// slots, paths in a mesh. A stage on nodes of several kinds has the links of the one with the
// narrowest NICs.
//
// With a topology, or GPUs that differ, it is every rank and every link of the graph, folded to
// classes of what is alike (sim/folding): sim/topology_platform builds that.
//
// Bytes are those of a ring (wire_bytes_per_rank), capacities nominal. A message alone is never
// slowed by links that its price knows, those of servers and NICs, as long as they have their
// nominal bandwidth; it is by narrower ones and by those of the network.
//
// Codecs on the host add what GPUs of a node share there: the cores, as what they can stream.

namespace payoff::sim {

// Keys of the experiment.
inline constexpr std::string_view key_inside_nodes = "cluster.intra.bandwidth";
inline constexpr std::string_view key_between_nodes = "cluster.inter.bandwidth";
inline constexpr std::string_view key_of_topology = "cluster.topology";
inline constexpr std::string_view key_of_cores = "cluster.host.cores";

struct Link {
  std::string name;
  Bandwidth capacity;
  std::string_view key{};  // that says how wide it is
};

// What a message puts on a link, all groups that do the same together.
struct LinkLoad {
  std::size_t link{};
  Bytes bytes;
  double count{1};  // of equal loads
};

struct Route {
  std::vector<LinkLoad> loads;
  Bytes of_one;              // bytes of one group on the first of them: the weight in sharing
  double latency_ratio = 0;  // of the time alone, before any bandwidth is used
};

// Where a message goes; `to_rank`: what comes to one of a circle (sim/circles).
enum class Direction : std::uint8_t { inside, forward, backward, to_rank };

struct SendNetwork;

class Platform {
 public:
  Platform() = default;  // no links: nothing is contended
  Platform(const Cluster& cluster, const ParallelLayout& layout);
  Platform(const Cluster& cluster, const ParallelLayout& layout, FoldedSystem system,
           const Incidence& incidence, std::vector<Link> links);

  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  // At level `steps`: what messages of groups are sent over; else null, and they are fluid.
  [[nodiscard]] const SendNetwork* send_network() const { return send_network_.get(); }
  void send_over(std::shared_ptr<const SendNetwork> network) { send_network_ = std::move(network); }
  // Of messages that not all of a group wait for; none: all wait for all.
  [[nodiscard]] const std::vector<Circles>& circles() const { return circles_; }
  void add_circles(std::vector<Circles> circles) { circles_ = std::move(circles); }
  // Null where it is one of a whole group.
  [[nodiscard]] const Circles* circles_of(const Message& message) const;
  // For a plan whose codec runs on the host: the cores of each node, which stream so much together,
  // and the slots over which GPUs copy. On a topology copies and cores are nobody else's.
  void add_hosts(Bandwidth cores);
  // Of a copy, or of the cores' work for all GPUs of the stage in the node.
  [[nodiscard]] Route on_host(const HostWork& work, std::size_t stage, bool by_cores) const;
  // Empty: one for every stage.
  [[nodiscard]] const Places& places() const { return system_.places; }
  // Of a group for a collective, of the sending place for a send.
  [[nodiscard]] Route route(const Message& message, std::size_t index, Direction direction) const;
  // The key of the experiment that the time alone of a stage's message follows from: of the links
  // inside a node, or of those between nodes if the message leaves one.
  [[nodiscard]] std::string_view price_key(const Message& message, std::size_t stage,
                                           Direction direction) const;

 private:
  static constexpr std::size_t no_link = std::numeric_limits<std::size_t>::max();

  struct StageLinks {
    std::size_t nic_out = no_link;
    std::size_t nic_in = no_link;
    std::size_t fabric_out = no_link;
    std::size_t fabric_in = no_link;
    std::size_t slot_out = no_link;  // of PCIe: what goes to the NICs
    std::size_t slot_in = no_link;
    std::size_t cores = no_link;
  };

  void add_node(std::size_t stage, const std::string& name);
  void add_gpu(std::size_t stage);
  void add_slot(std::size_t stage);
  [[nodiscard]] bool has_network() const;
  // The nodes that a stage is on.
  [[nodiscard]] const Cluster& servers_of(std::size_t stage) const {
    return kinds_.empty() ? cluster_ : cluster_.kinds[kinds_[stage]];
  }
  [[nodiscard]] Route collective(const Message& message, std::size_t stage) const;
  [[nodiscard]] Route between_ends(const Message& message) const;
  void load_ring(Route& route, const Message& message, const Group& group, std::size_t stage) const;
  [[nodiscard]] Route send(const Message& message, std::size_t stage, Direction direction) const;
  [[nodiscard]] Route between_hosts(const Message& message, std::size_t stage,
                                    const Group& hosts) const;
  [[nodiscard]] Route of_channel(const Message& message, std::uint32_t channel) const;
  // Of the ranks that a message is among.
  [[nodiscard]] Group group_of(const Message& message, std::size_t stage,
                               Direction direction) const;
  [[nodiscard]] std::size_t neighbour(std::size_t stage, Direction direction) const;
  [[nodiscard]] double latency_ratio(const Message& message, std::size_t stage,
                                     Direction direction) const;
  [[nodiscard]] Route to_rank(const Message& message, std::size_t place) const;
  void load(Route& route, std::size_t link, Bytes bytes, Seconds alone) const;

  Cluster cluster_;
  ParallelLayout layout_;
  std::vector<Link> links_;
  std::vector<StageLinks> stages_;
  std::vector<std::size_t> kinds_;  // of the nodes of stages; empty: all are alike
  FoldedSystem system_;
  std::array<std::vector<Incidence::Nominal>, Incidence::role_count> nominal_;
  std::shared_ptr<const SendNetwork> send_network_;
  std::vector<Circles> circles_;
};

// Those of the platform, or one for every stage of the plan.
[[nodiscard]] Places places_of(const StepPlan& plan, const Platform& platform);

// Links without bandwidth, and what does not fit the clock.
[[nodiscard]] Problems check(const Platform& platform);

}  // namespace payoff::sim
