// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/layout.hpp"
#include "model/units.hpp"
#include "sim/link_graph.hpp"
#include "sim/place.hpp"
#include "sim/routing.hpp"

// What a step has to do with what: every rank, every channel (a group of ranks that send a message
// together, or a send from one stage to the next) and every link of the graph that they use. Loads
// are bytes on the link for each byte that a rank of the channel sends.
//
// A group sends around a ring that enters and leaves every server once for each of its ranks there,
// on the rail of that rank, and passes the ranks of a server one after the other, as NCCL's rings
// do; an all-to-all sends from every rank to every other. Other algorithms are taken to load links
// in proportion to a ring.

namespace payoff::sim {

struct Incidence {
  struct Load {
    std::uint32_t link{};
    double units{};
  };
  // Of a channel, or of one rank: which of its channels. Those of groups are numbered as GroupKind.
  enum class Role : std::uint8_t {
    tensor,
    context,
    gradients,
    replicas,
    experts,
    expert_tensor,
    expert_gradients,
    expert_replicas,
    ends,
    forward,
    backward
  };
  static constexpr std::size_t role_count = 11;
  [[nodiscard]] static constexpr bool is_send(Role role) { return role >= Role::forward; }
  static constexpr std::uint32_t none = 0xffffffff;

  struct Channel {
    Role role{};
    std::vector<Rank> members;  // of a send: from, to
    std::vector<Load> ring;     // by link; of a send: its route
    std::vector<Load> pairs;    // of an all-to-all
  };
  struct RankPart {
    std::size_t stage{};
    double slowdown{1};
    std::array<std::uint32_t, role_count> channel{none, none, none, none, none, none,
                                                  none, none, none, none, none};
  };
  struct LinkPart {
    EdgeId edge{};
    Bandwidth capacity{};
    bool inside{};  // of a server: the fabric, PCIe, sockets
  };

  std::vector<RankPart> ranks;
  std::vector<Channel> channels;
  std::vector<LinkPart> links;  // those that anybody uses

  // By role, then stage: how long the links that the price of a message knows take, at their
  // nominal capacity, for each byte that a rank sends. A price that is shorter sends less.
  struct Nominal {
    double inside{};   // seconds per byte
    double outside{};  // of the NICs
    double inside_pairs{};
    double outside_pairs{};
  };
  std::array<std::vector<Nominal>, role_count> nominal;
};

struct IncidenceRules {
  std::uint32_t server_ranks{1};  // GPUs of the graph that share a server, in a row
  GroupKinds exchanges;           // that have an all-to-all among their messages
  bool joins_ends{};              // first and last stage of a pipeline sum what both hold
  Bandwidth fabric{};             // that prices assume of a link inside a server, at least
  Bandwidth nic{};
  std::vector<double> slowdown;  // by rank; empty: none
};

[[nodiscard]] Incidence::LinkPart link_part(const Edge& edge, EdgeId number);

// The graph has a GPU for every rank of the layout.
[[nodiscard]] Incidence incidence_of(const ParallelLayout& layout, Routing& routing,
                                     const IncidenceRules& rules);

// Ranks of one group: first, first + stride, ...
struct RankGroup {
  Rank first{};
  Rank stride{1};
  Rank count{1};
};
[[nodiscard]] RankGroup group_of(GroupKind kind, Rank rank, const ParallelLayout& layout);

}  // namespace payoff::sim
