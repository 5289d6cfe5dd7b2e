// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/codec/group_quantize.hpp"
#include "kernels/codec/hadamard.hpp"
#include "kernels/codec/low_rank.hpp"
#include "kernels/device/reductions.cuh"

// Hadamard tiles in shared memory, and the steps of PowerSGD that are not matrix products.

namespace payoff::kernels {

inline constexpr std::size_t hadamard_block = 1024;  // values a block holds, whole tiles

// All rounds of the tiles in shared memory; `values` holds hadamard_block values of 256 threads.
__device__ inline void transform_shared(float* values, int log2_tile) {
  for (unsigned round = 0; round < static_cast<unsigned>(log2_tile); ++round) {
    __syncthreads();
    for (std::size_t pair = threadIdx.x; pair < hadamard_block / 2; pair += block_threads) {
      const PairOfPlaces places = butterfly_places(pair, round);
      const Butterfly result = butterfly(values[places.low], values[places.high]);
      values[places.low] = result.sum;
      values[places.high] = result.difference;
    }
  }
  __syncthreads();
}

// The signs of a block's values as bits: eight calls of the generator instead of one a value.
struct BlockSigns {
  std::uint32_t word[hadamard_block / 32];

  __device__ void draw(RandomKey key, std::size_t begin) {
    constexpr std::size_t calls = hadamard_block / 128;
    if (threadIdx.x < calls) {
      const RandomWords words = random_words(key, begin / 128 + threadIdx.x);
      PAYOFF_UNROLL_ALL
      for (unsigned i = 0; i < 4; ++i) {
        word[4 * threadIdx.x + i] = words.word[i];
      }
    }
    __syncthreads();
  }

  [[nodiscard]] __device__ float applied(float value, std::size_t i) const {
    return ((word[i / 32] >> (i % 32)) & 1U) != 0U ? -value : value;
  }
};

// `forward`: signs first, else signs last. The output has whole tiles.
template <bool forward>
__global__ void hadamard_tiles(const float* in, float* out, int log2_tile, RandomKey key,
                               std::size_t count, std::size_t padded) {
  __shared__ float values[hadamard_block];
  __shared__ BlockSigns signs;
  const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * hadamard_block;
  signs.draw(key, begin);
  for (std::size_t i = threadIdx.x; i < hadamard_block; i += block_threads) {
    const float value = begin + i < count ? in[begin + i] : 0.0F;
    values[i] = forward ? signs.applied(value, i) : value;
  }
  transform_shared(values, log2_tile);
  const float norm = hadamard_norm(log2_tile);
  for (std::size_t i = threadIdx.x; i < hadamard_block; i += block_threads) {
    if (begin + i < padded) {
      const float value = values[i] * norm;
      out[begin + i] = forward ? value : signs.applied(value, i);
    }
  }
}

// The transform and 4-bit groups of 32 in one kernel: what SDP4Bit fuses. A thread codes two
// values, so a byte; 16 lanes hold a group.
PAYOFF_KERNEL void hadamard_quantize(const float* in, std::uint8_t* codes, float* steps,
                                     RandomKey key, std::size_t padded) {
  constexpr int log2_tile = 5;
  constexpr unsigned lanes = 16;
  __shared__ float values[hadamard_block];
  __shared__ BlockSigns signs;
  const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * hadamard_block;
  signs.draw(key, begin);
  for (std::size_t i = threadIdx.x; i < hadamard_block; i += block_threads) {
    values[i] = begin + i < padded ? signs.applied(in[begin + i], i) : 0.0F;
  }
  transform_shared(values, log2_tile);
  const float norm = hadamard_norm(log2_tile);
  for (std::size_t pair = threadIdx.x; pair < hadamard_block / 2; pair += block_threads) {
    const float low = values[2 * pair] * norm;
    const float high = values[2 * pair + 1] * norm;
    const float largest = largest_of_lanes(larger(magnitude(low), magnitude(high)), lanes);
    const float step = symmetric_step<4>(largest);
    const std::size_t place = begin + 2 * pair;
    if (place < padded) {
      const std::uint32_t first = quantize_symmetric<4>(low, 1.0F / step, 0.5F);
      const std::uint32_t second = quantize_symmetric<4>(high, 1.0F / step, 0.5F);
      codes[place / 2] = static_cast<std::uint8_t>(first | (second << 4U));
      if (threadIdx.x % lanes == 0) {
        steps[place / 32] = step;
      }
    }
  }
}

// A sum over a block, in a tree; every thread gets it. `scratch` holds blockDim.x floats.
[[nodiscard]] __device__ inline float block_sum(float value, float* scratch) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      scratch[threadIdx.x] += scratch[threadIdx.x + stride];
    }
  }
  __syncthreads();
  return scratch[0];
}

[[nodiscard]] __device__ inline float column_dot(const float* tall, std::size_t rows, std::size_t r,
                                                 std::size_t a, std::size_t b, float* scratch) {
  float sum = 0.0F;
  for (std::size_t row = threadIdx.x; row < rows; row += blockDim.x) {
    sum += tall[row * r + a] * tall[row * r + b];
  }
  return block_sum(sum, scratch);
}

// Modified Gram-Schmidt by one block, row-major `rows` x `r`; one block a matrix of a batch.
PAYOFF_KERNEL void gram_schmidt(float* batch, std::size_t rows, std::size_t r) {
  __shared__ float scratch[block_threads];
  float* tall = batch + static_cast<std::size_t>(blockIdx.x) * rows * r;
  for (std::size_t column = 0; column < r; ++column) {
    const float square = column_dot(tall, rows, r, column, column, scratch);
    const float length = root(larger(square, smallest_normal));
    for (std::size_t row = threadIdx.x; row < rows; row += blockDim.x) {
      tall[row * r + column] /= length;
    }
    for (std::size_t later = column + 1; later < r; ++later) {
      const float overlap = column_dot(tall, rows, r, column, later, scratch);
      for (std::size_t row = threadIdx.x; row < rows; row += blockDim.x) {
        tall[row * r + later] -= overlap * tall[row * r + column];
      }
    }
  }
}

inline constexpr std::size_t largest_rank = 128;

// The upper factor of a symmetric r x r matrix by one block, in place; only the upper triangle is
// read. A row at a time, its columns shared among the threads.
PAYOFF_KERNEL void cholesky(float* batch, std::size_t r) {
  __shared__ float diagonal[largest_rank];
  float* matrix = batch + static_cast<std::size_t>(blockIdx.x) * r * r;
  for (std::size_t i = threadIdx.x; i < r; i += blockDim.x) {
    diagonal[i] = matrix[i * r + i];
  }
  for (std::size_t row = 0; row < r; ++row) {
    __syncthreads();
    const float pivot = cholesky_pivot(matrix, r, row, diagonal[row]);
    __syncthreads();
    for (std::size_t column = row + threadIdx.x; column < r; column += blockDim.x) {
      cholesky_scale(matrix, r, row, pivot, column);
    }
    __syncthreads();
    const std::size_t side = r - row - 1;
    for (std::size_t entry = threadIdx.x; entry < side * side; entry += blockDim.x) {
      const std::size_t i = row + 1 + entry / side;
      const std::size_t column = row + 1 + entry % side;
      if (column >= i) {
        cholesky_update(matrix, r, row, i, column);
      }
    }
  }
}

PAYOFF_KERNEL void substitute_rows(float* tall, const float* upper, std::size_t rows, std::size_t r,
                                   std::size_t batch) {
  const std::size_t row = global_thread();
  if (row < batch * rows) {
    substitute_row(tall + row * r, upper + row / rows * r * r, r);
  }
}

// The Gram matrix P^T P by one block for each of its entries' rows: r blocks a matrix of a batch.
PAYOFF_KERNEL void gram_rows(const float* tall_batch, float* gram_batch, std::size_t rows,
                             std::size_t r) {
  __shared__ float scratch[block_threads];
  const std::size_t matrix = blockIdx.x / r;
  const float* tall = tall_batch + matrix * rows * r;
  float* gram = gram_batch + matrix * r * r;
  const std::size_t a = blockIdx.x % r;
  for (std::size_t b = a; b < r; ++b) {
    const float dot = column_dot(tall, rows, r, a, b, scratch);
    if (threadIdx.x == 0) {
      gram[a * r + b] = dot;
      gram[b * r + a] = dot;
    }
  }
}

}  // namespace payoff::kernels
