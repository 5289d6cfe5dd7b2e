// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/collective_bound.hpp"
#include "model/collective_kind.hpp"
#include "model/group_paths.hpp"
#include "model/hardware.hpp"
#include "model/nccl_tuner.hpp"
#include "model/spread_band.hpp"
#include "model/units.hpp"
#include "model/unmeasured_price.hpp"

// The price of a collective that runs alone. The algorithm and protocol are *chosen* by NCCL's own
// tuner estimate (model/nccl_tuner.hpp) and *priced* by the law fitted to measurements, so a group
// that spans nodes is never priced as flat and the price is never the minimum of fitted prices.
// Sizes follow nccl-tests: all_gather counts the gathered buffer, reduce_scatter and all_to_all the
// whole send buffer of a rank. Valid for 1 <= ranks <= 2^20; a group of one rank costs nothing.

namespace payoff {

struct CollectivePrice {
  Seconds time{};
  Seconds latency{};  // the part that does not depend on the size
  Algorithm algorithm{};
  Protocol protocol{};
  AllReduceBy by{};      // where another than NCCL, there is no algorithm
  int channels{};        // thread blocks it holds on every GPU while it runs
  double relative_sd{};  // one standard deviation of the law at this size
  Seconds least{};       // what no error of the law goes below (model/collective_bound.hpp)
  bool extrapolated{};   // outside the fitted range of sizes, ranks or fabrics
};

// What the software of a node carries at most whatever its NICs do; zero: no limit. What the
// profile states of its hosts, else what hosts of its class carry, which is known with a wide
// spread only.
[[nodiscard]] Bandwidth node_limit(const Network& network);

// What the environment takes out of NCCL's choice.
struct NcclPin {
  Algorithm algorithm{Algorithm::none};
  Protocol protocol{Protocol::none};
};

// Prepared once per (cluster, group); pricing is then arithmetic without allocation. The group must
// pass check_group (model/group_paths.hpp). Among nodes of several kinds a collective takes what it
// takes among those of the slowest one: NCCL's ranks agree on the fewest channels and the least
// bandwidths that any of them found (src/init.cc, initTransportsRank).
class CollectiveModel {
 public:
  CollectiveModel(const Cluster& cluster, const Group& group, NcclRelease release = newest_nccl);

  // As NCCL_ALGO and NCCL_PROTO do: `none` leaves that part of the choice to NCCL, as do calls that
  // have no such combination.
  void pin(const NcclPin& pin) {
    pinned_ = pin;
    for (CollectiveModel& other : others_) {
      other.pin(pin);
    }
  }
  [[nodiscard]] CollectivePrice price(Collective collective, Bytes size) const;
  // A pinned choice (NCCL_ALGO, NCCL_PROTO); `none` leaves that part to NCCL. nullopt where NCCL
  // has no such combination.
  [[nodiscard]] std::optional<CollectivePrice> price_pinned(Collective collective, Bytes size,
                                                            Algorithm algorithm,
                                                            Protocol protocol) const;
  // NCCL's own estimates, which make the choice.
  [[nodiscard]] const NcclTuner& tuner() const { return tuner_; }
  // What the law behind the spread was measured on.
  [[nodiscard]] const FitDomain& domain() const { return domain_; }
  [[nodiscard]] const Group& group() const { return group_; }
  // Of its cluster's links it knows these: two models of one cluster with equal paths are equal.
  [[nodiscard]] const GroupPaths& paths() const { return tuner_.paths(); }

 private:
  // time = latency + (root + fill / (1 + sqrt(size / full))) * sqrt(size) + size / bandwidth
  struct Cost {
    Seconds latency{};
    double root{};  // seconds per square root of a byte
    double fill{};  // the same, until every stage is full
    double per_root_full{};
    Seconds rendezvous{};  // of messages longer than `eager`
    Bytes eager{};
    double seconds_per_byte{};
    double per_byte_sd{};  // relative, because hosts differ in what their software carries
  };

  [[nodiscard]] static std::size_t place(Collective collective, Algorithm algorithm,
                                         Protocol protocol);
  [[nodiscard]] const Cost& cost(Collective collective, const NcclChoice& choice) const {
    return costs_[cost_of_[place(collective, choice.algorithm, choice.protocol)]];
  }

  void add_cost(const Cluster& cluster, Collective collective, Algorithm algorithm,
                Protocol protocol);
  void set_other(const Cluster& cluster);
  [[nodiscard]] CollectivePrice price_other(Bytes size) const;
  [[nodiscard]] CollectivePrice price_alike(Collective collective, Bytes size) const;
  [[nodiscard]] CollectivePrice price_of(Collective collective, Bytes size,
                                         const NcclChoice& choice) const;
  void set_spreads(const LinkLaw& law);

  Group group_;
  NcclTuner tuner_;
  NcclPin pinned_;
  // Of what NCCL has, a tenth of all combinations, the first one of nothing; and where in it each
  // of them stands.
  std::vector<Cost> costs_;
  std::array<std::uint8_t, std::size_t{collective_count} * algorithm_count * protocol_count>
      cost_of_{};
  std::array<BandSds, collective_family_count> relative_sd_{};
  CollectiveBound bound_;
  double channel_{};                     // bytes per second of one channel to a peer; 0: no limit
  FitDomain domain_;                     // of the link that the spread comes from
  std::vector<CollectiveModel> others_;  // among nodes of each other kind
  // Of all-reduces by another than NCCL: phases, and exchanges between those that are roots.
  std::vector<UnmeasuredLaw> phases_;
  std::vector<CollectiveModel> roots_;
  double of_root_{};
};

// The same call where one process drives `gpus` of the ranks. Calls follow each other, so one that
// takes less than the launches of the next waits for them: max6 of both, docs/model.md, 8.2.
[[nodiscard]] CollectivePrice launched_by_one_process(CollectivePrice alone, int gpus,
                                                      const HostLaw& host);

// nccl-tests' bus bandwidth factor: busbw = size / time * factor.
[[nodiscard]] double bus_factor(Collective collective, int ranks);

// Bytes that every rank sends for an ideal algorithm (ring), independent of any law.
[[nodiscard]] Bytes wire_bytes_per_rank(Collective collective, Bytes size, int ranks);

// What it moves through the memory of a GPU: for each byte sent one is read and one written, and
// where it adds one of its own is read. Assumed of every algorithm as of a ring.
[[nodiscard]] Bytes message_memory_traffic(Collective collective, Bytes size, int ranks);

}  // namespace payoff
