// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

// Constants of NCCL's tuner, by release, as numbers: NVIDIA/nccl at 5067397 (June 2026),
// src/graph/tuning.cc, topo.h and search.cc, and the tags v2.10, v2.12 and v2.18. Latencies in
// microseconds, bandwidths in GB/s, protocols in the order LL, LL128, Simple. They decide which
// algorithm and protocol NCCL runs; they do not say how long it takes (model/collective.hpp).

namespace payoff {

// A release stands for itself and those after it, up to the next one.
enum class NcclRelease : unsigned char { v2_8, v2_12, v2_18, v2_23, v2_28 };
inline constexpr NcclRelease newest_nccl = NcclRelease::v2_28;

namespace nccl {

using Protocols = std::array<double, 3>;
using Scales = std::array<double, 3>;  // 1 node, 2 nodes, more

struct AlgorithmLatency {
  Protocols tree{};
  Protocols ring{};
  double nvls{};  // Simple only, as are the next two
  double nvls_tree{};
  double pat{};
};

struct Latencies {
  AlgorithmLatency base;
  AlgorithmLatency nvlink;
  AlgorithmLatency pcie;
  AlgorithmLatency network;
};

inline constexpr Latencies latencies_2_8{.base = {{4.4, 4.4, 0}, {3.6, 10.0, 8.4}, 0, 0, 0},
                                         .nvlink = {{0.52, 1.25, 28}, {0.47, 1.9, 3.4}, 0, 0, 0},
                                         .pcie = {{1.0, 1.9, 28}, {1.0, 2.5, 5.7}, 0, 0, 0},
                                         .network = {{5.0, 8.5, 28}, {2.7, 4.0, 9.6}, 0, 0, 0}};
inline constexpr Latencies latencies_2_12{.base = latencies_2_8.base,
                                          .nvlink = latencies_2_8.nvlink,
                                          .pcie = latencies_2_8.pcie,
                                          .network = {{5.0, 8.5, 28}, {2.7, 4.0, 28}, 0, 0, 0}};
inline constexpr Latencies latencies_2_18{.base = {{6.8, 14.0, 0}, {6.6, 14.0, 8.4}, 23, 23, 0},
                                          .nvlink = {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, 0, 0, 0},
                                          .pcie = {{1.0, 1.9, 6.0}, {1.0, 2.5, 5.7}, 0, 0, 0},
                                          .network = {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}, 18, 19, 0}};
inline constexpr Latencies latencies_2_23{
    .base = {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, 0, 0, 8},
    .nvlink = {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, 25, 25, 0},
    .pcie = {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, 0, 0, 0},
    .network = {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}, 18, 14, 14}};
inline constexpr Latencies latencies_2_28{
    .base = latencies_2_23.base,
    .nvlink = latencies_2_23.nvlink,
    .pcie = latencies_2_23.pcie,
    .network = {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}, 18, 20.9, 14}};

// Per generation of GPU. Inter-node, the first LL row is for Intel and other CPUs, the second for
// AMD, whatever the GPU.
struct Caps {
  Scales ll{};
  Scales ring_ll128{};  // this and the next ones for each channel
  Scales tree_ll128{};
  Scales tree{};
  Scales nvls_tree{};
  double nvls_efficiency{};
};

inline constexpr std::size_t generation_count = 4;  // Volta and before, Ampere, Hopper, Blackwell
using CapTable = std::array<Caps, generation_count>;
inline constexpr CapTable caps_2_28{
    {{{39.0, 39.0, 20.4}, {20, 20, 20}, {20, 20, 20}, {26.5, 18.5, 10.0}, {26.5, 18.5, 10.0}, 0},
     {{87.7, 22.5, 19.0}, {20, 20, 20}, {20, 20, 20}, {24.0, 23.6, 17.8}, {24.0, 23.6, 17.8}, 0},
     {{141, 45, 35}, {36.7, 36.7, 36.7}, {36.7, 36.7, 29}, {38.7, 41.4, 36}, {0, 57.7, 45.5}, .85},
     {{282, 90, 70}, {40, 40, 40}, {55.6, 31.67, 20}, {70, 42.8, 24}, {0, 96, 80}, .74}}};
// Before 2.28 Blackwell counts as twice a Hopper; before 2.23 Hopper has the LL cap of Ampere, and
// before 2.18 it is an Ampere.
inline constexpr Caps blackwell_2_23{
    {282, 90, 70}, {73.4, 73.4, 73.4}, {73.4, 73.4, 58}, {77.4, 82.8, 72}, {}, 0};
inline constexpr Scales hopper_ll_2_18{87.7, 22.5, 19.0};

// Tree bandwidth is multiplied by these; index floor(log2(size / 64 B)).
inline constexpr std::size_t correction_count = 24;
inline constexpr std::array<std::array<double, correction_count>, 3> tree_correction{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

// Bandwidths that the search tries for a channel, fastest first; unused places are 0.
using Speeds = std::array<double, 20>;
inline constexpr Speeds intra_before_hopper{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
inline constexpr Speeds inter_before_hopper{48, 30, 28, 24, 20, 18,  15,  12,   10,  9,
                                            7,  6,  5,  4,  3,  2.4, 1.2, 0.24, 0.12};
inline constexpr Speeds intra_hopper{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
inline constexpr Speeds inter_hopper{48, 45, 42, 40, 30,  24,  22,   20,  17.5,
                                     15, 12, 6,  3,  2.4, 1.2, 0.24, 0.12};
inline constexpr Speeds intra_blackwell{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
inline constexpr Speeds inter_blackwell{96, 86,   80, 48, 45.1, 42, 40,  30,  24,   22,
                                        20, 17.5, 15, 12, 6,    3,  2.4, 1.2, 0.24, 0.12};

inline constexpr Protocols threads{512, 640, 512};          // most of a channel
inline constexpr Protocols bytes_per_thread{8, 8, 64};      // below, channels are left out
inline constexpr double line_rate_seen = 0.96;              // 100 Gb/s count as 12 GB/s
inline constexpr double send_receive_ll_bytes = 16384;      // largest message of LL, each channel
inline constexpr double send_bytes_per_channel = 16777216;  // 32 chunks of 512 KiB over NVLink
inline constexpr double send_channel_network = 14;          // GB/s (NCCL_P2P_PER_CHANNEL_NET_BW)
inline constexpr double send_step_bytes = 524288;           // of Simple: 4 MiB / 8
inline constexpr int most_channels = 32;

}  // namespace nccl
}  // namespace payoff
