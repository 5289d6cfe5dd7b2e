// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/hardware.hpp"
#include "model/units.hpp"

// Arithmetic time of a dense product rows x depth times depth x columns, `batch` of them, on a GPU
// whose units together multiply at `all_units` on a large product. Thread blocks of one of four
// tiles run in whole waves over the compute units; every tile pays for filling its pipeline
// (depth_half more steps of depth); products with few tiles and a long depth are cut along it.
// Wave quantisation as described in NVIDIA's "Matrix Multiplication Background" guide (recalled).

namespace payoff {

struct Product {
  double rows{};
  double columns{};
  double depth{};
  double batch{1};
};

// The fastest way to cut a product:
//   time = waves * 2 rows columns (depth / slices + depth_half) / (rate * all_units / units)
//          + partial_sums / (memory_efficiency * memory_bandwidth)
struct Tiling {
  double rows{};  // of a tile
  double columns{};
  double rate{};    // relative to the largest tile
  double slices{};  // along the depth
  double waves{};
  Bytes partial_sums{};  // written and read once more
  Seconds time{};
};

[[nodiscard]] Tiling tiling_of(const Product& product, FlopRate all_units, const Gpu& gpu);
// Whether a unit runs exactly one block of the tiling at a time. The 32-bit sums of the largest
// tile (256 x 128) fill half of the registers of a unit with 64 Ki of them (Volta to Hopper: CUDA
// Programming Guide, technical specifications by compute capability), so the operands leave no room
// for a second block. Of smaller tiles, of units with more room for sums (Blackwell, CDNA 3), and
// outside tensor cores nobody publishes how many blocks a library's kernel keeps on a unit.
[[nodiscard]] bool fills_units(const Tiling& tiling, Architecture architecture,
                               Precision precision);
// Its blocks, slices of the depth counted.
[[nodiscard]] std::int64_t blocks_of(const Product& product, const Tiling& tiling);
[[nodiscard]] Seconds arithmetic_time(const Product& product, FlopRate all_units, const Gpu& gpu);

}  // namespace payoff
