// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/collective_kind.hpp"
#include "model/hardware.hpp"
#include "model/units.hpp"

// The textbook prices of model/alpha_beta.hpp for an all-reduce of a group on a cluster, as
// predictors without a calibrated law give them: nominal bandwidths, and for alpha the fitted cost
// of a step of the Simple protocol. A flat algorithm knows one link: between nodes, the network.
// A ring crosses it once a node and has what all ranks of the node have of it; halving and doubling
// and the tree send from every rank at once, each with its part. Requires check_group() empty.

namespace payoff {

struct TextbookAllReduce {
  Seconds ring{};
  Seconds halving_doubling{};
  Seconds tree{};
  Seconds two_level{};
};

[[nodiscard]] TextbookAllReduce textbook_all_reduce(const Cluster& cluster, const Group& group,
                                                    Bytes size);

}  // namespace payoff
