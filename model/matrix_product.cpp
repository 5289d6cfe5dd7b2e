// SPDX-License-Identifier: Apache-2.0
#include "model/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace payoff {
namespace {

// Thread block tiles that vendor libraries choose from, and the share of the largest tile's rate
// that the smaller ones reach: they read more operands per multiply-add (assumed; the choice
// matters for small products only, where whole waves weigh more).
struct Tile {
  double rows;
  double columns;
  double rate;
};
constexpr std::array<Tile, 4> tiles{
    {{256, 128, 1.0}, {128, 128, 0.95}, {128, 64, 0.85}, {64, 64, 0.70}}};

// A product is cut along its depth only when its tiles leave half of the units idle, and never
// into slices shorter than this.
constexpr double shortest_slice = 512;

double slices(const Product& product, double blocks, double units) {
  if (2 * blocks > units || product.depth < 2 * shortest_slice) {
    return 1;
  }
  return std::floor(std::min(units / blocks, product.depth / shortest_slice));
}

}  // namespace

Tiling tiling_of(const Product& product, FlopRate all_units, const Gpu& gpu) {
  const double units = gpu.compute_units;
  const FlopRate unit = all_units / units;
  Tiling best;
  for (const Tile& tile : tiles) {
    const double blocks = std::ceil(product.rows / tile.rows) *
                          std::ceil(product.columns / tile.columns) * product.batch;
    const double cuts = slices(product, blocks, units);
    const double waves = std::ceil(blocks * cuts / units);
    const Flops block{2 * tile.rows * tile.columns * (product.depth / cuts + gpu.law.depth_half)};
    Seconds time = waves * block / (tile.rate * unit);
    Bytes partial_sums{};
    if (cuts > 1) {  // in 32 bits
      partial_sums = 8_B * (cuts * product.rows * product.columns * product.batch);
      time += partial_sums / reached_bandwidth(gpu);
    }
    if (best.time == Seconds{} || time < best.time) {
      best = {tile.rows, tile.columns, tile.rate, cuts, waves, partial_sums, time};
    }
  }
  return best;
}

bool fills_units(const Tiling& tiling, Architecture architecture, Precision precision) {
  constexpr Bytes sums_of_a_product{4};
  constexpr Bytes registers = 256_KiB;
  const bool sums_in_registers =
      architecture == Architecture::volta || architecture == Architecture::turing ||
      architecture == Architecture::ampere || architecture == Architecture::ada ||
      architecture == Architecture::hopper;
  return sums_in_registers && precision != Precision::fp32 &&
         2 * tiling.rows * tiling.columns * sums_of_a_product >= registers;
}

std::int64_t blocks_of(const Product& product, const Tiling& tiling) {
  return std::llround(std::ceil(product.rows / tiling.rows) *
                      std::ceil(product.columns / tiling.columns) * product.batch * tiling.slices);
}

Seconds arithmetic_time(const Product& product, FlopRate all_units, const Gpu& gpu) {
  return tiling_of(product, all_units, gpu).time;
}

}  // namespace payoff
