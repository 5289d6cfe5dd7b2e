// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/units.hpp"

// How PyTorch's DistributedDataParallel cuts gradients into buckets (torch/csrc/distributed/c10d/
// reducer.cpp, compute_bucket_assignment_by_size and Reducer::rebuild_buckets): tensors are added
// in order, a bucket closes with the tensor that brings it to its cap or beyond, the first bucket
// has a cap of its own (_DEFAULT_FIRST_BUCKET_BYTES, 1 MiB), every other one `bucket_cap_mb` (25
// MiB). A tensor is never split, so a bucket may be much larger than its cap. One element type, one
// device.

namespace payoff {

// Tensors in each bucket, first bucket first, for gradients in the order in which they become
// ready. This is the state from the second iteration on: DDP rebuilds its buckets in the order that
// the first backward pass showed.
[[nodiscard]] std::vector<std::size_t> fill_buckets(std::span<const Bytes> ready_order,
                                                    Bytes first_cap, Bytes cap);

}  // namespace payoff
