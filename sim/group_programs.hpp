// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/collective.hpp"
#include "model/step_plan.hpp"
#include "sim/collective_programs.hpp"
#include "sim/collective_steps.hpp"
#include "sim/topology.hpp"

// The messages of a training step as programs: what the groups of a step send over the links of a
// topology at level `steps`. The algorithm is the one that the law of the group chooses, the price
// is the message's own, spread over the sends (sim/program_run.hpp).

namespace payoff::sim {

// What the sends of a step run on.
struct SendNetwork {
  Cluster cluster;
  ParallelLayout layout;
  Topology topology;
  TopologyGraph graph;  // with the fabric switches of servers as places after its ranks
  std::vector<std::vector<Rank>> groups;    // of the platform: ranks of each, in their order
  std::vector<std::uint32_t> link_of_edge;  // of the platform
};

struct GroupProgram {
  LaidProgram laid;
  ProgramRanks ranks;
  std::vector<Rank> places;  // in the network's graph, of the places of the program
  std::uint64_t sends{};
};

class GroupPrograms {
 public:
  // The network has to outlive this.
  explicit GroupPrograms(const SendNetwork& network) : network_(network) {}

  // Null where there is none, and the message stays one fluid activity: an algorithm without a
  // program, and context parallelism, whose messages are what kernels do not hide of the real ones.
  [[nodiscard]] const GroupProgram* of(std::size_t group, const Message& message);
  // Of the steps of its program, together the message's time alone.
  [[nodiscard]] std::vector<SendPrice> prices(const GroupProgram& program, const Message& message);

 private:
  using Key = std::tuple<std::size_t, Collective, Algorithm>;

  [[nodiscard]] CollectivePrice law(const Message& message);
  [[nodiscard]] std::optional<GroupProgram> laid(std::size_t group, const Message& message,
                                                 Algorithm algorithm) const;

  const SendNetwork& network_;
  // By kind of message, of which tied_gradients is the last.
  static constexpr std::size_t kinds = static_cast<std::size_t>(MessageKind::tied_gradients) + 1;
  std::array<std::optional<CollectiveModel>, kinds> models_;
  std::map<Key, std::optional<GroupProgram>> programs_;
};

}  // namespace payoff::sim
