// SPDX-License-Identifier: Apache-2.0
#include "model/nccl_tuner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace payoff {
namespace {

constexpr std::array tuned_algorithms = {Algorithm::tree, Algorithm::ring, Algorithm::nvls,
                                         Algorithm::nvls_tree, Algorithm::pat};
constexpr std::array tuned_collectives = {Collective::all_reduce, Collective::all_gather,
                                          Collective::reduce_scatter, Collective::broadcast,
                                          Collective::reduce};
constexpr std::array protocols = {Protocol::ll, Protocol::ll128, Protocol::simple};

struct TunedPair {
  Algorithm algorithm{};
  Protocol protocol{};
};

constexpr std::size_t pair_count = tuned_algorithms.size() * protocols.size();

constexpr TunedPair pair_at(std::size_t place) {
  return {tuned_algorithms.at(place / protocols.size()), protocols.at(place % protocols.size())};
}

int pow2_ceiling(int n) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))); }

}  // namespace

NcclTuner::NcclTuner(const Cluster& cluster, const GroupPaths& paths, NcclRelease release)
    : paths_(paths), topology_(nccl_topology(cluster, paths, release)) {
  const bool x86 = cluster.cpu == CpuVendor::intel || cluster.cpu == CpuVendor::amd;
  corrects_nvls_tree_ = topology_.generation == 3 && release >= NcclRelease::v2_28 && x86;
  plateau_ = topology_.generation == 0 || release < NcclRelease::v2_18 ? 1.9 : 1.4;
  for (const Collective collective : tuned_collectives) {
    for (std::size_t pair = 0; pair < pair_count; ++pair) {
      const auto [algorithm, protocol] = pair_at(pair);
      const NcclEstimate estimate =
          nccl_estimate(collective, algorithm, protocol, {cluster, paths_, topology_, release});
      estimates_[index(collective)][index(algorithm)][nccl::place_of(protocol)] = estimate;
      if (estimate.microseconds_per_byte > 0) {
        present_[index(collective)] |= std::uint32_t{1} << pair;
      }
    }
  }
}

double NcclTuner::estimate_us(Collective collective, double bytes, Algorithm algorithm,
                              Protocol protocol) const {
  const NcclEstimate& estimate =
      estimates_[index(collective)][index(algorithm)][nccl::place_of(protocol)];
  double latency = estimate.latency_us;
  double wire = bytes * estimate.microseconds_per_byte;
  if (collective == Collective::all_reduce) {
    const bool corrected =
        algorithm == Algorithm::tree || (algorithm == Algorithm::nvls_tree && corrects_nvls_tree_);
    // The last entry of the table is not used for trees.
    const int last = static_cast<int>(nccl::correction_count) - (algorithm == Algorithm::tree);
    const int log_size = bytes >= 64 ? std::ilogb(bytes) - 6 : last;
    if (corrected && log_size < last) {
      wire /= nccl::tree_correction[nccl::place_of(protocol)][static_cast<std::size_t>(log_size)];
    }
    const double share = bytes / (2.0 * topology_.ring.count * paths_.ranks);
    if (algorithm == Algorithm::ring && protocol == Protocol::simple && paths_.domains > 1 &&
        share >= 64) {
      latency *= plateau_;
    }
  }
  return latency + wire;
}

bool NcclTuner::has(Collective collective, Algorithm algorithm, Protocol protocol) const {
  if (protocol == Protocol::none) {
    return false;
  }
  if (!is_one_kernel(collective)) {
    // The network's buffers that sends share have no room for flags (src/transport/net.cc).
    return algorithm ==
               (collective == Collective::all_to_all ? Algorithm::pairwise : Algorithm::direct) &&
           (protocol == Protocol::simple || (protocol == Protocol::ll && paths_.domains == 1));
  }
  return estimates_[index(collective)][index(algorithm)][nccl::place_of(protocol)]
             .microseconds_per_byte > 0;
}

NcclChoice NcclTuner::choose(Collective collective, Bytes size, Algorithm pinned_algorithm,
                             Protocol pinned_protocol) const {
  NcclChoice best;
  const auto is_left = [&](Algorithm algorithm, Protocol protocol) {
    return (pinned_algorithm == Algorithm::none || pinned_algorithm == algorithm) &&
           (pinned_protocol == Protocol::none || pinned_protocol == protocol);
  };
  if (is_one_kernel(collective)) {
    double shortest = 0;
    for (std::uint32_t left = present_[index(collective)]; left != 0; left &= left - 1) {
      const auto [algorithm, protocol] = pair_at(static_cast<std::size_t>(std::countr_zero(left)));
      if (!is_left(algorithm, protocol)) {
        continue;
      }
      const double time = estimate_us(collective, size / 1_B, algorithm, protocol);
      if (best.algorithm == Algorithm::none || time < shortest) {
        shortest = time;
        best = {algorithm, protocol, 0};
      }
    }
  } else {
    const bool all = collective == Collective::all_to_all;
    const Algorithm algorithm = all ? Algorithm::pairwise : Algorithm::direct;
    const double message = size / 1_B / (all ? paths_.ranks : 1);
    const bool flags = message <= nccl::send_receive_ll_bytes && paths_.domains == 1;
    const Protocol own = flags ? Protocol::ll : Protocol::simple;
    const Protocol protocol = pinned_protocol == Protocol::none ? own : pinned_protocol;
    if (is_left(algorithm, protocol) && has(collective, algorithm, protocol)) {
      best = {algorithm, protocol, 0};
    }
  }
  if (best.algorithm != Algorithm::none) {
    best.channels = channels(size, best.algorithm, best.protocol);
  }
  return best;
}

std::optional<Seconds> NcclTuner::estimate(Collective collective, Bytes size, Algorithm algorithm,
                                           Protocol protocol) const {
  if (!is_one_kernel(collective) || !has(collective, algorithm, protocol)) {
    return std::nullopt;
  }
  return estimate_us(collective, size / 1_B, algorithm, protocol) * 1_us;
}

int NcclTuner::most_channels() const {
  return std::min(2 * topology_.ring.count, nccl::most_channels);
}

int NcclTuner::channels(Bytes size, Algorithm algorithm, Protocol protocol) const {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) {
    const int blackwell = paths_.domains == 1 ? 24 : 32;
    return topology_.generation == 3 ? blackwell : 16;
  }
  const int most = most_channels();
  if (algorithm == Algorithm::direct || algorithm == Algorithm::pairwise) {
    return send_channels(size / 1_B, most, algorithm == Algorithm::direct);
  }
  const std::size_t p = nccl::place_of(protocol);
  double per_channel = nccl::threads.at(p) * nccl::bytes_per_thread.at(p);
  if (algorithm == Algorithm::ring && protocol == Protocol::ll) {
    per_channel *= paths_.ranks;
  }
  return std::clamp(static_cast<int>(std::min(size / 1_B / per_channel, 64.0)), 1, most);
}

// Messages between two ranks share a power of two of channels with messages to all other ranks;
// only long ones get more than their share.
int NcclTuner::send_channels(double bytes, int most, bool one_peer) const {
  const int all = pow2_ceiling(most);
  if (!one_peer) {
    return all;
  }
  if (paths_.domains > 1) {
    return remote_send_channels(bytes, most);
  }
  int count = all;
  while (count > 1 && static_cast<std::int64_t>(count) * paths_.ranks > all) {
    count /= 2;
  }
  while (bytes / count > nccl::send_bytes_per_channel && count <= all / 2) {
    count *= 2;
  }
  return count;
}

// Over the network a peer has a channel for each 14 GB/s of the GPU's NICs, fewer where there are
// many peers, and a part of a message has half of a step at least (src/graph/paths.cc,
// ncclTopoGetNchannels and ncclTopoComputeP2pChannels; src/enqueue.cc, addP2pToPlan). From Hopper
// on, channels between nodes are doubled once more.
int NcclTuner::remote_send_channels(double bytes, int most) const {
  constexpr int few = 16;
  constexpr std::size_t hopper = 2;
  const bool doubled = topology_.generation >= hopper && most < few;
  const int all = pow2_ceiling(doubled ? 2 * most : most);
  const double line = std::floor(paths_.rail_line / 1_GBps * nccl::line_rate_seen);
  const int peer =
      std::min(all, pow2_ceiling(static_cast<int>(std::ceil(line / nccl::send_channel_network))));
  int count = peer;
  while (count > 1 && static_cast<std::int64_t>(count) * paths_.ranks > all) {
    count /= 2;
  }
  const double least_part = nccl::send_step_bytes / 2;
  count = std::clamp(static_cast<int>(std::min(std::ceil(bytes / least_part), 64.0)), 1, count);
  while (bytes / count > nccl::send_step_bytes && count <= peer / 2) {
    count *= 2;
  }
  return count;
}

}  // namespace payoff
