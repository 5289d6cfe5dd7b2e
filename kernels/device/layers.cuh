// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/activations.hpp"
#include "kernels/device/elementwise.cuh"
#include "kernels/device/transforms.cuh"

// What of a transformer layer is no matrix product: normalisation and softmax of rows, and the
// element-wise end of a product. Memory-bound; here to measure what such kernels reach of the
// memory's bandwidth, not to be exact to the last bit.

namespace payoff::kernels {

// The largest value over a block; every thread gets it.
[[nodiscard]] __device__ inline float block_largest(float value, float* scratch) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      scratch[threadIdx.x] = larger(scratch[threadIdx.x], scratch[threadIdx.x + stride]);
    }
  }
  __syncthreads();
  return scratch[0];
}

// A block for each row; the row is read again from the caches.
PAYOFF_KERNEL void normalize_rows(const float* in, float* out, std::size_t columns) {
  __shared__ float scratch[block_threads];
  const float* row = in + static_cast<std::size_t>(blockIdx.x) * columns;
  float sum = 0.0F;
  for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += row[i];
  }
  const float mean = block_sum(sum, scratch) / static_cast<float>(columns);
  float squares = 0.0F;
  for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    squares += (row[i] - mean) * (row[i] - mean);
  }
  const float variance = block_sum(squares, scratch) / static_cast<float>(columns);
  const float factor = 1.0F / root(variance + 1e-12F);
  for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    out[static_cast<std::size_t>(blockIdx.x) * columns + i] = (row[i] - mean) * factor;
  }
}

PAYOFF_KERNEL void softmax_rows(const float* in, float* out, std::size_t columns) {
  __shared__ float scratch[block_threads];
  const float* row = in + static_cast<std::size_t>(blockIdx.x) * columns;
  float top = row[0];
  for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    top = larger(top, row[i]);
  }
  top = block_largest(top, scratch);
  float sum = 0.0F;
  for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    sum += expf(row[i] - top);
  }
  const float factor = 1.0F / block_sum(sum, scratch);
  for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x) {
    out[static_cast<std::size_t>(blockIdx.x) * columns + i] = expf(row[i] - top) * factor;
  }
}

// A row's bias is that of its column. A thread's values may reach into the next row.
struct BiasOfColumns {
  const float* bias;
  std::size_t columns;
  std::size_t column = 0;  // of the thread's first value
  [[nodiscard]] __device__ BiasOfColumns at(std::size_t first) const {
    return {bias, columns, first % columns};
  }
  [[nodiscard]] __device__ float of(unsigned i) const {
    const std::size_t wanted = column + i;
    return bias[wanted < columns ? wanted : wanted % columns];
  }
};

struct PlusBias {
  BiasOfColumns bias;
  [[nodiscard]] __device__ PlusBias at(std::size_t first) const { return {bias.at(first)}; }
  [[nodiscard]] __device__ float operator()(float value, unsigned i) const {
    return value + bias.of(i);
  }
};
struct PlusBiasGelu {
  BiasOfColumns bias;
  [[nodiscard]] __device__ PlusBiasGelu at(std::size_t first) const { return {bias.at(first)}; }
  [[nodiscard]] __device__ float operator()(float value, unsigned i) const {
    return gelu(value + bias.of(i));
  }
};
struct Gelu : Stateless<Gelu> {
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return gelu(value);
  }
};
struct Silu : Stateless<Silu> {
  [[nodiscard]] __device__ float operator()(float value, unsigned /*i*/) const {
    return silu(value);
  }
};
struct GatedBySilu {
  [[nodiscard]] __device__ float operator()(float gate, float value) const {
    return silu(gate) * value;
  }
};

// out = in + bias + residual, `width` neighbours a thread.
template <unsigned width>
__global__ void add_bias_and_residual(const float* in, const float* residual, BiasOfColumns biases,
                                      float* out, std::size_t count) {
  const std::size_t first = global_thread() * width;
  const BiasOfColumns bias = biases.at(first);
  if (first + width <= count) {
    const auto values = *reinterpret_cast<const Pack<float, width>*>(in + first);
    const auto added = *reinterpret_cast<const Pack<float, width>*>(residual + first);
    Pack<float, width> sums;
    PAYOFF_UNROLL_ALL
    for (unsigned i = 0; i < width; ++i) {
      sums.item[i] = values.item[i] + bias.of(i) + added.item[i];
    }
    *reinterpret_cast<Pack<float, width>*>(out + first) = sums;
  } else {
    for (std::size_t i = first; i < count; ++i) {
      out[i] = in[i] + bias.of(static_cast<unsigned>(i - first)) + residual[i];
    }
  }
}

}  // namespace payoff::kernels
