// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/step_plan.hpp"

// Who takes part in a simulated step. A place runs what a GPU of its stage runs: it is one rank, or
// stands for all ranks of a class that do the same at the same time (sim/folding.hpp). Ranks of a
// group send a message together: it starts when all of them have come to it.

namespace payoff::sim {

// Groups that split the ranks of a stage; `ends` those of the first and the last one.
enum class GroupKind : std::uint8_t {
  tensor,
  context,
  gradients,
  replicas,
  experts,
  expert_tensor,
  expert_gradients,
  expert_replicas,
  ends
};
inline constexpr std::size_t group_kind_count = 9;
using GroupKinds = std::bitset<group_kind_count>;  // a set of them

[[nodiscard]] constexpr GroupKind group_kind(MessageKind kind) {
  switch (kind) {
    case MessageKind::tp_activations:
      return GroupKind::tensor;
    case MessageKind::cp_activations:
      return GroupKind::context;
    case MessageKind::ep_activations:
      return GroupKind::experts;
    case MessageKind::etp_activations:
      return GroupKind::expert_tensor;
    case MessageKind::ep_gradients:
    case MessageKind::ep_weights:
      return GroupKind::expert_gradients;
    case MessageKind::ep_replicas:
      return GroupKind::expert_replicas;
    case MessageKind::dp_replicas:
      return GroupKind::replicas;
    case MessageKind::tied_gradients:
      return GroupKind::ends;
    case MessageKind::dp_gradients:
    case MessageKind::dp_weights:
    case MessageKind::pp_activations:
    case MessageKind::table_activations:
      break;
  }
  return GroupKind::gradients;
}

struct Place {
  std::size_t stage{};
  std::uint64_t ranks{1};  // that it stands for
  double slowdown{1};      // of its kernels
  std::array<std::size_t, group_kind_count> group{};
  std::size_t next{};      // gets its activations: stage_after()
  std::size_t previous{};  // gets their gradients

  // That sends messages of this kind.
  [[nodiscard]] std::size_t group_of(MessageKind kind) const {
    return group[static_cast<std::size_t>(group_kind(kind))];
  }
};

struct Places {
  std::vector<Place> places;
  std::vector<std::vector<std::size_t>> groups;  // places with ranks in the group, ascending

  [[nodiscard]] bool several_a_stage(std::size_t stages) const { return places.size() > stages; }
};

// One place for all ranks of a stage. Groups are the stages by number, then that of both ends.
[[nodiscard]] inline Places one_place_per_stage(std::size_t stages, PipelineSchedule schedule) {
  Places result;
  for (std::size_t s = 0; s < stages; ++s) {
    Place& place = result.places.emplace_back();
    place.stage = s;
    place.group.fill(s);
    place.group[static_cast<std::size_t>(GroupKind::ends)] = stages;
    place.next = static_cast<std::size_t>(
        stage_after(static_cast<int>(s), static_cast<int>(stages), schedule));
    place.previous = (s + stages - 1) % stages;
    result.groups.push_back({s});
  }
  if (stages > 1) {
    result.groups.push_back({0, stages - 1});
  }
  return result;
}

}  // namespace payoff::sim
