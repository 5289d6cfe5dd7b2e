// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/device/selection.cuh"
#include "kernels/program/device_memory.hpp"

// Top-K by a library's radix sort of magnitudes with their places (CUB). On the emulated grid there
// is no library, and nothing stands in for it.

namespace payoff::kernels {

[[nodiscard]] bool sorting_is_available();

class Sorting {
 public:
  explicit Sorting(std::size_t count);
  void largest(Stream stream, const float* in, std::uint32_t k, SparseOutput out) const;

 private:
  [[maybe_unused]] std::size_t count_;  // only the GPU reads it
  Shared<std::uint32_t> keys_;
  Shared<std::uint32_t> sorted_keys_;
  Shared<std::uint32_t> places_;
  Shared<std::uint32_t> sorted_places_;
  Shared<std::uint8_t> scratch_;
};

}  // namespace payoff::kernels
