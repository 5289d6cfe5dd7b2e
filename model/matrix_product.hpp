// SPDX-License-Identifier: Apache-2.0
#pragma once

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
[[nodiscard]] Seconds arithmetic_time(const Product& product, FlopRate all_units, const Gpu& gpu);

}  // namespace payoff
