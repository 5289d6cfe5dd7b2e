// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/collective_kind.hpp"
#include "model/collective_terms.hpp"
#include "model/group_paths.hpp"
#include "model/hardware.hpp"

// What the two links of a group, inside a domain and between domains, make of a collective before
// its size is put in: the symbols of docs/model.md, 8.2, with their values.

namespace payoff {

struct LinkTerms {
  Seconds launch{};
  double steps{};
  Seconds step{};     // one of them
  Seconds posting{};  // of messages beyond the first
  double bytes{};     // through the busiest link, per byte of the message
  Bandwidth nominal{};
  double share{};       // of it, that long messages reach
  Bandwidth sockets{};  // what they carry in series with it; 0: no limit
  Bandwidth achieved{};
  double congestion{1};    // more time on the wire, because routes collide
  Seconds ramp{};          // what a chunk costs besides its bytes
  double depth{};          // stages of the pipeline
  double root{};           // seconds per square root of a byte
  double per_root_full{};  // 1 / sqrt(bytes) that fill the pipeline

  // Before the first byte, without the launch.
  [[nodiscard]] Seconds latency() const { return step * steps + posting; }
  // 0 where the group has no such link.
  [[nodiscard]] double seconds_per_byte() const {
    return bytes > 0 ? bytes / achieved.si * congestion : 0.0;
  }
};

[[nodiscard]] LinkTerms terms_inside(const Cluster& cluster, const CollectiveTerms& terms,
                                     Algorithm algorithm, Protocol protocol,
                                     const GroupPaths& paths);

// `channels` of NCCL; `limit`: what sockets carry in a node, zero: no limit.
[[nodiscard]] LinkTerms terms_between(const Cluster& cluster, const CollectiveTerms& terms,
                                      Protocol protocol, const GroupPaths& paths, int channels,
                                      Bandwidth limit);

// Two stages of a pipeline: the slower one decides, and stages of nearly equal speed wait for each
// other now and then ("max6").
[[nodiscard]] double pipelined(double a, double b);

// More for a message whose step of LL is too long to be sent eagerly.
struct Rendezvous {
  Seconds time{};
  Bytes eager{};  // of the message
};
[[nodiscard]] Rendezvous rendezvous_of(const Cluster& cluster, const CollectiveTerms& terms,
                                       Protocol protocol, const GroupPaths& paths);

}  // namespace payoff
