// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/elementwise.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/reductions.cuh"
#include "kernels/program/benchmark.hpp"
#include "kernels/program/outputs.hpp"

// What the families share: inputs drawn on the device, and the launches that several of them chain.

namespace payoff::kernels {

using Byte = std::uint8_t;
using Word = std::uint32_t;

// Of fp32, 2^-24, and rounded up itself: what bounds of sums are made of.
inline constexpr float unit_roundoff = 6.0e-8F;

[[nodiscard]] inline Bytes bytes_of(double count) { return Bytes{count}; }

// The catalogue's bytes: `read` and `written` for each element.
[[nodiscard]] inline Traffic streamed(std::size_t elements, double read, double written,
                                      int launches) {
  const auto n = static_cast<double>(elements);
  return {bytes_of(n * read), bytes_of(n * written), {}, 0.0, launches, 0};
}

// What both move, one after the other.
[[nodiscard]] inline Traffic in_turn(const Traffic& first, const Traffic& second) {
  return {first.read + second.read,         first.written + second.written,
          first.flops + second.flops,       first.random_accesses + second.random_accesses,
          first.launches + second.launches, first.host_syncs + second.host_syncs};
}

[[nodiscard]] inline Point point_of(std::string kernel, std::string family,
                                    std::string implementation, const Shape& shape, Parameters more,
                                    const Traffic& traffic) {
  more.emplace("elements", static_cast<double>(shape.elements));
  return {std::move(kernel),
          std::move(family),
          std::move(implementation),
          std::string(name(shape.input)),
          "cold",
          std::move(more),
          traffic};
}

// A tensor as layers have it.
struct Rows {
  std::size_t rows{};
  std::size_t columns{};
  [[nodiscard]] Shape flat(std::uint64_t seed) const {
    return {rows * columns, InputKind::gaussian, seed};
  }
};

[[nodiscard]] inline Parameters parameters_of(const Rows& shape) {
  return {{"rows", static_cast<double>(shape.rows)},
          {"columns", static_cast<double>(shape.columns)}};
}

[[nodiscard]] inline std::vector<Rows> rows_of(const Plan& plan) {
  std::vector<Rows> all;
  for (const std::size_t rows : plan.layer_rows) {
    for (const std::size_t columns : plan.layer_columns) {
      all.push_back({rows, columns});
    }
  }
  return all;
}

PAYOFF_KERNEL void draw_inputs(float* out, InputKind kind, RandomKey key, std::size_t count) {
  for (std::size_t i = global_thread(); i < count; i += global_threads()) {
    out[i] = input_value(kind, key, i);
  }
}

// A tensor of the shape's kind; `stream` tells several of one benchmark apart.
[[nodiscard]] inline Shared<float> drawn_on_device(const Shape& shape, std::uint64_t stream = 0) {
  auto values = array_of<float>(shape.elements);
  launch(Stream{}, striding_blocks(shape.elements, block_threads), block_threads, draw_inputs,
         values->data(), shape.input, RandomKey{shape.seed, stream}, shape.elements);
  wait_for(Stream{});
  return values;
}

template <unsigned width, typename In, typename Out, typename Op>
void map(Stream stream, const In* in, Out* out, std::size_t count, const Op& op) {
  launch_threads(stream, divided_up(count, width), map_values<width, In, Out, Op>, in, out, count,
                 op);
}

template <unsigned width, typename A, typename B, typename Out, typename Op>
void combine(Stream stream, const A* a, const B* b, Out* out, std::size_t count, const Op& op) {
  launch_threads(stream, divided_up(count, width), combine_values<width, A, B, Out, Op>, a, b, out,
                 count, op);
}

// Two launches: the key is set to zero first.
inline void find_largest(Stream stream, const float* in, Word* key, std::size_t count) {
  fill_in_stream(stream, key, 0, sizeof(Word));
  launch(stream, striding_blocks(count, 4UL * block_threads), block_threads,
         largest_magnitude_key<float>, in, key, count);
}

// Room for the sums of all levels of tiles.
[[nodiscard]] inline std::size_t partial_sums(std::size_t count) {
  std::size_t room = 0;
  do {
    count = divided_up(count, sum_tile);
    room += count;
  } while (count > 1);
  return std::max<std::size_t>(room, 1);
}

// Where the sum of `count` terms ends up; a launch for each level of tiles.
template <typename Term>
[[nodiscard]] float* sum_in_order(Stream stream, const Term& term, float* sums, std::size_t count) {
  std::size_t tiles = divided_up(count, sum_tile);
  launch(stream, tiles, static_cast<unsigned>(sum_lanes), tile_sums<Term>, term, sums, count);
  while (tiles > 1) {
    const std::size_t below = tiles;
    tiles = divided_up(below, sum_tile);
    launch(stream, tiles, static_cast<unsigned>(sum_lanes), tile_sums<ValueTerm>, ValueTerm{sums},
           sums + below, below);
    sums += below;
  }
  return sums;
}

[[nodiscard]] inline int levels_of_tiles(std::size_t count) {
  int levels = 0;
  do {
    count = divided_up(count, sum_tile);
    ++levels;
  } while (count > 1);
  return levels;
}

}  // namespace payoff::kernels
