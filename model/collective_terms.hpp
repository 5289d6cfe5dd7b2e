// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/collective_kind.hpp"
#include "model/group_paths.hpp"

// What an algorithm does with a message, whatever it costs: the steps that wait for each other, how
// deep the pipeline is, and the bytes that the busiest link carries in one direction, protocol
// flags included. The law of a link (model/hardware.hpp) gives them a time.
//
// Sources: ring 2(n-1) steps and 2(n-1)/n of the buffer (Patarasuk and Yuan 2009); double binary
// tree (Sanders, Speck, Traeff 2009, as NCCL builds it: a chain inside a domain, trees between
// domains); NVLS: a GPU sends its data once and the sum of its share again. On two nodes every edge
// of both trees carries half of the data each way, so a byte crosses the wire once.
// A rank that only sends, or only receives, starts its next call without waiting for the other end
// of the chain, so measured loops of broadcast and reduce show one step. The depth inside a domain
// is that of its ring for every collective: all of them lose the same time at the same size on 8
// A100 and on 4 H100.

namespace payoff {

struct CollectiveTerms {
  double steps_inside{};   // dependent hops inside a domain
  double steps_between{};  // and between domains
  double posts_between{};  // messages to the network that a rank posts after its first one
  double depth_inside{};   // stages of the pipeline that fill before the last one works
  double depth_between{};
  double bytes_inside{};       // through one GPU's links, per byte of the message
  double bytes_between{};      // through one domain's NICs, per byte of the message
  double share_of_message{1};  // of the message, that one step sends
  bool one_flow{};             // only one rank of a domain sends to the network
};

// nullopt where NCCL has no such combination for this group.
[[nodiscard]] std::optional<CollectiveTerms> terms_of(Collective collective, Algorithm algorithm,
                                                      Protocol protocol, const GroupPaths& paths);

}  // namespace payoff
