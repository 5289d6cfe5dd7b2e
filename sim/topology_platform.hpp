// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/problem.hpp"
#include "model/step_plan.hpp"
#include "model/topology.hpp"
#include "sim/platform.hpp"

// The platform of a step on a cluster. Where the cluster has a topology, slow GPUs or jitter, every
// rank and every link is looked at and folded (sim/folding); regular layouts on regular networks
// are first reduced to a cluster with the same classes (sim/reduction), so that a million GPUs are
// never listed.

namespace payoff::sim {

// More ranks than this are not listed one by one.
inline constexpr int most_listed_ranks = 1 << 15;

struct PlatformRules {
  bool folds{true};    // false: every rank is a place of its own, to compare with
  bool reduces{true};  // false: all ranks are listed
  // Level `steps`: messages of groups are sent by the programs of their collectives, also on a
  // cluster without a topology. Nothing is reduced by coordinates then.
  bool steps{false};
};

// How far it folded. On an even cluster one place stands for each stage by construction, without
// channels, and the links are those of one GPU and node of every stage.
struct FoldReport {
  std::uint64_t ranks{};
  std::uint64_t listed{};  // of them, after reduction
  std::uint64_t places{};
  std::uint64_t channels{};  // groups and sends
  std::uint64_t channel_classes{};
  std::uint64_t links{};
  std::uint64_t link_classes{};
  // At level `steps`: of one message of every kind, steps that are alike once.
  std::uint64_t sends{};
  std::uint64_t send_classes{};
};

struct BuiltPlatform {
  Platform platform;
  FoldReport fold;
  std::vector<std::uint32_t> place_of_rank;  // of those that are listed
  std::vector<std::uint32_t>
      class_of_link;  // of the platform, by the number of an incidence's link
  Problems problems;  // by path, "cluster.topology.failed.0"; the platform is then empty
};

// The groups whose ranks exchange in pairs: that loads other links than a ring, so that plans with
// and without it have platforms of their own; all others of a job have the same.
[[nodiscard]] GroupKinds exchanging_groups(const StepPlan& plan);

// What a step takes where every rank is listed, by the events of one rank of every stage; sends of
// level `steps` come on top.
[[nodiscard]] std::uint64_t listed_events(const StepPlan& plan);

[[nodiscard]] BuiltPlatform build_platform(const Cluster& cluster, const ClusterState& state,
                                           const StepPlan& plan, const PlatformRules& rules = {});

}  // namespace payoff::sim
