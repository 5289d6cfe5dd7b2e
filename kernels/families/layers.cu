// SPDX-License-Identifier: Apache-2.0
// Layers that a step computes beside its communication, but for their products: normalisation and
// softmax of rows.
#include <cmath>

#include "kernels/device/layers.cuh"
#include "kernels/families/common.cuh"
#include "kernels/families/families.hpp"

namespace payoff::kernels {
namespace {

using RowKernel = void (*)(const float*, float*, std::size_t);

// The same in double precision.
std::vector<float> normalized(const std::vector<float>& in, const Rows& shape) {
  std::vector<float> out(in.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* begin = in.data() + row * shape.columns;
    double mean = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      mean += static_cast<double>(begin[i]) / static_cast<double>(shape.columns);
    }
    for (std::size_t i = 0; i < shape.columns; ++i) {
      squares += (static_cast<double>(begin[i]) - mean) * (static_cast<double>(begin[i]) - mean);
    }
    const double spread = std::sqrt(squares / static_cast<double>(shape.columns) + 1e-12);
    for (std::size_t i = 0; i < shape.columns; ++i) {
      out[row * shape.columns + i] =
          static_cast<float>((static_cast<double>(begin[i]) - mean) / spread);
    }
  }
  return out;
}

std::vector<float> softmax(const std::vector<float>& in, const Rows& shape) {
  std::vector<float> out(in.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const float* begin = in.data() + row * shape.columns;
    double sum = 0.0;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      sum += std::exp(static_cast<double>(begin[i]));
    }
    for (std::size_t i = 0; i < shape.columns; ++i) {
      out[row * shape.columns + i] =
          static_cast<float>(std::exp(static_cast<double>(begin[i])) / sum);
    }
  }
  return out;
}

Benchmark of_rows(const char* kernel_name, RowKernel kernel,
                  std::vector<float> (*reference)(const std::vector<float>&, const Rows&),
                  const Rows& shape) {
  const Shape flat = shape.flat(6);
  Benchmark b{point_of(kernel_name, "layers", "fused", flat, parameters_of(shape),
                       streamed(flat.elements, 4, 4, 1)),
              bytes_of(8.0 * static_cast<double>(flat.elements)),
              {}};
  b.make = [=] {
    auto in = drawn_on_device(flat);
    auto out = array_of<float>(flat.elements);
    return Work{[=](Stream s) {
                  launch(s, shape.rows, block_threads, kernel, in->data(), out->data(),
                         shape.columns);
                },
                // Inputs are a thousandth, so cancellation in the mean costs a few units.
                [=] { return deviates("rows", *out, reference(in->read(), shape), 2e-5F); },
                [=] { return checksum_of(*out); }};
  };
  return b;
}

}  // namespace

std::vector<Benchmark> layer_benchmarks(const Plan& plan) {
  std::vector<Benchmark> all;
  for (const Rows& shape : rows_of(plan)) {
    all.push_back(of_rows("layer_norm", normalize_rows, normalized, shape));
    all.push_back(of_rows("softmax", softmax_rows, softmax, shape));
  }
  return all;
}

}  // namespace payoff::kernels
