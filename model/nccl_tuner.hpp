// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/collective_kind.hpp"
#include "model/group_paths.hpp"
#include "model/hardware.hpp"
#include "model/nccl_constants.hpp"
#include "model/nccl_estimate.hpp"
#include "model/nccl_topology.hpp"
#include "model/units.hpp"

// Which algorithm and protocol NCCL runs for a message, and with how many channels: the smallest of
// its own estimates latency + size / bandwidth over all enabled pairs (NVIDIA/nccl at 5067397 and
// the tags named in model/nccl_constants.hpp, src/graph/tuning.cc; channels: src/enqueue.cc).
// SHARP (CollNet) is off unless a plug-in turns it on, so it is never chosen. The estimates are a
// tuner, not a predictor: between 128 KiB and 256 MiB they are up to ten times too short, which is
// why model/collective.hpp prices the choice by a law fitted to measurements.

namespace payoff {

struct NcclChoice {
  Algorithm algorithm{Algorithm::none};
  Protocol protocol{Protocol::none};
  int channels{};
};

class NcclTuner {
 public:
  NcclTuner(const Cluster& cluster, const GroupPaths& paths, NcclRelease release);

  [[nodiscard]] bool has(Collective collective, Algorithm algorithm, Protocol protocol) const;
  // Groups of at least two ranks. A pinned algorithm or protocol leaves only its combinations; the
  // answer has algorithm `none` where there is none.
  [[nodiscard]] NcclChoice choose(Collective collective, Bytes size,
                                  Algorithm pinned_algorithm = Algorithm::none,
                                  Protocol pinned_protocol = Protocol::none) const;
  // NCCL's own estimate; nullopt where it has no such combination. all_to_all and send_recv are not
  // tuned: their only algorithms are `pairwise` and `direct`, which have no estimate.
  [[nodiscard]] std::optional<Seconds> estimate(Collective collective, Bytes size,
                                                Algorithm algorithm, Protocol protocol) const;
  [[nodiscard]] const GroupPaths& paths() const { return paths_; }
  // Channels of rings and trees; the search doubles those that it finds.
  [[nodiscard]] int most_channels() const;
  // Thread blocks that a message of this size uses on every GPU.
  [[nodiscard]] int channels(Bytes size, Algorithm algorithm, Protocol protocol) const;

 private:
  [[nodiscard]] double estimate_us(Collective collective, double bytes, Algorithm algorithm,
                                   Protocol protocol) const;
  [[nodiscard]] int send_channels(double bytes, int most, bool one_peer) const;
  [[nodiscard]] int remote_send_channels(double bytes, int most) const;

  GroupPaths paths_;
  NcclTopology topology_;
  bool corrects_nvls_tree_{};
  double plateau_{};  // ring, Simple, several nodes
  std::array<std::array<std::array<NcclEstimate, 3>, algorithm_count>, collective_count>
      estimates_{};
  std::array<std::uint32_t, collective_count> present_{};  // pairs that have one, a bit each
};

}  // namespace payoff
