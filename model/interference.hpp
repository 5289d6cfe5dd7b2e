// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The law of what shares a GPU, the same in both engines. Compute units (SMs) are reserved, not
// shared: a communication kernel holds one for each channel for its whole life, latency included;
// a compute kernel runs its blocks in waves over the units left; a second compute kernel gets what
// the waves of the first leave over. Memory, PCIe and links are shared max-min (sim/), not here.
// Sources: wave quantisation beside NCCL, NVIDIA developer forum 337991 (H100, 132 blocks beside 24
// channels: nearly twice the time); backward beside NCCL 1.04 to 1.1 times as long on V100, Agarwal
// et al. 2022. Valid for kernels whose blocks fill a unit; unmeasured pairs lie between 1 and 2.

namespace payoff {

// Waves of a kernel of equal blocks on so many units; at least one unit always remains.
[[nodiscard]] std::int64_t waves(std::int64_t blocks, int units);

// How fast a kernel runs while `reserved` of the GPU's units are held, relative to having them all.
[[nodiscard]] double kernel_rate(std::int64_t blocks, int units, int reserved);

// Units that a kernel with so many blocks left does not fill: none but in its last wave.
[[nodiscard]] int leftover_units(std::int64_t blocks_left, int free_units);

// Share of the units that messages of so many channels hold. NCCL never takes more than half.
[[nodiscard]] double reserved_share(int channels, int units);

// The same for work that is many kernels in a row, whose waves average out: the limit of many
// blocks. Two streams of such work alternate at block boundaries and get half of the units each.
struct StreamRates {
  double compute{};
  double codec{};  // on its side stream
};

[[nodiscard]] constexpr StreamRates stream_rates(bool compute_busy, bool codec_busy,
                                                 double reserved_share) {
  constexpr double even_share = 0.5;
  const double left = 1.0 - reserved_share;
  const double each = compute_busy && codec_busy ? left * even_share : left;
  return {each, each};
}

}  // namespace payoff
