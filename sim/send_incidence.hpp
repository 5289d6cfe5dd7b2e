// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/step_plan.hpp"
#include "model/topology.hpp"
#include "sim/collective_programs.hpp"
#include "sim/incidence.hpp"
#include "sim/program_sends.hpp"
#include "sim/topology.hpp"

// What the sends of a step have to do with its incidence, at level `steps`: the programs of its
// groups, the seats in them (each rank or switch that takes part), every send of every pattern of
// steps, and the ways that these take over links.

namespace payoff::sim {

struct SendIncidence {
  // From one place to another; units are the part of a send's bytes that passes a link.
  struct Way {
    std::vector<Incidence::Load> loads;
  };
  struct Seat {
    std::uint32_t channel{};
    std::uint32_t program{};  // equal for the same sends of the same collective and algorithm
  };
  struct Send {
    std::uint32_t from{};  // seats
    std::uint32_t to{};
    std::uint32_t way{};
    std::uint32_t what{};  // equal for the same program, pattern of it, share and part
  };
  // The program of a channel. Its seats are in the order of its places, its sends in that of its
  // patterns.
  struct Laid {
    std::uint32_t channel{};
    Collective collective{};
    Algorithm algorithm{};
    std::shared_ptr<const LaidProgram> program;
    std::shared_ptr<const ProgramSends> sends;
    std::uint32_t first_seat{};
    std::uint32_t first_send{};
  };

  std::vector<Laid> programs;  // by channel, then collective and algorithm
  std::vector<Seat> seats;
  std::vector<Send> sends;
  std::vector<Way> ways;
};

// What programs are laid on.
struct SendRules {
  Cluster cluster;
  ParallelLayout layout;  // of the ranks that are listed
  Topology topology;
};

inline constexpr std::uint64_t most_listed_sends = 16'000'000;

// Of the messages of a plan. Links that only sends use are added to those of the incidence. Nothing
// if more sends than that differ.
[[nodiscard]] std::optional<SendIncidence> send_incidence(const StepPlan& plan,
                                                          const SendRules& rules,
                                                          const TopologyGraph& graph,
                                                          Incidence& incidence);

}  // namespace payoff::sim
