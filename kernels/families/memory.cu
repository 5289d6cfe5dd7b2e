// SPDX-License-Identifier: Apache-2.0
// What the memory gives: the copy that codecs are compared with, reading and writing alone, a fill
// and a copy of the driver's, and the launch of a kernel that does nothing.
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

PAYOFF_KERNEL void do_nothing() {}

template <unsigned width>
__global__ void write_values(float* out, float value, std::size_t count) {
  const std::size_t first = global_thread() * width;
  if (first + width <= count) {
    Pack<float, width> values;
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < width; ++i) {
      values.item[i] = value;
    }
    *reinterpret_cast<Pack<float, width>*>(out + first) = values;
  } else {
    for (std::size_t i = first; i < count; ++i) {
      out[i] = value;
    }
  }
}

Benchmark copy(const Shape& shape) {
  Benchmark b{point_of("copy", "memory", "fused", shape, {}, streamed(shape.elements, 4, 4, 1)),
              bytes_of(8.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    auto out = array_of<float>(shape.elements);
    return Work{[=](Stream s) { map<4>(s, in->data(), out->data(), shape.elements, Same{}); },
                [=] { return differs("copy", *out, in->read()); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

Benchmark driver_copy(const Shape& shape) {
  Benchmark b{point_of("copy", "memory", "library", shape, {}, streamed(shape.elements, 4, 4, 1)),
              bytes_of(8.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    auto out = array_of<float>(shape.elements);
    return Work{[=](Stream s) { copy_in_stream(s, out->data(), in->data(), in->bytes()); },
                [=] { return differs("copy", *out, in->read()); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

Benchmark read_only(const Shape& shape) {
  Benchmark b{point_of("read", "memory", "fused", shape, {}, streamed(shape.elements, 4, 0, 2)),
              bytes_of(4.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    auto in = drawn_on_device(shape);
    auto key = array_of<Word>(1);
    return Work{[=](Stream s) { find_largest(s, in->data(), key->data(), shape.elements); },
                [=] {
                  Word largest = 0;
                  for (const float value : in->read()) {
                    largest = std::max(largest, magnitude_key(value));
                  }
                  return differs("largest magnitude", *key, std::vector<Word>{largest});
                },
                [=] { return checksum_of(*key); }};
  };
  return b;
}

Benchmark write_only(const Shape& shape) {
  Benchmark b{point_of("write", "memory", "fused", shape, {}, streamed(shape.elements, 0, 4, 1)),
              bytes_of(4.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    constexpr float written = 0.37F;
    auto out = array_of<float>(shape.elements);
    return Work{
        [=](Stream s) {
          launch_threads(s, divided_up(shape.elements, 4), write_values<4>, out->data(), written,
                         shape.elements);
        },
        [=] { return differs("written", *out, std::vector<float>(shape.elements, written)); },
        [=] { return checksum_of(*out); }};
  };
  return b;
}

Benchmark fill(const Shape& shape) {
  Benchmark b{point_of("fill", "memory", "library", shape, {}, streamed(shape.elements, 0, 4, 1)),
              bytes_of(4.0 * static_cast<double>(shape.elements)),
              {}};
  b.make = [shape] {
    auto out = array_of<float>(shape.elements);
    return Work{[=](Stream s) { fill_in_stream(s, out->data(), 0, out->bytes()); },
                [=] { return differs("filled", *out, std::vector<float>(shape.elements, 0.0F)); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// A chain of empty kernels: the slope over the count is what a launch costs.
Benchmark launches(unsigned count) {
  Point point{"launch",
              "launch",
              "fused",
              "none",
              "hot",
              {{"launches", static_cast<double>(count)}},
              {{}, {}, {}, 0.0, static_cast<int>(count), 0}};
  Benchmark b{point, {}, {}};
  b.make = [count] {
    return Work{[=](Stream s) {
                  for (unsigned i = 0; i < count; ++i) {
                    launch(s, 1, warp_lanes, do_nothing);
                  }
                },
                {},
                [] { return std::uint64_t{0}; }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> memory_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const unsigned count : {1U, 2U, 5U, 20U}) {
    all.push_back(launches(count));
  }
  for (const Shape& shape : plan.shapes) {
    all.push_back(copy(shape));
    all.push_back(driver_copy(shape));
    all.push_back(read_only(shape));
    all.push_back(write_only(shape));
    all.push_back(fill(shape));
  }
  return all;
}

}  // namespace payoff::kernels
