// SPDX-License-Identifier: Apache-2.0
// Count sketches and estimates from them: with hashes computed where they are needed, and as
// operators on tables of hashes.
#include <cmath>

#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"
#include "kernels/families/sparse_operators.cuh"
#include "kernels/reference/sparse.hpp"

namespace payoff::kernels {
namespace {

constexpr Word sketch_rows = 3;

[[nodiscard]] SketchSize sketch_of(const Shape& shape, double ratio) {
  const double columns = static_cast<double>(shape.elements) * ratio;
  return {sketch_rows, columns < 16.0 ? 16U : static_cast<Word>(columns), 8};
}

// Any order of adding m numbers is within (m - 1) u of the sum of their magnitudes; here of all.
[[nodiscard]] float sketch_bound(const std::vector<float>& values, const SketchSize& size) {
  float sum = 0.0F;
  for (const float value : values) {
    sum += std::abs(value);
  }
  const float share = static_cast<float>(values.size()) / static_cast<float>(size.columns);
  return 2.0F * (share + 40.0F) * unit_roundoff * sum;
}

[[nodiscard]] std::string sketch_mismatch(const std::vector<float>& values,
                                          const DeviceArray<float>& found, const SketchSize& size) {
  return deviates("sketch", found, count_sketch(values, {size.rows, size.columns, size.seed}),
                  sketch_bound(values, size));
}

// A sketch of the shape's kind of values, to estimate from.
[[nodiscard]] Shape table_of(const Shape& shape, const SketchSize& size) {
  return {std::size_t{size.rows} * size.columns, shape.input, shape.seed};
}

[[nodiscard]] std::string estimate_mismatch(const std::vector<float>& sketch,
                                            const DeviceArray<float>& found,
                                            const SketchSize& size) {
  const SketchShape shape{size.rows, size.columns, size.seed};
  return differs("values", found, sketch_estimates(sketch, shape, found.count()));
}

Benchmark count_sketch_add(const Shape& shape, double ratio) {
  const SketchSize size = sketch_of(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const double sketch_bytes = 4.0 * size.rows * size.columns;
  Benchmark b{
      point_of(
          "count_sketch", "sparse", "fused", shape,
          {{"ratio", ratio}, {"rows", static_cast<double>(size.rows)}},
          {bytes_of(4.0 * elements), bytes_of(sketch_bytes), {}, 2.0 * size.rows * elements, 2, 0}),
      bytes_of(4.0 * elements + sketch_bytes),
      {}};
  b.make = [shape, size] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    auto sketch = array_of<float>(std::size_t{size.rows} * size.columns);
    return Work{[=](Stream s) {
                  fill_in_stream(s, sketch->data(), 0, sketch->bytes());
                  launch_threads(s, n, add_to_sketch, in->data(), sketch->data(), size, n);
                },
                [=] { return sketch_mismatch(in->read(), *sketch, size); },
                [=] { return checksum_of(*sketch); }};
  };
  return b;
}

Benchmark count_sketch_estimate(const Shape& shape, double ratio) {
  const SketchSize size = sketch_of(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const double sketch_bytes = 4.0 * size.rows * size.columns;
  Benchmark b{point_of("count_sketch_decode", "sparse", "fused", shape,
                       {{"ratio", ratio}, {"rows", static_cast<double>(size.rows)}},
                       {bytes_of(0.0), bytes_of(4.0 * elements), {}, size.rows * elements, 1, 0}),
              bytes_of(4.0 * elements + sketch_bytes),
              {}};
  b.make = [shape, size] {
    const std::size_t n = shape.elements;
    auto sketch = drawn_on_device(table_of(shape, size));
    auto out = array_of<float>(n);
    return Work{[=](Stream s) {
                  launch_threads(s, n, estimate_from_sketch, sketch->data(), out->data(), size, n);
                },
                [=] { return estimate_mismatch(sketch->read(), *out, size); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

// The hashes as tensors: FetchSGD's code computes the columns and signs of every place once and
// keeps them.
struct HashTables {
  std::vector<Shared<Word>> columns;  // of each row
  std::vector<Shared<float>> signs;

  HashTables(const SketchSize& size, std::size_t count) {
    for (Word row = 0; row < size.rows; ++row) {
      columns.push_back(array_of<Word>(count));
      signs.push_back(array_of<float>(count));
      launch_threads(Stream{}, count, hash_places, columns.back()->data(), signs.back()->data(),
                     size, row, count);
    }
    wait_for(Stream{});
  }
};

[[nodiscard]] Point chain(const char* kernel, const Shape& shape, double ratio,
                          const SketchSize& size, const Traffic& traffic) {
  return point_of(kernel, "sparse", "framework_ops", shape,
                  {{"ratio", ratio}, {"rows", static_cast<double>(size.rows)}}, traffic);
}

// For every row the product with its signs, to memory, and its scattered sum.
Benchmark sketch_by_operators(const Shape& shape, double ratio) {
  const SketchSize size = sketch_of(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const double rows = size.rows;
  const double sketch_bytes = 4.0 * rows * size.columns;
  const Traffic traffic{bytes_of(16.0 * rows * elements),
                        bytes_of(sketch_bytes + 4.0 * rows * elements),
                        {},
                        2.0 * rows * elements,
                        1 + 2 * static_cast<int>(size.rows),
                        0};
  Benchmark b{chain("count_sketch", shape, ratio, size, traffic),
              bytes_of((8.0 + 8.0 * rows) * elements + sketch_bytes),
              {}};
  b.make = [shape, size] {
    const std::size_t n = shape.elements;
    auto in = drawn_on_device(shape);
    const HashTables hashes(size, n);
    auto product = array_of<float>(n);
    auto sketch = array_of<float>(std::size_t{size.rows} * size.columns);
    return Work{[=](Stream s) {
                  fill_in_stream(s, sketch->data(), 0, sketch->bytes());
                  for (std::size_t row = 0; row < size.rows; ++row) {
                    combine<4>(s, in->data(), hashes.signs[row]->data(), product->data(), n,
                               Product{});
                    launch_threads(s, n, scatter_sum, hashes.columns[row]->data(), product->data(),
                                   sketch->data() + row * size.columns, n);
                  }
                },
                [=] { return sketch_mismatch(in->read(), *sketch, size); },
                [=] { return checksum_of(*sketch); }};
  };
  return b;
}

PAYOFF_KERNEL void median_of_rows(const float* first, const float* second, const float* third,
                                  float* out, std::size_t count) {
  const std::size_t i = global_thread();
  if (i < count) {
    out[i] = median3(first[i], second[i], third[i]);
  }
}

// For every row the values at the hashed columns and their product with the signs; then medians.
Benchmark estimate_by_operators(const Shape& shape, double ratio) {
  const SketchSize size = sketch_of(shape, ratio);
  const auto elements = static_cast<double>(shape.elements);
  const double rows = size.rows;
  const Traffic traffic{bytes_of(16.0 * rows * elements),
                        bytes_of(8.0 * rows * elements + 4.0 * elements),
                        {},
                        rows * elements,
                        1 + 2 * static_cast<int>(size.rows),
                        0};
  Benchmark b{chain("count_sketch_decode", shape, ratio, size, traffic),
              bytes_of((8.0 + 12.0 * rows) * elements + 4.0 * rows * size.columns),
              {}};
  b.make = [shape, size] {
    const std::size_t n = shape.elements;
    auto sketch = drawn_on_device(table_of(shape, size));
    const HashTables hashes(size, n);
    auto taken = array_of<float>(n);
    std::vector<Shared<float>> estimates;
    for (std::size_t row = 0; row < size.rows; ++row) {
      estimates.push_back(array_of<float>(n));
    }
    auto out = array_of<float>(n);
    return Work{[=](Stream s) {
                  for (std::size_t row = 0; row < size.rows; ++row) {
                    launch_threads(s, n, gather_places, sketch->data() + row * size.columns,
                                   hashes.columns[row]->data(), taken->data(), n);
                    combine<4>(s, taken->data(), hashes.signs[row]->data(), estimates[row]->data(),
                               n, Product{});
                  }
                  launch_threads(s, n, median_of_rows, estimates[0]->data(), estimates[1]->data(),
                                 estimates[2]->data(), out->data(), n);
                },
                [=] { return estimate_mismatch(sketch->read(), *out, size); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> sketch_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const double ratio : {0.01, 0.05}) {
    for (const Shape& shape : shapes_of(plan, ratio == 0.01)) {
      all.push_back(count_sketch_add(shape, ratio));
      all.push_back(sketch_by_operators(shape, ratio));
      all.push_back(count_sketch_estimate(shape, ratio));
      all.push_back(estimate_by_operators(shape, ratio));
    }
  }
  return all;
}

}  // namespace payoff::kernels
