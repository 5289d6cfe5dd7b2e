// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/hardware.hpp"
#include "model/problem.hpp"
#include "model/units.hpp"

// The price of a collective that runs alone. The algorithm and protocol are *chosen* by NCCL's own
// tuner estimate (model/nccl_tuner.hpp) and *priced* by the law fitted to measurements, so a group
// that spans nodes is never priced as flat and the price is never the minimum of fitted prices.
// Sizes follow nccl-tests: all_gather counts the gathered buffer, reduce_scatter and all_to_all the
// whole send buffer of a rank. Valid for 1 <= ranks <= 2^20; a group of one rank costs nothing.

namespace payoff {

enum class Collective { all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_recv };
inline constexpr int collective_count = 7;

enum class Algorithm { none, ring, tree, nvls, nvls_tree, collnet_direct, collnet_chain, pat, pairwise, direct };
enum class Protocol { none, ll, ll128, simple };

[[nodiscard]] std::string_view name(Collective);
[[nodiscard]] std::string_view name(Algorithm);
[[nodiscard]] std::string_view name(Protocol);

// The ranks of one collective, and who else uses the node's NICs at the same time: eight dp groups
// of one GPU per node each (tp 8 inside) share the node's NICs eight ways.
struct Group {
  int ranks{1};
  int ranks_per_node{1};
  int rivals{1};  // groups per node that communicate at once, this one included

  [[nodiscard]] int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  bool operator==(const Group&) const = default;
};

struct CollectivePrice {
  Seconds time{};
  Seconds latency{};        // the part that does not depend on the size
  Algorithm algorithm{};
  Protocol protocol{};
  int channels{};           // thread blocks it holds on every GPU while it runs
  double relative_sd{};     // one standard deviation of the law at this size
  bool extrapolated{};      // outside the fitted range of sizes, ranks or fabrics
};

// What cannot be expressed: more ranks per node than the node has, a network where none is,
// non-uniform groups. Empty when price_collective may be called.
[[nodiscard]] Problems check_group(const Cluster& cluster, const Group& group);

// Prepared once per (cluster, group); pricing is then arithmetic without allocation.
class CollectiveModel {
 public:
  CollectiveModel(const Cluster& cluster, const Group& group);

  [[nodiscard]] CollectivePrice price(Collective collective, Bytes size) const;
  // A pinned choice (NCCL_ALGO / NCCL_PROTO); nullopt where NCCL has no such combination.
  [[nodiscard]] std::optional<CollectivePrice> price_pinned(Collective collective, Bytes size,
                                                            Algorithm algorithm, Protocol protocol) const;
  [[nodiscard]] const Group& group() const { return group_; }

 private:
  // Filled in by model/collective.cpp's author: per (collective, algorithm, protocol) coefficients.
  Group group_;
};

// nccl-tests' bus bandwidth factor: busbw = size / time * factor.
[[nodiscard]] double bus_factor(Collective collective, int ranks);

// Bytes that every rank sends for an ideal algorithm (ring), independent of any law.
[[nodiscard]] Bytes wire_bytes_per_rank(Collective collective, Bytes size, int ranks);

}  // namespace payoff
