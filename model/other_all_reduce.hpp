// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/layout.hpp"
#include "model/problem.hpp"
#include "model/unmeasured_price.hpp"

// All-reduces that NCCL's own algorithms do not make (Group::all_reduce), as phases that follow one
// another. Nobody published tables of them: their own steps and bytes at the law of NCCL's rings
// (model/unmeasured_price).
//   sharp         chains inside a domain, a sum in the switches between domains.
//   packed_trees  Blink (Wang et al., MLSys 2020): in one domain trees that share its links, up and
//                 down at once; on a switch one tree of one hop from every GPU. Between domains
//                 every GPU is the root of an equal share: up, an exchange between the roots of a
//                 share in one hop each way, down.

namespace payoff {

struct OtherAllReduce {
  std::vector<UnmeasuredLaw> phases;  // of the whole buffer
  // All-to-alls of what a root has, there and back; nothing in one domain.
  std::optional<Group> roots;
  double of_root{};  // of the buffer
};

// What Group::all_reduce says, or why the group has no such all-reduce: then NCCL makes it. The
// group has two ranks at least and passes check_group.
struct OtherOrReason {
  std::optional<OtherAllReduce> other;
  std::string reason;
};
[[nodiscard]] OtherOrReason other_all_reduce(const Cluster& cluster, const Group& group);

// Whether the gradients of a layout can be summed as `dp_collective` says.
[[nodiscard]] Problems check_dp_collective(const ParallelLayout& layout, const Cluster& cluster);

}  // namespace payoff
