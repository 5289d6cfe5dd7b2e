// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/collective.hpp"
#include "model/step_plan.hpp"
#include "sim/class_program.hpp"
#include "sim/collective_programs.hpp"
#include "sim/collective_steps.hpp"

// The messages of a training step as programs: what the groups of a step send over the links of a
// topology at level `steps`. The algorithm is the one that the law of the group chooses, the price
// is the message's own, spread over the sends (sim/program_run.hpp).

namespace payoff::sim {

// What the law says of messages among the ranks of a layout.
class ProgramLaws {
 public:
  // What is referred to has to outlive it.
  ProgramLaws(const Cluster& cluster, const ParallelLayout& layout)
      : cluster_(cluster), layout_(layout) {}

  // Of a message that is sent by a program, if its algorithm has one. Not of context parallelism,
  // whose messages are what kernels do not hide of the real ones, nor of what hosts send or nodes
  // to their neighbours in a graph.
  [[nodiscard]] std::optional<Algorithm> algorithm_of_sends(const Message& message);
  [[nodiscard]] CollectivePrice price(const Message& message);

 private:
  const Cluster& cluster_;
  const ParallelLayout& layout_;
  // By kind of message, of which tied_gradients is the last.
  static constexpr std::size_t kinds = static_cast<std::size_t>(MessageKind::tied_gradients) + 1;
  std::array<std::optional<CollectiveModel>, kinds> models_;
};

struct GroupProgram {
  std::shared_ptr<const LaidProgram> laid;  // of one of the class
  ClassProgram classes;
  std::uint64_t sends{};  // that are simulated of a message
};

// What the groups of a platform send by: those of a class by one program.
struct SendNetwork {
  struct Key {
    std::size_t group{};
    Collective collective{};
    Algorithm algorithm{};

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Cluster cluster;
  ParallelLayout layout;
  std::map<Key, GroupProgram> programs;
};
[[nodiscard]] SendNetwork send_network(const SendRules& rules, const Incidence& incidence,
                                       const SendIncidence& sends, const Partition& partition);

class GroupPrograms {
 public:
  // The network has to outlive this.
  explicit GroupPrograms(const SendNetwork& network)
      : network_(network), laws_(network.cluster, network.layout) {}

  // Null where there is none, and the message stays one fluid activity.
  [[nodiscard]] const GroupProgram* of(std::size_t group, const Message& message);
  // Of the steps of its program, together the message's time alone.
  [[nodiscard]] std::vector<SendPrice> prices(const GroupProgram& program, const Message& message);

 private:
  const SendNetwork& network_;
  ProgramLaws laws_;
};

}  // namespace payoff::sim
