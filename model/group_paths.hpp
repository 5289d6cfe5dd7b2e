// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"

// What links a group of ranks has: how many ranks share a fabric (a "domain": a node, or several
// nodes of one NVLink rack), what a rank can send inside it, and what a domain can send to the
// network. Bandwidths are nominal, per direction.
//
// A rank uses the NICs near its GPU: nics_per_node / gpus_per_node of them, at least one, and never
// more than its PCIe x16 slot carries. Rings and trees of a group use the NICs near all of its
// ranks in the node. Groups that communicate at the same time share the NICs of the node evenly.

namespace payoff {

struct GroupPaths {
  int ranks{1};
  int domains{1};
  int local{1};          // ranks of the group in one domain
  Bandwidth gpu{};       // of one rank to the others in its domain
  Bandwidth peer{};      // of one rank to one other rank in its domain
  Bandwidth exchange{};  // of one rank to all others in its domain at once, with equal parts
  Bandwidth domain{};    // of the group's ranks of one domain to the network
  Bandwidth rank{};      // of one rank to the network
  Bandwidth line{};      // of the group's ranks of one domain at most: all NICs of its nodes, slots
  int rivals{1};         // groups that share the network of the node
  int rails{};           // NICs (or bundles of NICs) of the group in one domain, as NCCL counts
  Bandwidth rail_line{};  // line rate of one of them, with nobody sharing it

  bool operator==(const GroupPaths&) const = default;
};

// What cannot be expressed: more ranks per node than the node has, a network where none is,
// non-uniform groups. Empty when the functions below may be called.
[[nodiscard]] Problems check_group(const Cluster& cluster, const Group& group);

[[nodiscard]] GroupPaths paths_of(const Cluster& cluster, const Group& group);

// x16 slot of the GPU, one direction: 16 lanes at the line rate of the generation.
[[nodiscard]] Bandwidth pcie_slot(Architecture architecture);

}  // namespace payoff
