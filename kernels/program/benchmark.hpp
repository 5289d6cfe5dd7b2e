// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/codec/inputs.hpp"
#include "kernels/harness/point.hpp"
#include "kernels/program/device_memory.hpp"

// A point that can be measured: what it is, what memory it takes, and how to make its work. Making
// allocates and draws the inputs; running only launches, so it can be captured as a graph unless
// the host has to wait in between.

namespace payoff::kernels {

struct Work {
  std::function<void(Stream)> run;
  // What the device gave against the host reference, after one run from the state that make() left:
  // empty where it agrees, else what differs. Absent: nothing to compare with.
  std::function<std::string()> mismatch;
  std::function<std::uint64_t()> checksum;  // of the outputs
  unsigned repeats{1};  // times that one run does what the point is; a sample is of one of them
};

struct Benchmark {
  Point point;
  Bytes memory{};
  std::function<Work()> make{};
  std::string needs{};     // what may be absent (has_library()): "cublas", "a second GPU"
  int least_capability{};  // of the device, in tenths: 89 is 8.9
  std::shared_ptr<const Benchmark> instead{};  // for a device that is older, where there is any
};

// What a method is run on.
struct Shape {
  std::size_t elements{};
  InputKind input{InputKind::gaussian};
  std::uint64_t seed{1};
};

// Those of networks, or a few that a host multiplies in no time, against whose sums they are held.
enum class ProductSizes { small, of_networks };

// Which shapes to make benchmarks of: a measurement takes sizes in steps, a check of the outputs
// odd lengths and every kind of input.
struct Plan {
  std::vector<Shape> shapes;
  std::vector<Shape> spreads{};          // for methods whose work depends on how values are spread
  std::vector<std::size_t> matrix_rows;  // of low-rank factors
  std::vector<std::size_t> ranks;
  std::vector<std::size_t> batches;  // of equal layers at once
  std::vector<unsigned> workers;     // whose messages are summed or voted on
  std::vector<double> ratios;        // of values that sparse methods keep
  std::vector<std::size_t> layer_rows;
  std::vector<std::size_t> layer_columns;
  ProductSizes products{};  // of matrices, by a library
  bool every_variant{};     // of bits, groups and tiles; else the usual ones
  bool thinned{};           // few sizes of what is not the usual: few_shapes()
};

// Of a thinned plan every second size, enough for a line; the usual bits, workers and ratios have
// all, from which a knee is found. Of other plans all.
[[nodiscard]] std::vector<Shape> few_shapes(const Plan& plan);
[[nodiscard]] std::vector<Shape> shapes_of(const Plan& plan, bool is_usual);

[[nodiscard]] std::string_view name(InputKind kind);

[[nodiscard]] Plan quick_plan();
[[nodiscard]] Plan full_plan();
// Two small sizes: what the emulated grid can do in no time.
[[nodiscard]] Plan emulated_plan();
// Small tensors of odd lengths, constant, denormal and heavy-tailed ones too.
[[nodiscard]] Plan check_plan();

}  // namespace payoff::kernels
