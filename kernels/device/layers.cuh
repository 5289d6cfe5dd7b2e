// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace payoff::kernels
